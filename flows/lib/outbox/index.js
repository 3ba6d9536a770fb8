// @ts-check
'use strict';

const { createConnection } = require('./connection');
const { createReplay } = require('./replay');

/**
 * Messages on their way to the broker: each is kept until the broker has acknowledged it, so that nothing derived
 * vanishes while the broker is away. Bounded; what does not fit is counted. A broker that is killed forgets what it
 * acknowledged since its last snapshot, so after each reconnect that is published again, in order: the same points.
 * @typedef {{topic: string, payload: string, retain?: boolean}} Message
 * @typedef {Message & {id: number, sentMs: number, firstMs?: number, settle: ((error?: Error) => void)|null, replayed?: boolean}} Entry
 * @typedef {object} Transport
 * @property {(message: Message & {sda_id: number}) => void} send
 * @property {() => boolean} connected
 * @property {() => unknown} [connection] another value for each connection, so that a short break is noticed as well
 */

const BOUNDS = Object.freeze({
  messages: 20_000,
  bytes: 64 * 1024 * 1024,
  inFlight: 500, // enough for 2,000 messages/s at a quarter of a second each way
  replayMs: 60_000, // Mosquitto saves every 30 s (broker/mosquitto.conf)
  replayBytes: 96 * 1024 * 1024, // 80 s of 10,000 people
  resendMs: 30_000, // a message handed over in the moment the connection broke is never acknowledged: send it again
});

class BrokerUnavailable extends Error {
  name = 'BrokerUnavailable';
}

/** @param {Partial<typeof BOUNDS>} [overrides] */
function createOutbox(overrides = {}) {
  const bounds = { ...BOUNDS, ...overrides };
  /** @type {Map<number, Entry>} in the order of sending */
  const waiting = new Map();
  /** @type {Map<number, Entry>} */
  const inFlight = new Map();
  /** @type {Map<string, number>} newest entry of a retained topic */
  const retained = new Map();
  const replay = createReplay({ keptMs: bounds.replayMs, bytes: bounds.replayBytes });
  /** Acknowledged by a broker that may have forgotten them, and what was on its way to it: these go first. @type {Entry[]} */
  let again = [];
  const counters = { sent: 0, acknowledged: 0, dropped: 0, resent: 0, replayed: 0 };
  let nextId = 1;
  let bytes = 0;
  const connection = createConnection();
  /** Since when there is a new connection through which nothing has got into the database yet; null: it is proven. @type {number|null} */
  let unprovenMs = null;
  let onReconnect = (/** @type {number} */ _nowMs) => {};
  /** @type {Transport|null} */
  let transport = null;

  /** @param {Entry} entry */
  function forget(entry) {
    waiting.delete(entry.id);
    inFlight.delete(entry.id);
    if (retained.get(entry.topic) === entry.id) retained.delete(entry.topic);
    if (!entry.replayed) bytes -= entry.payload.length;
  }

  /**
   * Take a message. Of a retained topic only the newest is kept.
   * @param {Message} message
   * @param {number} nowMs
   * @param {((error?: Error) => void)|null} [settle] called once: acknowledged, or dropped with an error
   */
  function put(message, nowMs, settle = null) {
    const older = message.retain ? retained.get(message.topic) : undefined;
    const replaced = older === undefined ? undefined : waiting.get(older);
    if (replaced) forget(replaced);
    const entry = { ...message, id: nextId++, sentMs: 0, settle };
    waiting.set(entry.id, entry);
    if (message.retain) retained.set(message.topic, entry.id);
    bytes += message.payload.length;
    while (waiting.size > bounds.messages || (bytes > bounds.bytes && waiting.size > 0)) {
      const oldest = /** @type {Entry} */ (waiting.values().next().value);
      forget(oldest);
      counters.dropped += 1;
      oldest.settle?.(new BrokerUnavailable('too much is waiting for the broker'));
    }
    pump(nowMs);
  }

  /** Send what may be sent; also to be called about once a second. @param {number} nowMs */
  function pump(nowMs) {
    if (!noticeConnection(nowMs)) return;
    if (unprovenMs === null) replay.trim(nowMs);
    for (const entry of inFlight.values()) {
      if (nowMs - entry.sentMs < bounds.resendMs) break; // in the order of sending
      inFlight.delete(entry.id);
      if (entry.retain && retained.get(entry.topic) !== entry.id) {
        forget(entry); // a newer one is on its way
      } else {
        counters.resent += 1;
        transmit(entry, nowMs);
      }
    }
    while (again.length > 0 && inFlight.size < bounds.inFlight) transmit(/** @type {Entry} */ (again.shift()), nowMs);
    for (const entry of waiting.values()) {
      if (inFlight.size >= bounds.inFlight) return;
      waiting.delete(entry.id);
      counters.sent += 1;
      transmit(entry, nowMs);
    }
  }

  /** Whether there is a connection; what a new one takes is queued. @param {number} nowMs */
  function noticeConnection(nowMs) {
    const state = connection.check(transport);
    if (state === 'another') {
      unprovenMs = nowMs;
      sendAgain(nowMs);
    }
    return state !== 'none';
  }

  /** What the broker may have forgotten goes first, then what was on its way to it: the newest is said last. @param {number} nowMs */
  function sendAgain(nowMs) {
    const taken = replay.take();
    const forgotten = taken.filter(({ retain }) => !retain)
      .map((message) => ({ ...message, id: nextId++, sentMs: 0, settle: null, replayed: true }));
    const interrupted = [...inFlight.values()].filter((entry) => {
      if (!entry.retain || retained.get(entry.topic) === entry.id) return true;
      forget(entry); // a newer one waits
      return false;
    });
    counters.replayed += forgotten.length;
    counters.resent += interrupted.length;
    inFlight.clear();
    again = [...forgotten, ...interrupted, ...again];
    for (const cleared of taken) if (cleared.retain && !retained.has(cleared.topic)) put(cleared, nowMs);
    onReconnect(nowMs);
  }

  /** @param {Entry} entry @param {number} nowMs */
  function transmit(entry, nowMs) {
    entry.sentMs = nowMs;
    entry.firstMs ??= nowMs;
    inFlight.set(entry.id, entry);
    transport?.send({ topic: entry.topic, payload: entry.payload, retain: entry.retain ?? false, sda_id: entry.id });
  }

  /** The broker has it. @param {number} id @param {number} nowMs */
  function acknowledge(id, nowMs) {
    const entry = inFlight.get(id);
    if (!entry) return;
    forget(entry);
    replay.keep(entry, unprovenMs ?? nowMs);
    if (!entry.replayed) counters.acknowledged += 1;
    entry.settle?.();
    pump(nowMs);
  }

  /**
   * Publish something that somebody waits for.
   * @param {Message} message
   * @param {number} nowMs
   * @param {number} limitMs
   * @returns {Promise<void>} when the broker has acknowledged it
   * @throws {BrokerUnavailable}
   */
  function publish(message, nowMs, limitMs) {
    if (!transport?.connected()) return Promise.reject(new BrokerUnavailable('there is no connection to the broker'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new BrokerUnavailable(`the broker did not acknowledge within ${limitMs} ms`)), limitMs);
      put(message, nowMs, (error) => {
        clearTimeout(timer);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  return {
    put,
    pump,
    acknowledge,
    publish,
    /** Connect the outbox with what sends; null takes it off again. @param {typeof transport} next */
    attach: (next) => { transport = next; },
    connected: () => transport?.connected() ?? false,
    /** For how long the oldest that was sent has had no acknowledgement, ms; 0: all have one. @param {number} nowMs */
    unansweredMs: (nowMs) => [...inFlight.values()].reduce((ms, { firstMs = nowMs }) => Math.max(ms, nowMs - firstMs), 0),
    /** What the broker has not acknowledged yet, in the order of sending. @returns {Message[]} */
    unacknowledged: () => [...inFlight.values(), ...again, ...waiting.values()].filter(isFirst).map(asMessage),
    /**
     * A message of this time has got into the database. When that is the first one since a reconnect, all is published once more: a
     * broker that forgot the session of ingest, too, had nobody to keep it for.
     * @param {number} ms @param {number} nowMs
     */
    proven(ms, nowMs) {
      if (unprovenMs === null || ms <= unprovenMs) return;
      unprovenMs = null;
      sendAgain(nowMs);
      pump(nowMs);
    },
    /** @param {typeof onReconnect} listener publishes again what is retained and stays as it is */
    onReconnect: (listener) => { onReconnect = listener; },
    /** What is published again is counted once, as that. */
    counters: () => ({ ...counters, waiting: waiting.size + again.filter(isFirst).length,
      in_flight: [...inFlight.values()].filter(isFirst).length }),
  };
}

const isFirst = (/** @type {Entry} */ { replayed }) => !replayed;
/** @param {Entry} entry @returns {Message} */
const asMessage = ({ topic, payload, retain = false }) => ({ topic, payload, retain });

module.exports = { createOutbox, BrokerUnavailable };
