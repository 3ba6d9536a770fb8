// @ts-check
'use strict';

/**
 * Messages that come over the wires of a flow, which anybody may have drawn: checked before they are used, and taken in pieces.
 * @typedef {import('./readings').Batch} Batch
 */

/** A request waits for this and a piece of locating at most (`newest-first.js`), beside the one message that is being taken. */
const PIECE_MS = 1;
const MAX_WAITING = 1000; // a tenth of a second's work

/**
 * Messages that came in, taken in pieces of a few milliseconds: whoever asks over HTTP gets a turn between two of them,
 * also while the messages of a second come at once. Order is kept. When many wait they are taken without a break, so that
 * this process reads no faster than it checks: the broker can queue them better. What is checked waits in `newest-first.js`.
 * @template T
 */
class Inbox {
  #take;
  #after;
  #onClose;
  #later;
  #clockMs;
  /** @type {T[]} */
  #waiting = [];
  #next = 0;
  #due = false;

  /**
   * @param {(item: T) => void} take
   * @param {object} [deps]
   * @param {() => void} [deps.after] called after each piece, also after one that failed
   * @param {() => void} [deps.onClose]
   * @param {(work: () => void) => void} [deps.later] in the next turn of the event loop
   * @param {() => number} [deps.clockMs] only goes on
   */
  constructor(take, { after = () => {}, onClose = () => {}, later = setImmediate, clockMs = () => performance.now() } = {}) {
    this.#take = take;
    this.#after = after;
    this.#onClose = onClose;
    this.#later = later;
    this.#clockMs = clockMs;
  }

  /** @param {T} item */
  put(item) {
    this.#waiting.push(item);
    if (!this.#due) this.#later(this.#work);
    this.#due = true;
  }

  size() {
    return this.#waiting.length - this.#next;
  }

  /** Take all that waits, now. */
  drain() {
    this.#takeUntil(() => false);
  }

  /** The same, and nothing comes any more. */
  close() {
    this.drain();
    this.#onClose();
  }

  #work = () => {
    const endMs = this.#clockMs() + PIECE_MS;
    try {
      this.#takeUntil(() => this.#clockMs() >= endMs && this.size() < MAX_WAITING);
    } finally {
      this.#due = this.size() > 0;
      if (this.#due) this.#later(this.#work);
    }
  };

  /** @param {() => boolean} enough asked after each */
  #takeUntil(enough) {
    try {
      while (this.size() > 0) {
        const item = /** @type {T} */ (this.#waiting[this.#next]);
        this.#next += 1; // first: one that fails is not tried again
        this.#take(item);
        if (enough()) return;
      }
    } finally {
      if (this.size() === 0 || this.#next >= MAX_WAITING) {
        this.#waiting = this.#waiting.slice(this.#next);
        this.#next = 0;
      }
      this.#after();
    }
  }
}

/**
 * A message's payload as the bytes that came from the broker; a string or an object is taken as JSON, as an inject node sends it.
 * @param {unknown} payload
 * @returns {Buffer}
 */
function bytesOf(payload) {
  if (Buffer.isBuffer(payload)) return payload;
  return Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload) ?? '');
}

/**
 * A message as it is, or what `sda-subscribe` gathered in it. It is done when its last part is.
 * @typedef {{topic?: unknown, payload?: unknown}} Message
 * @typedef {(error?: unknown) => void} Done
 * @param {Message} message @param {Done} done
 * @returns {{message: Message, done: Done}[]}
 */
function partsOf(message, done) {
  if (message.topic !== 'messages' || !Array.isArray(message.payload)) return [{ message, done }];
  const parts = message.payload.map((part) => ({ message: part ?? {}, done: failed }));
  const last = parts.at(-1);
  if (last) last.done = done;
  else done();
  return parts;

  /** @param {unknown} [error] */
  function failed(error) { if (error) done(error); }
}

/**
 * Why something is no list of batches; '': it is one.
 * @param {unknown} payload
 * @returns {string}
 */
function batchesFault(payload) {
  if (!Array.isArray(payload)) return 'msg.payload must be an array of batches, as sda-check sends it';
  const index = payload.findIndex((batch) => !isBatch(batch));
  return index < 0 ? '' : `msg.payload[${index}] is no batch: {kind: 'gateway'|'phone', receiver, ts, readings: [{beacon, rssi}, …]}`;
}

/** @param {any} batch @returns {batch is Batch} */
const isBatch = (batch) => (batch?.kind === 'phone' || batch?.kind === 'gateway') && typeof batch.receiver === 'string' &&
  Number.isInteger(batch.ts) && Array.isArray(batch.readings) && batch.readings.every(isReading) &&
  (batch.measured === undefined || (Array.isArray(batch.measured) && batch.measured.every(isMeasured)));

/** @param {any} measured */
const isMeasured = (measured) => typeof measured?.beacon === 'string';

/** @param {any} reading */
const isReading = (reading) => typeof reading?.beacon === 'string' && Number.isFinite(reading.rssi);

module.exports = { Inbox, batchesFault, bytesOf, partsOf, PIECE_MS, MAX_WAITING };
