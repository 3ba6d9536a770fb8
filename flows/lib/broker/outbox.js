// @ts-check
'use strict';

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

/** Keeps messages until the broker has acknowledged them. */
class Outbox {
  #bounds;
  #bus;
  /** @type {Map<number, Entry>} in the order of sending */
  #waiting = new Map();
  /** @type {Map<number, Entry>} */
  #inFlight = new Map();
  /** @type {Map<string, number>} newest entry of a retained topic */
  #retained = new Map();
  #replay;
  /** Acknowledged by a broker that may have forgotten them, and what was on its way to it: these go first. @type {Entry[]} */
  #again = [];
  #counters = { sent: 0, acknowledged: 0, dropped: 0, resent: 0, replayed: 0 };
  #nextId = 1;
  #bytes = 0;
  /** The connection of before; null: there was none yet, BROKEN: it broke. @type {unknown} */
  #connection = null;
  /** Since when there is a new connection through which nothing has got into the database yet; null: it is proven. @type {number|null} */
  #unprovenMs = null;
  /** @type {Transport|null} */
  #transport = null;

  /** @param {import('../events').EventBus} bus hears of each reconnect @param {Partial<typeof BOUNDS>} [overrides] */
  constructor(bus, overrides = {}) {
    this.#bus = bus;
    this.#bounds = { ...BOUNDS, ...overrides };
    this.#replay = new Replay({ keptMs: this.#bounds.replayMs, bytes: this.#bounds.replayBytes });
  }

  /** Connect the outbox with what sends; null takes it off again. @param {Transport|null} next */
  attach(next) {
    this.#transport = next;
  }

  connected() {
    return this.#transport?.connected() ?? false;
  }

  /**
   * Take a message. Of a retained topic only the newest is kept.
   * @param {Message} message
   * @param {number} nowMs
   * @param {((error?: Error) => void)|null} [settle] called once: acknowledged, or dropped with an error
   */
  put(message, nowMs, settle = null) {
    const older = message.retain ? this.#retained.get(message.topic) : undefined;
    const replaced = older === undefined ? undefined : this.#waiting.get(older);
    if (replaced) this.#forget(replaced);
    const entry = { ...message, id: this.#nextId++, sentMs: 0, settle };
    this.#waiting.set(entry.id, entry);
    if (message.retain) this.#retained.set(message.topic, entry.id);
    this.#bytes += message.payload.length;
    while (this.#waiting.size > this.#bounds.messages || (this.#bytes > this.#bounds.bytes && this.#waiting.size > 0)) {
      const oldest = /** @type {Entry} */ (this.#waiting.values().next().value);
      this.#forget(oldest);
      this.#counters.dropped += 1;
      oldest.settle?.(new BrokerUnavailable('too much is waiting for the broker'));
    }
    this.pump(nowMs);
  }

  /**
   * Publish something that somebody waits for.
   * @param {Message} message
   * @param {number} nowMs
   * @param {number} limitMs
   * @returns {Promise<void>} when the broker has acknowledged it
   * @throws {BrokerUnavailable}
   */
  publish(message, nowMs, limitMs) {
    if (!this.connected()) return Promise.reject(new BrokerUnavailable('there is no connection to the broker'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new BrokerUnavailable(`the broker did not acknowledge within ${limitMs} ms`)), limitMs);
      this.put(message, nowMs, (error) => {
        clearTimeout(timer);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Send what may be sent; also to be called about once a second. @param {number} nowMs */
  pump(nowMs) {
    if (!this.#noticeConnection(nowMs)) return;
    if (this.#unprovenMs === null) this.#replay.trim(nowMs);
    for (const entry of this.#inFlight.values()) {
      if (nowMs - entry.sentMs < this.#bounds.resendMs) break; // in the order of sending
      this.#inFlight.delete(entry.id);
      if (entry.retain && this.#retained.get(entry.topic) !== entry.id) {
        this.#forget(entry); // a newer one is on its way
      } else {
        this.#counters.resent += 1;
        this.#transmit(entry, nowMs);
      }
    }
    while (this.#again.length > 0 && this.#hasRoom()) this.#transmit(/** @type {Entry} */ (this.#again.shift()), nowMs);
    for (const entry of this.#waiting.values()) {
      if (!this.#hasRoom()) return;
      this.#waiting.delete(entry.id);
      this.#counters.sent += 1;
      this.#transmit(entry, nowMs);
    }
  }

  /** The broker has it. @param {number} id @param {number} nowMs */
  acknowledge(id, nowMs) {
    const entry = this.#inFlight.get(id);
    if (!entry) return;
    this.#forget(entry);
    this.#replay.keep(entry, this.#unprovenMs ?? nowMs);
    if (!entry.replayed) this.#counters.acknowledged += 1;
    entry.settle?.();
    this.pump(nowMs);
  }

  /**
   * A message of this time has got into the database. When that is the first one since a reconnect, all is published once more: a
   * broker that forgot the session of ingest, too, had nobody to keep it for.
   * @param {number} ms @param {number} nowMs
   */
  proven(ms, nowMs) {
    if (this.#unprovenMs === null || ms <= this.#unprovenMs) return;
    this.#unprovenMs = null;
    this.#sendAgain(nowMs);
    this.pump(nowMs);
  }

  /** For how long the oldest that was sent has had no acknowledgement, ms; 0: all have one. @param {number} nowMs */
  unansweredMs(nowMs) {
    return [...this.#inFlight.values()].reduce((ms, { firstMs = nowMs }) => Math.max(ms, nowMs - firstMs), 0);
  }

  /** Messages that the broker has not acknowledged yet, in the order of sending. @returns {Message[]} */
  unacknowledged() {
    return [...this.#inFlight.values(), ...this.#again, ...this.#waiting.values()].filter(isFirst).map(asMessage);
  }

  /** A message that is published again is counted once, as that. */
  counters() {
    return { ...this.#counters, waiting: this.#waiting.size + this.#again.filter(isFirst).length,
      in_flight: [...this.#inFlight.values()].filter(isFirst).length };
  }

  #hasRoom() {
    return this.#inFlight.size < this.#bounds.inFlight;
  }

  /** @param {Entry} entry */
  #forget(entry) {
    this.#waiting.delete(entry.id);
    this.#inFlight.delete(entry.id);
    if (this.#retained.get(entry.topic) === entry.id) this.#retained.delete(entry.topic);
    if (!entry.replayed) this.#bytes -= entry.payload.length;
  }

  /** Whether there is a connection; what a new one takes is queued. @param {number} nowMs */
  #noticeConnection(nowMs) {
    const transport = this.#transport;
    if (!transport?.connected()) {
      if (this.#connection !== null) this.#connection = BROKEN;
      return false;
    }
    const before = this.#connection;
    this.#connection = transport.connection?.() ?? transport;
    if (before !== null && before !== this.#connection) {
      this.#unprovenMs = nowMs;
      this.#sendAgain(nowMs);
    }
    return true;
  }

  /** Messages that the broker may have forgotten go first, then those on their way: the newest is published last. @param {number} nowMs */
  #sendAgain(nowMs) {
    const taken = this.#replay.take();
    const forgotten = taken.filter(({ retain }) => !retain)
      .map((message) => ({ ...message, id: this.#nextId++, sentMs: 0, settle: null, replayed: true }));
    const interrupted = [...this.#inFlight.values()].filter((entry) => {
      if (!entry.retain || this.#retained.get(entry.topic) === entry.id) return true;
      this.#forget(entry); // a newer one waits
      return false;
    });
    this.#counters.replayed += forgotten.length;
    this.#counters.resent += interrupted.length;
    this.#inFlight.clear();
    this.#again = [...forgotten, ...interrupted, ...this.#again];
    for (const cleared of taken) if (cleared.retain && !this.#retained.has(cleared.topic)) this.put(cleared, nowMs);
    this.#bus.emit('reconnect', nowMs);
  }

  /** @param {Entry} entry @param {number} nowMs */
  #transmit(entry, nowMs) {
    entry.sentMs = nowMs;
    entry.firstMs ??= nowMs;
    this.#inFlight.set(entry.id, entry);
    this.#transport?.send({ topic: entry.topic, payload: entry.payload, retain: entry.retain ?? false, sda_id: entry.id });
  }
}

const BROKEN = Symbol('broken');
const isFirst = (/** @type {Entry} */ { replayed }) => !replayed;
/** @param {Entry} entry @returns {Message} */
const asMessage = ({ topic, payload, retain = false }) => ({ topic, payload, retain });

/**
 * Messages that the broker has acknowledged within the last minute, oldest first. Of retained topics only those that are still cleared:
 * of the others whoever publishes them knows the newest.
 */
class Replay {
  #keptMs;
  #most;
  /** @type {{message: Message, ms: number}[]} */
  #kept = [];
  #first = 0;
  #bytes = 0;
  /** When each retained topic was cleared. @type {Map<string, number>} */
  #cleared = new Map();

  /** @param {{keptMs: number, bytes: number}} bounds */
  constructor({ keptMs, bytes }) {
    this.#keptMs = keptMs;
    this.#most = bytes;
  }

  /** @param {Message} message @param {number} nowMs */
  keep({ topic, payload, retain = false }, nowMs) {
    if (retain) {
      this.#cleared.delete(topic);
      if (payload === '') this.#cleared.set(topic, nowMs);
      return;
    }
    this.#kept.push({ message: { topic, payload, retain }, ms: nowMs });
    this.#bytes += payload.length;
    this.trim(nowMs);
  }

  /** @param {number} nowMs of a time with a connection: while there is none nothing grows old */
  trim(nowMs) {
    const isOver = (/** @type {{ms: number}} */ { ms }) => nowMs - ms > this.#keptMs || this.#bytes > this.#most;
    for (let oldest = this.#kept[this.#first]; oldest && isOver(oldest); oldest = this.#kept[this.#first]) {
      this.#bytes -= oldest.message.payload.length;
      this.#first += 1;
    }
    for (const [topic, ms] of this.#cleared) {
      if (nowMs - ms <= this.#keptMs) break; // in the order of time
      this.#cleared.delete(topic);
    }
    if (this.#first < 1000 && this.#first < this.#kept.length) return;
    this.#kept = this.#kept.slice(this.#first);
    this.#first = 0;
  }

  /** All of it, which is not kept any more. @returns {Message[]} */
  take() {
    const taken = [
      ...this.#kept.slice(this.#first).map(({ message }) => message),
      ...[...this.#cleared.keys()].map((topic) => ({ topic, payload: '', retain: true })),
    ];
    this.#cleared.clear();
    this.#kept = [];
    this.#first = 0;
    this.#bytes = 0;
    return taken;
  }
}

module.exports = { Outbox, BrokerUnavailable };
