import { computed, shallowReactive } from 'vue';
import { verdict } from './lib/liveness.js';

/**
 * State of all pages. Snapshots are replaced as a whole and never changed, so they need no deep reactivity.
 */
export const state = shallowReactive({
  /** the shown page, a name of pages/index.js */
  view: '',
  /** query parameters of the address, `?level=L1` */
  query: {},
  /** pages that users have added with the dashboard's own widgets, as lib/own-pages.js has them */
  ownPages: [],
  /** who is logged in, {user, role}: an admin may change things, a viewer may not; null: not received yet */
  you: null,
  /** the building of flows/lib/dashboard/topics.js; null: not received yet */
  building: null,
  /** the newest snapshot of the watched topic */
  snapshot: null,
  status: null,
  connected: true,
  loggedOut: false,
  /** by this browser's clock */
  nowMs: Date.now(),
  heardAtMs: Date.now(),
  /** offset of the server's clock to this browser's */
  aheadMs: 0,
});

/** Times of the data are by the server's clock. */
export const serverNowMs = computed(() => state.nowMs + state.aheadMs);

export const mayChange = computed(() => state.you?.role === 'admin');

export const live = computed(() => verdict(state));

setInterval(() => { state.nowMs = Date.now(); }, 500);
