import { onBeforeUnmount, shallowReactive, watch } from 'vue';
import { api, pages } from '../../io/api.js';

/** Refresh interval for today. */
const AGAIN_MS = 20_000;
const PAGE = 2000;
/** Largest page of the API: of more contacts in a day the longest are shown. */
const MAX_CONTACTS = 1000;

/**
 * Stays and contacts of a person on a day, refreshed while it is today.
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
        every(`${who}/stays`, window, signal), api(`${who}/contacts`, { ...window, least_s: 10, limit: MAX_CONTACTS }, { signal })]);
      Object.assign(data, { loading: false, fault: '', stays, contacts });
    } catch (error) {
      if (error.name === 'AbortError') return;
      // a person without any reading has no history, which is no error
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
