import { computed, reactive } from 'vue';
import { api } from '../../io/api.js';

/** Acknowledgement of single alerts and of groups, with what is waited for and what failed. */
export function useAcknowledge() {
  /** State of a click: 'waiting' or its error, by id of an alert or by kind. @type {Map<string, string>} */
  const clicked = reactive(new Map());

  /** @param {string} key @param {string} path @param {Record<string, string>} [query] */
  async function post(key, path, query = {}) {
    clicked.set(key, 'waiting');
    try {
      await api(`/alerts/${path}/acknowledge`, query, { method: 'POST' });
      clicked.delete(key); // the next snapshot shows it
    } catch (error) {
      clicked.set(key, error.message);
    }
  }

  return {
    busy: computed(() => [...clicked.values()].includes('waiting')),
    /** @param {string} key */
    isWaiting: (key) => clicked.get(key) === 'waiting',
    /** @param {string} key @returns {string} empty: it did not fail */
    faultOf: (key) => (clicked.get(key) === 'waiting' ? '' : clicked.get(key) ?? ''),
    /** @param {{id: string}} alert */
    acknowledge: ({ id }) => post(id, encodeURIComponent(id)),
    /** All of a group that are shown now, and no later ones. @param {import('../../lib/devices.js').AlertGroup} group */
    acknowledgeGroup: ({ kind, state, changed_ms: ms }) => post(kind, `kinds/${kind}`, { state, until: new Date(ms).toISOString() }),
  };
}
