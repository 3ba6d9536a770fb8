import { onBeforeUnmount, shallowReactive } from 'vue';
import { api } from '../../io/api.js';

const AGAIN_MS = 2000;

/** Trace of a person, refreshed while it is open. @param {string} id */
export function useTrace(id) {
  const data = shallowReactive({ open: false, fault: '', trace: null });
  /** @type {AbortController|null} */
  let aborter = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;

  async function load() {
    aborter = new AbortController();
    const { signal } = aborter;
    try {
      if (!document.hidden) Object.assign(data, { trace: await api(`/staff/${encodeURIComponent(id)}/trace`, {}, { signal }), fault: '' });
    } catch (error) {
      if (error.name === 'AbortError') return;
      data.fault = error.status === 404 ? 'Never heard' : error.message;
    }
    if (!signal.aborted) timer = setTimeout(load, AGAIN_MS);
  }

  function stop() {
    clearTimeout(timer);
    aborter?.abort();
    data.open = false;
  }

  onBeforeUnmount(stop);
  return {
    data,
    /** @param {boolean} open */
    toggle(open) {
      stop();
      data.open = open;
      if (open) load();
    },
  };
}
