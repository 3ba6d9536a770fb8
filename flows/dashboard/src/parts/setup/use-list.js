import { shallowReactive, watch } from 'vue';
import { call } from '../../io/api.js';
import { draft } from './draft.js';

/** After the last key, the check waits for so long. */
const CHECK_MS = 300;

/** A list of beacons as it was typed, which outlives a visit elsewhere; answer: what would become of it, null: not known. */
export const list = shallowReactive({ text: '', answer: null, fault: '' });

/** Ask what would become of the list, whenever it or the building is another one. */
export function useList() {
  let aborter = new AbortController();
  let timer;
  watch([() => list.text, () => draft.etag], () => {
    aborter.abort();
    clearTimeout(timer);
    Object.assign(list, { answer: null, fault: '' });
    if (list.text.trim() !== '') timer = setTimeout(ask, CHECK_MS);
  }, { immediate: true });

  async function ask() {
    aborter = new AbortController();
    const { signal } = aborter;
    try {
      const { data } = await call('/building/import', { dry_run: 1 }, { method: 'POST', content: list.text, type: 'text/csv', signal });
      if (!signal.aborted) list.answer = data;
    } catch (error) {
      if (error.name !== 'AbortError') list.fault = error.message;
    }
  }
}
