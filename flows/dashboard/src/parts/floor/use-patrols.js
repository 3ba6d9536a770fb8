import { onBeforeUnmount, ref, shallowRef, watch } from 'vue';
import { api } from '../../io/api.js';
import { LOOK_BACK_MS, lastPatrols, addSeen } from '../../lib/patrols.js';
import { serverNowMs, state } from '../../state.js';

const AGAIN_MS = 60_000;

/** Last visits by room id, epoch ms; and the error if they are not known. */
export function usePatrols() {
  const patrolled = shallowRef(new Map());
  const fault = ref('');
  const seen = new Map();
  let stored = [];
  const aborter = new AbortController();

  async function load() {
    const [start, end] = [serverNowMs.value - LOOK_BACK_MS, serverNowMs.value].map((ms) => ms / 1000);
    try {
      ({ patrols: stored } = await api('/patrols', { start, end }, { signal: aborter.signal }));
      fault.value = '';
    } catch (error) {
      if (error.name !== 'AbortError') fault.value = error.message;
    }
    patrolled.value = lastPatrols(stored, seen);
  }

  watch(() => state.snapshot, (snapshot) => {
    if (!snapshot?.topic.startsWith('floor')) return;
    addSeen(seen, snapshot.people);
    patrolled.value = lastPatrols(stored, seen);
  }, { immediate: true });
  load();
  const timer = setInterval(load, AGAIN_MS);
  onBeforeUnmount(() => {
    clearInterval(timer);
    aborter.abort();
  });
  return { patrolled, fault };
}
