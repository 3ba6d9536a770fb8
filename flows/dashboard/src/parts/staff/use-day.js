import { onBeforeUnmount, shallowReactive, watch } from 'vue';
import { api, pages } from '../../io/api.js';

/** While the day goes on it is asked again this often. */
const AGAIN_MS = 20_000;
const PAGE = 2000;
/** As many as the API tells at once: who meets more in a day is told of the longest meetings. */
const MOST_CONTACTS = 1000;

/**
 * What the API tells of somebody's day, kept up to date while it is today.
 * @param {string} id
 * @param {() => {fromMs: number, toMs: number, today: boolean}} day
 */
export function useDay(id, day) {
  const data = shallowReactive({ loading: true, fault: '', stays: [], contacts: [] });
  let aborter = new AbortController();

  async function load() {
    aborter.abort();
    aborter = new AbortController();
    const { signal } = aborter;
    const { fromMs, toMs } = day();
    const window = { start: fromMs / 1000, end: toMs / 1000 };
    const who = `/staff/${encodeURIComponent(id)}`;
    try {
      const [stays, { contacts }] = await Promise.all([
        every(`${who}/stays`, window, signal), api(`${who}/contacts`, { ...window, least_s: 10, limit: MOST_CONTACTS }, { signal })]);
      Object.assign(data, { loading: false, fault: '', stays, contacts });
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

/** @param {string} path @param {{start: number, end: number}} window @param {AbortSignal} signal */
async function every(path, window, signal) {
  const stays = [];
  for await (const page of pages(path, { ...window, limit: PAGE }, { signal })) stays.push(...page.stays);
  return stays;
}
