import { onBeforeUnmount, shallowReactive } from 'vue';
import { pages } from '../../io/api.js';

/** When beacons were heard last is of interest by the hour, not by the second. */
const AGAIN_MS = 10_000;
const PAGE = 10_000;

/** Every beacon as `/api/v1/beacons` tells it, kept fresh. */
export function useBeacons() {
  const beacons = shallowReactive({ loading: true, fault: '', list: [] });
  const aborter = new AbortController();

  async function load() {
    try {
      const list = [];
      for await (const page of pages('/beacons', { limit: PAGE }, { signal: aborter.signal })) list.push(...page.beacons);
      Object.assign(beacons, { loading: false, fault: '', list });
    } catch (error) {
      if (error.name !== 'AbortError') Object.assign(beacons, { loading: false, fault: error.message });
    }
  }

  load();
  const timer = setInterval(load, AGAIN_MS);
  onBeforeUnmount(() => {
    clearInterval(timer);
    aborter.abort();
  });
  return beacons;
}
