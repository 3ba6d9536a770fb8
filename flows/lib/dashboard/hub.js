// @ts-check
'use strict';

/**
 * Who of the open pages is told what. A page watches one topic at a time ("floor:L1") and gets whole snapshots of it.
 * What a topic says is made and serialised once, however many pages watch it; to a page that cannot keep up nothing
 * is queued: it gets the next snapshot.
 *
 * A page says `sda:watch` with `{topic, building}`, the digest of the building it knows (or null). It gets `sda:you`, who is
 * logged in (`{user, role}`), `sda:building` when it knows another one, and `sda:snapshot` with `{topic, ts, …}`.
 * @typedef {import('./topics').Topics} Topics
 */

/** A snapshot is sent again after this long even when nothing changed: by it a page knows that it is live. */
const ALIVE_MS = 1000;
const ROOM = 'sda/';
const TOPIC = /^[a-z]+(:[A-Za-z0-9][A-Za-z0-9_.-]{0,63})?$/;

/** @param {() => number} [clock] epoch ms */
function createHub(clock = Date.now) {
  /** @type {Topics|null} */
  let topics = null;
  /** @type {any} socket.io's namespace, known from the first socket on */
  let namespace = null;
  /** @type {Map<string, {snapshot: object, stamp: unknown, builtMs: number}>} by topic */
  const last = new Map();

  /** Middleware of socket.io, for sockets that are logged in. @param {any} socket @param {(error?: Error) => void} next */
  function admit(socket, next) {
    namespace = socket.nsp;
    socket.on('sda:watch', (/** @type {unknown} */ wish) => watch(socket, wish));
    next();
  }

  /** @param {any} socket @param {any} wish */
  function watch(socket, wish) {
    const topic = wish?.topic;
    if (!topics || typeof topic !== 'string' || !TOPIC.test(topic)) return;
    for (const room of socket.rooms) if (room.startsWith(ROOM)) socket.leave(room);
    socket.join(ROOM + topic);
    socket.emit('sda:you', socket.data?.login ?? null);
    const building = topics.building();
    if (wish.building !== building.digest) socket.emit('sda:building', building);
    const known = last.get(topic);
    const nowMs = clock();
    socket.emit('sda:snapshot', known && nowMs - known.builtMs < ALIVE_MS ? known.snapshot : build(topic, nowMs));
  }

  /** @param {string} topic @param {number} nowMs */
  function build(topic, nowMs) {
    const { stamp, snapshot } = /** @type {Topics} */ (topics).build(topic, nowMs);
    last.set(topic, { snapshot, stamp, builtMs: nowMs });
    return snapshot;
  }

  /** Send what changed; several times a second. @param {number} nowMs */
  function tick(nowMs) {
    const watched = watchedTopics();
    for (const topic of last.keys()) if (!watched.includes(topic)) last.delete(topic);
    if (!topics) return;
    for (const topic of watched) {
      const age = nowMs - (last.get(topic)?.builtMs ?? -Infinity);
      if (age < topics.everyMs(topic)) continue;
      if (age < ALIVE_MS && topics.stamp(topic) === last.get(topic)?.stamp) continue;
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
    /** What there is to tell; null: nothing any more. @param {Topics|null} its */
    attach: (its) => {
      topics = its;
      last.clear();
    },
  };
}

module.exports = { createHub };
