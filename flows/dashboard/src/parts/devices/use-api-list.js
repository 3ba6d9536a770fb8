import { onBeforeUnmount, shallowReactive } from 'vue';
import { pages } from '../../io/api.js';

/** Last readings are of interest by the hour, not by the second. */
const AGAIN_MS = 10_000;
const PAGE = 10_000;

/**
 * A whole list of the API, refreshed.
 * @param {string} path `/beacons`
 * @param {string} name of the list in the answers
 */
export function useApiList(path, name) {
  const data = shallowReactive({ loading: true, fault: '', list: [] });
  const aborter = new AbortController();

  async function load() {
    try {
      const list = [];
      for await (const page of pages(path, { limit: PAGE }, { signal: aborter.signal })) list.push(...page[name]);
      Object.assign(data, { loading: false, fault: '', list });
    } catch (error) {
      if (error.name !== 'AbortError') Object.assign(data, { loading: false, fault: error.message });
    }
  }

  load();
  const timer = setInterval(load, AGAIN_MS);
  onBeforeUnmount(() => {
    clearInterval(timer);
    aborter.abort();
  });
  return data;
}
