import { watch } from 'vue';
import { call } from '../../io/api.js';
import { draft } from './draft.js';

/** Time from the last key to the request. */
const DELAY_MS = 300;

/**
 * Asks the server what a list would change, after each change of the list, its options or the building.
 * @param {{text: string, answer: any, fault: string}} list reactive; answer and fault are set
 * @param {string} path of the import
 * @param {{options?: () => Record<string, string|undefined>, keepAnswer?: boolean}} [settings] options: query parameters; keepAnswer: the
 *   last answer stays until the next one
 */
export function useDryRun(list, path, { options = () => ({}), keepAnswer = false } = {}) {
  let aborter = new AbortController();
  let timer;
  watch([() => list.text, () => JSON.stringify(options()), () => draft.etag], () => {
    aborter.abort();
    clearTimeout(timer);
    const isEmpty = list.text.trim() === '';
    Object.assign(list, { fault: '', answer: keepAnswer && !isEmpty ? list.answer : null });
    if (!isEmpty) timer = setTimeout(request, DELAY_MS);
  }, { immediate: true });

  async function request() {
    aborter = new AbortController();
    const { signal } = aborter;
    try {
      const { data } = await call(path, { dry_run: 1, ...options() }, { method: 'POST', content: list.text, type: 'text/csv', signal });
      if (!signal.aborted) list.answer = data;
    } catch (error) {
      if (error.name !== 'AbortError') Object.assign(list, { answer: null, fault: error.message });
    }
  }
}
