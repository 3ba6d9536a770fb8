import { watch } from 'vue';
import { PAGES } from '../pages/index.js';
import { state } from '../state.js';

/** Time-out of a connection attempt. */
const CONNECT_MS = 4000;
const RETRY_MS = 1000;

/**
 * Puts messages of the server into the state, and subscribes to the topic of the open page.
 * @param {any} socket of the dashboard
 */
export function receiveFrom(socket) {
  socket.on('sda:you', (you) => { state.you = you; });
  socket.on('sda:building', (building) => { state.building = building; });
  socket.on('sda:snapshot', (snapshot) => {
    const now = Date.now();
    Object.assign(state, { status: snapshot.status, nowMs: now, heardAtMs: now, aheadMs: snapshot.ts - now });
    if (snapshot.topic === wanted()) state.snapshot = snapshot;
    if (snapshot.status.building !== state.building?.digest) subscribe();
  });
  const wanted = () => PAGES.find(({ view }) => view === state.view)?.topic(state.query) ?? 'status';
  const subscribe = () => socket.emit('sda:watch', { topic: wanted(), building: state.building?.digest ?? null });
  socket.on('connect', subscribe);
  watch(wanted, subscribe);
  if (socket.connected) subscribe();
}

/**
 * Takes over reconnecting, and retries for ever. The dashboard itself gives up after five minutes without a server and leaves the
 * page, which a screen on a wall must survive.
 * @param {any} socket
 */
export function keepConnected(socket) {
  socket.off('disconnect');
  socket.io.timeout(CONNECT_MS);
  state.connected = socket.connected;
  let trying = false;
  const update = (/** @type {Partial<typeof state>} */ change) => {
    trying = false;
    Object.assign(state, change);
  };
  socket.on('connect', () => update({ connected: true, loggedOut: false }));
  socket.on('disconnect', () => update({ connected: false }));
  socket.on('connect_error', (error) => update({ connected: false, loggedOut: error.message === 'a login is needed' }));
  setInterval(() => {
    if (socket.connected || trying) return;
    trying = true;
    socket.connect();
  }, RETRY_MS);
}
