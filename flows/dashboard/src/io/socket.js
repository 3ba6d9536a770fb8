import { watch } from 'vue';
import { PAGES } from '../pages/index.js';
import { state } from '../state.js';

/** A connection that is tried for longer than this is given up and tried anew. */
const TRY_MS = 4000;
const AGAIN_MS = 1000;

/**
 * Take what the server sends into the state, and tell it what the open page shows.
 * @param {any} socket the dashboard's
 */
export function takeFrom(socket) {
  socket.on('sda:you', (you) => { state.you = you; });
  socket.on('sda:building', (building) => { state.building = building; });
  socket.on('sda:snapshot', (snapshot) => {
    const now = Date.now();
    Object.assign(state, { status: snapshot.status, nowMs: now, heardAtMs: now, aheadMs: snapshot.ts - now });
    if (snapshot.topic === wanted()) state.snapshot = snapshot;
    if (snapshot.status.building !== state.building?.digest) ask();
  });
  const wanted = () => PAGES.find(({ view }) => view === state.view)?.topic(state.query) ?? 'status';
  const ask = () => socket.emit('sda:watch', { topic: wanted(), building: state.building?.digest ?? null });
  socket.on('connect', ask);
  watch(wanted, ask);
  if (socket.connected) ask();
}

/**
 * The dashboard gives up after five minutes without a server and leaves for a page that is not there either. A screen on
 * a wall has to outlast that: this takes the reconnecting over, and tries for ever.
 * @param {any} socket
 */
export function keepConnected(socket) {
  socket.off('disconnect');
  socket.io.timeout(TRY_MS);
  state.connected = socket.connected;
  let trying = false;
  const now = (/** @type {Partial<typeof state>} */ change) => {
    trying = false;
    Object.assign(state, change);
  };
  socket.on('connect', () => now({ connected: true, loggedOut: false }));
  socket.on('disconnect', () => now({ connected: false }));
  socket.on('connect_error', (error) => now({ connected: false, loggedOut: error.message === 'a login is needed' }));
  setInterval(() => {
    if (socket.connected || trying) return;
    trying = true;
    socket.connect();
  }, AGAIN_MS);
}
