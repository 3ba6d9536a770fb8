import { computed, shallowReactive } from 'vue';
import { verdict } from './lib/liveness.js';

/**
 * What all pages share. Snapshots are replaced as a whole and never changed, so they are not made reactive inside.
 */
export const state = shallowReactive({
  /** which page is shown, by its name in pages/index.js */
  view: '',
  /** the parameters of the address, `?level=L1` */
  query: {},
  /** pages that users have added with the dashboard's own widgets, as lib/own-pages.js says */
  ownPages: [],
  /** who is logged in, {user, role}: an admin may change things, a viewer may not; null: not heard yet */
  you: null,
  /** the building as lib/live/building-view.js tells it, null: not heard yet */
  building: null,
  /** the newest snapshot of the watched topic */
  snapshot: null,
  status: null,
  connected: true,
  loggedOut: false,
  /** this browser's clock */
  nowMs: Date.now(),
  heardAtMs: Date.now(),
  /** the server's clock less this browser's */
  aheadMs: 0,
});

/** All times of the data are by the server's clock. */
export const serverNowMs = computed(() => state.nowMs + state.aheadMs);

export const mayChange = computed(() => state.you?.role === 'admin');

export const live = computed(() => verdict(state));

setInterval(() => { state.nowMs = Date.now(); }, 500);
