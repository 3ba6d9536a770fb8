import { onBeforeUnmount, shallowReactive, watch } from 'vue';
import { api } from '../../io/api.js';
import { startOfDay } from '../../lib/times.js';
import { serverNowMs } from '../../state.js';

const AGAIN_MS = 30_000;
const MOST = 100;

/** Who was in a room today and has left, the latest first. @param {() => string|undefined} room id */
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
      const found = await api(`/rooms/${encodeURIComponent(id)}/visits`, { ...window, limit: MOST }, { signal: aborter.signal });
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
  const timer = setInterval(load, AGAIN_MS);
  onBeforeUnmount(() => {
    clearInterval(timer);
    aborter.abort();
  });
  return visits;
}
