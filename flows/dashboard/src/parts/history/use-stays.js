import { onBeforeUnmount, shallowReactive, watch } from 'vue';
import { pages } from '../../io/api.js';
import { serverNowMs } from '../../state.js';

const PAGE = 10_000;
/** Number of stays that a browser handles without delay. */
const STAYS_MAX = 100_000;

/**
 * Stays of the choice, loaded once: the past does not change.
 * @param {() => import('../../lib/choice.js').Choice|null} choice
 */
export function useStays(choice) {
  const data = shallowReactive({ loading: false, fault: '', stays: [], window: null });
  let aborter = new AbortController();

  async function load() {
    aborter.abort();
    aborter = new AbortController();
    const asked = choice();
    Object.assign(data, { loading: asked !== null, fault: '', stays: [], window: null });
    if (asked === null) return;
    try {
      const window = { fromMs: asked.fromMs, toMs: Math.min(asked.toMs, serverNowMs.value) };
      if (window.toMs <= window.fromMs) throw new Error('This time has not come yet');
      const stays = await loadAll(asked, window, aborter.signal);
      Object.assign(data, { loading: false, stays, window });
    } catch (error) {
      if (error.name !== 'AbortError') Object.assign(data, { loading: false, fault: error.message });
    }
  }

  watch(() => JSON.stringify(choice()), load, { immediate: true });
  onBeforeUnmount(() => aborter.abort());
  return { data, load };
}

/**
 * Loads all pages.
 * @param {import('../../lib/choice.js').Choice} asked @param {{fromMs: number, toMs: number}} window @param {AbortSignal} signal
 */
async function loadAll({ staff, level }, { fromMs, toMs }, signal) {
  const who = staff.length > 0 ? { staff_id: staff.join(',') } : { level };
  const stays = [];
  for await (const page of pages('/stays', { ...who, start: fromMs / 1000, end: toMs / 1000, limit: PAGE }, { signal })) {
    for (const stay of page.stays) stays.push(stay);
    if (stays.length > STAYS_MAX) throw new Error(`More than ${STAYS_MAX} stays lie in this time: choose a shorter one`);
  }
  return stays;
}
