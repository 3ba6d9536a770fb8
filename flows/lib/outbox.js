// @ts-check
'use strict';

/**
 * Messages on their way to the broker: each is kept until the broker has acknowledged it, so that nothing derived
 * vanishes while the broker is away. Bounded; what does not fit is counted.
 * @typedef {{topic: string, payload: string, retain?: boolean}} Message
 * @typedef {Message & {id: number, sentMs: number, settle: ((error?: Error) => void)|null}} Entry
 */

const BOUNDS = Object.freeze({
  messages: 20_000,
  bytes: 64 * 1024 * 1024,
  inFlight: 500, // enough for 2,000 messages/s at a quarter of a second each way
  resendMs: 30_000, // a message handed over in the moment the connection broke is never acknowledged: send it again
});

class BrokerAway extends Error {
  /** @param {string} reason */
  constructor(reason) {
    super(reason);
    this.name = 'BrokerAway';
  }
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
  const counters = { sent: 0, acknowledged: 0, dropped: 0, resent: 0 };
  let nextId = 1;
  let bytes = 0;
  /** @type {{send: (message: Message & {sda_id: number}) => void, connected: () => boolean}|null} */
  let line = null;

  /** @param {Entry} entry */
  function forget(entry) {
    waiting.delete(entry.id);
    inFlight.delete(entry.id);
    if (retained.get(entry.topic) === entry.id) retained.delete(entry.topic);
    bytes -= entry.payload.length;
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
      oldest.settle?.(new BrokerAway('too much is waiting for the broker'));
    }
    pump(nowMs);
  }

  /** Send what may be sent; also to be called about once a second. @param {number} nowMs */
  function pump(nowMs) {
    if (!line?.connected()) return;
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
    for (const entry of waiting.values()) {
      if (inFlight.size >= bounds.inFlight) return;
      waiting.delete(entry.id);
      counters.sent += 1;
      transmit(entry, nowMs);
    }
  }

  /** @param {Entry} entry @param {number} nowMs */
  function transmit(entry, nowMs) {
    entry.sentMs = nowMs;
    inFlight.set(entry.id, entry);
    line?.send({ topic: entry.topic, payload: entry.payload, retain: entry.retain ?? false, sda_id: entry.id });
  }

  /** The broker has it. @param {number} id @param {number} nowMs */
  function acknowledge(id, nowMs) {
    const entry = inFlight.get(id);
    if (!entry) return;
    forget(entry);
    counters.acknowledged += 1;
    entry.settle?.();
    pump(nowMs);
  }

  /**
   * Publish something that somebody waits for.
   * @param {Message} message
   * @param {number} nowMs
   * @param {number} limitMs
   * @returns {Promise<void>} when the broker has acknowledged it
   * @throws {BrokerAway}
   */
  function publish(message, nowMs, limitMs) {
    if (!line?.connected()) return Promise.reject(new BrokerAway('there is no connection to the broker'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new BrokerAway(`the broker did not acknowledge within ${limitMs} ms`)), limitMs);
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
    /** Connect the outbox with what sends; null takes it off again. @param {typeof line} next */
    attach: (next) => { line = next; },
    connected: () => line?.connected() ?? false,
    counters: () => ({ ...counters, waiting: waiting.size, in_flight: inFlight.size }),
  };
}

module.exports = { createOutbox, BrokerAway };
