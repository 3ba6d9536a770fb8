import { shallowReactive, watch } from 'vue';
import { call } from '../../io/api.js';
import { draft } from './draft.js';

/** After the last key, the check waits for so long. */
const CHECK_MS = 300;

/**
 * A building that is to be made of a list; it outlives a visit elsewhere. how: '' leaves it to the server; answer: what it would be,
 * null: not known.
 */
export const made = shallowReactive({ text: '', name: '', how: '', answer: null, fault: '' });

/** What the list is asked with. */
export const wish = () => ({ name: made.name.trim() || undefined, how: made.how || undefined });

/** Ask what would become of the list, whenever it, what is wished or the building is another one. */
export function useMade() {
  let aborter = new AbortController();
  let timer;
  watch([() => made.text, () => made.name, () => made.how, () => draft.etag], () => {
    aborter.abort();
    clearTimeout(timer);
    Object.assign(made, { fault: '', answer: made.text.trim() === '' ? null : made.answer });
    if (made.text.trim() !== '') timer = setTimeout(ask, CHECK_MS);
  }, { immediate: true });

  async function ask() {
    aborter = new AbortController();
    const { signal } = aborter;
    try {
      const query = { dry_run: 1, ...wish() };
      const { data } = await call('/building/from-list', query, { method: 'POST', content: made.text, type: 'text/csv', signal });
      if (!signal.aborted) made.answer = data;
    } catch (error) {
      if (error.name !== 'AbortError') Object.assign(made, { answer: null, fault: error.message });
    }
  }
}
