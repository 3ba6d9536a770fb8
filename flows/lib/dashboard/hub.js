// @ts-check
'use strict';

/**
 * Publishes snapshots to the open pages. A page watches one topic at a time ("floor:L1") and gets whole snapshots of it.
 * A snapshot is built and serialised once, however many pages watch its topic. Nothing is queued for a slow page: it gets the
 * next snapshot.
 *
 * A page sends `sda:watch` with `{topic, building}`, the digest of the building it has (or null). It receives `sda:you` with the
 * login (`{user, role}`), `sda:building` when it has another building, and `sda:snapshot` with `{topic, ts, …}`.
 * @typedef {import('./topics').Topics} Topics
 */

/** A snapshot is sent at least this often, even without a change: a page sees that its connection is live. */
const KEEPALIVE_MS = 1000;
const ROOM = 'sda/';
const TOPIC = /^[a-z]+(:[A-Za-z0-9][A-Za-z0-9_.-]{0,63})?$/;

/** @param {() => number} [clock] epoch ms */
function createHub(clock = Date.now) {
  /** @type {Topics|null} */
  let topics = null;
  /** @type {any} namespace of socket.io, known from the first socket on */
  let namespace = null;
  /** @type {Map<string, {snapshot: object, stamp: unknown, builtMs: number}>} by topic */
  const last = new Map();

  /** Middleware of socket.io, for logged-in sockets. @param {any} socket @param {(error?: Error) => void} next */
  function admit(socket, next) {
    namespace = socket.nsp;
    socket.on('sda:watch', (/** @type {unknown} */ request) => watch(socket, request));
    next();
  }

  /** @param {any} socket @param {any} request */
  function watch(socket, request) {
    const topic = request?.topic;
    if (!topics || typeof topic !== 'string' || !TOPIC.test(topic)) return;
    for (const room of socket.rooms) if (room.startsWith(ROOM)) socket.leave(room);
    socket.join(ROOM + topic);
    socket.emit('sda:you', socket.data?.login ?? null);
    const building = topics.building();
    if (request.building !== building.digest) socket.emit('sda:building', building);
    const known = last.get(topic);
    const nowMs = clock();
    socket.emit('sda:snapshot', known && nowMs - known.builtMs < KEEPALIVE_MS ? known.snapshot : build(topic, nowMs));
  }

  /** @param {string} topic @param {number} nowMs */
  function build(topic, nowMs) {
    const { stamp, snapshot } = /** @type {Topics} */ (topics).build(topic, nowMs);
    last.set(topic, { snapshot, stamp, builtMs: nowMs });
    return snapshot;
  }

  /** Sends changed snapshots; called several times a second. @param {number} nowMs */
  function tick(nowMs) {
    const watched = watchedTopics();
    for (const topic of last.keys()) if (!watched.includes(topic)) last.delete(topic);
    if (!topics) return;
    for (const topic of watched) {
      const age = nowMs - (last.get(topic)?.builtMs ?? -Infinity);
      if (age < topics.everyMs(topic)) continue;
      if (age < KEEPALIVE_MS && topics.stamp(topic) === last.get(topic)?.stamp) continue;
      namespace.to(ROOM + topic).volatile.emit('sda:snapshot', build(topic, nowMs));
    }
  }

  /** @returns {string[]} */
  function watchedTopics() {
    /** @type {string[]} */
    const rooms = [...(namespace?.adapter.rooms.keys() ?? [])];
    return rooms.filter((room) => room.startsWith(ROOM)).map((room) => room.slice(ROOM.length));
  }

  return {
    admit,
    tick,
    /** Sets the source of snapshots; null: there is none now. @param {Topics|null} source */
    attach: (source) => {
      topics = source;
      last.clear();
    },
  };
}

module.exports = { createHub };
