import { onBeforeUnmount, shallowReactive, watch } from 'vue';
import { api } from '../../io/api.js';

/** So many are drawn without delay, and read without losing the place. */
const PAGE = 100;
/** The API's largest page. */
const PAGE_MAX = 10_000;
/** Alerts change every two seconds at most; a list that people read changes less often. */
const AGAIN_MS = 3000;

/**
 * The alerts of a group, a page at a time. They are read again when something has changed.
 * @param {() => {kind: string, state: string}} group
 * @param {() => number} version grows with every change of the alerts
 */
export function useAlertPages(group, version) {
  const data = shallowReactive({ list: [], more: false, loading: false, fault: '', shown: false });
  const aborter = new AbortController();
  let readAtMs = 0;
  let timer = 0;
  let wanted = PAGE;

  async function read() {
    const { kind, state } = group();
    clearTimeout(timer);
    Object.assign(data, { loading: true });
    readAtMs = performance.now();
    try {
      const { alerts, next } = await api('/alerts', { kind, state, limit: wanted }, { signal: aborter.signal });
      Object.assign(data, { list: alerts, more: next !== null, loading: false, fault: '' });
    } catch (error) {
      if (error.name !== 'AbortError') Object.assign(data, { loading: false, fault: error.message });
    }
  }

  watch(version, () => {
    if (!data.shown) return;
    clearTimeout(timer);
    timer = window.setTimeout(read, Math.max(0, readAtMs + AGAIN_MS - performance.now()));
  });
  onBeforeUnmount(() => {
    clearTimeout(timer);
    aborter.abort();
  });
  return {
    data,
    /** Shows the first page, or hides all. */
    toggle() {
      data.shown = !data.shown;
      wanted = PAGE;
      if (data.shown) read();
      else clearTimeout(timer);
    },
    showMore() {
      wanted = Math.min(data.list.length + PAGE, PAGE_MAX);
      return read();
    },
    read,
  };
}
