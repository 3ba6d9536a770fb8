import { onBeforeUnmount, shallowReactive, watch } from 'vue';
import { api } from '../../io/api.js';
import { startOfDay } from '../../lib/times.js';
import { serverNowMs } from '../../state.js';

const REFRESH_MS = 30_000;
const VISITS_MAX = 100;

/** Ended visits of a room today, the latest first. @param {() => string|undefined} room id */
export function useVisits(room) {
  const visits = shallowReactive({ loading: false, fault: '', rows: [], more: false });
  let aborter = new AbortController();

  async function load() {
    aborter.abort();
    aborter = new AbortController();
    const id = room();
    if (!id) return;
    const window = { start: startOfDay(serverNowMs.value) / 1000, end: serverNowMs.value / 1000 };
    try {
      const found = await api(`/rooms/${encodeURIComponent(id)}/visits`, { ...window, limit: VISITS_MAX }, { signal: aborter.signal });
      Object.assign(visits, { loading: false, fault: '', rows: found.visits.filter(({ ongoing }) => !ongoing),
        more: found.next !== null });
    } catch (error) {
      if (error.name !== 'AbortError') Object.assign(visits, { loading: false, fault: error.message });
    }
  }

  watch(room, () => {
    Object.assign(visits, { loading: true, fault: '', rows: [], more: false });
    load();
  }, { immediate: true });
  const timer = setInterval(load, REFRESH_MS);
  onBeforeUnmount(() => {
    clearInterval(timer);
    aborter.abort();
  });
  return visits;
}
