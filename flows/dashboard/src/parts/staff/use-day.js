import { onBeforeUnmount, shallowReactive, watch } from 'vue';
import { api } from '../../io/api.js';

/** While the day goes on it is asked again this often. */
const AGAIN_MS = 20_000;

/**
 * What the API tells of somebody's day, kept up to date while it is today.
 * @param {string} id
 * @param {() => {fromMs: number, toMs: number, today: boolean}} day
 */
export function useDay(id, day) {
  const data = shallowReactive({ loading: true, fault: '', stays: [], contacts: [], more: false });
  let aborter = new AbortController();

  async function load() {
    aborter.abort();
    aborter = new AbortController();
    const { signal } = aborter;
    const { fromMs, toMs } = day();
    const window = { start: fromMs / 1000, end: toMs / 1000 };
    const who = `/staff/${encodeURIComponent(id)}`;
    try {
      const [{ stays, next }, { contacts }] = await Promise.all([
        api(`${who}/stays`, { ...window, limit: 2000 }, { signal }), api(`${who}/contacts`, { ...window, least_s: 10 }, { signal })]);
      Object.assign(data, { loading: false, fault: '', stays, contacts, more: Boolean(next) });
    } catch (error) {
      if (error.name === 'AbortError') return;
      // somebody of the building file who was never heard has no history: that is no fault
      Object.assign(data, { loading: false, stays: [], contacts: [], fault: error.status === 404 ? '' : error.message });
    }
  }

  const timer = setInterval(() => { if (day().today) load(); }, AGAIN_MS);
  watch(() => day().fromMs, load, { immediate: true });
  onBeforeUnmount(() => {
    clearInterval(timer);
    aborter.abort();
  });
  return { data, load };
}
