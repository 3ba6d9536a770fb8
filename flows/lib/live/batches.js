// @ts-check
'use strict';

const { isMeasured } = require('./readings');

/**
 * Batches of readings: their one order, rows of the database back to the batches that receivers sent, and which ones came in already.
 * @typedef {import('./readings').Batch} Batch
 * @typedef {[ts: number, rssi: number, kind: 'gateway'|'phone', receiver: string, beacon: string]} Row
 */

/**
 * Batches in one order, whichever way their readings came: receivers of one millisecond by id, readings by beacon.
 * The sum over readings and the choice among equals then do not depend on where they were read from.
 * @param {Batch} a @param {Batch} b
 */
const byTime = (a, b) => a.ts - b.ts || compare(a.kind, b.kind) || compare(a.receiver, b.receiver);

/** @param {Batch} batch @returns {Batch} the same, with its readings in order */
function inOrder(batch) {
  batch.readings.sort((a, b) => compare(a.beacon, b.beacon));
  return batch;
}

/**
 * The last of several readings of one beacon in a batch: receiver, beacon and ts make one reading.
 * @param {Batch} batch with its readings in order @returns {Batch} the same
 */
function withoutRepeated(batch) {
  const { readings } = batch;
  if (readings.some(({ beacon }, i) => beacon === readings[i + 1]?.beacon)) {
    batch.readings = readings.filter(({ beacon }, i) => beacon !== readings[i + 1]?.beacon);
  }
  return batch;
}

/** Who sent a batch; ids of gateways and phones may be the same. @param {Pick<Batch, 'kind'|'receiver'>} batch */
const keyOf = ({ kind, receiver }) => `${kind}/${receiver}`;

/** @param {string} a @param {string} b */
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Takes rows in ascending time; a batch is complete when the first row of a later millisecond comes. */
class Grouping {
  /** @type {Map<string, Batch>} of one millisecond */
  #open = new Map();
  #openMs = -Infinity;

  /** @param {Row[]} rows @returns {Batch[]} those that are complete now */
  push(rows) {
    /** @type {Batch[]} */
    const done = [];
    for (const [ts, rssi, kind, receiver, beacon] of rows) {
      if (!isMeasured(rssi)) continue; // versions before stored 0, -127 and 1 to 20, too
      if (ts !== this.#openMs) {
        done.push(...this.finish());
        this.#openMs = ts;
      }
      const key = keyOf({ kind, receiver });
      const batch = this.#open.get(key);
      if (batch) batch.readings.push({ beacon, rssi });
      else this.#open.set(key, { kind, receiver, ts, readings: [{ beacon, rssi }] });
    }
    return done;
  }

  /** The last ones are complete, too. */
  finish() {
    const done = [...this.#open.values()].map((batch) => withoutRepeated(inOrder(batch))).sort(byTime);
    this.#open = new Map();
    return done;
  }
}

const STEP_MS = 500; // batches of one receiver are a second apart; the parts of one have the same time
const STEPS = 1800; // a quarter of an hour: gateways keep ten minutes of what was acknowledged

/**
 * @typedef {Pick<import('./readings').Batch, 'kind'|'receiver'|'ts'>} Mark
 * @typedef {{newest: number, newestMs: number, bits: Uint8Array}} Known newest: step
 * @typedef {ReadonlyMap<string, Known>} Kept by kind and receiver
 */

/**
 * Which batches of the last minutes came in already: receivers send again what the broker may have lost, and what is known
 * needs no second look. Times in steps, one bit each, so that a receiver costs 225 bytes.
 */
class RecentBatches {
  /** @type {Map<string, Known>} by kind and receiver */
  #receivers;

  /** @param {Kept} [before] what `save` said */
  constructor(before = new Map()) {
    this.#receivers = copyOf(before);
  }

  /** Whether a batch came in already; false too when it is older than what is remembered. @param {Mark} batch */
  knows(batch) {
    const known = this.#receivers.get(keyOf(batch));
    return known !== undefined && isIn(known, stepOf(batch));
  }

  /** As `knows`, but no newer one is mistaken for a known one of its step, nor the second part of the newest one. @param {Mark} batch */
  knowsOlder(batch) {
    const known = this.#receivers.get(keyOf(batch));
    return known !== undefined && batch.ts < known.newestMs && isIn(known, stepOf(batch));
  }

  /**
   * Note a batch. @param {Mark} batch
   * @returns {boolean} whether it was known
   */
  isRepeated(batch) {
    const step = stepOf(batch);
    const key = keyOf(batch);
    let known = this.#receivers.get(key);
    if (!known) this.#receivers.set(key, known = { newest: step, newestMs: batch.ts, bits: new Uint8Array(STEPS / 8) });
    const had = isIn(known, step);
    const { newest, bits } = known;
    for (let over = Math.max(newest + 1, step - STEPS + 1); over <= step; over += 1) set(bits, over, false);
    known.newest = Math.max(newest, step);
    known.newestMs = Math.max(known.newestMs, batch.ts);
    if (step > known.newest - STEPS) set(bits, step, true);
    return had;
  }

  /** A copy, by kind and receiver. */
  save() {
    return copyOf(this.#receivers);
  }

  /** Forget receivers that are gone. @param {number} nowMs */
  sweep(nowMs) {
    const oldest = Math.floor(nowMs / STEP_MS) - STEPS;
    for (const [key, { newest }] of this.#receivers) if (newest < oldest) this.#receivers.delete(key);
  }
}

/** @param {ReadonlyMap<string, Known>} receivers @returns {Map<string, Known>} */
const copyOf = (receivers) => new Map([...receivers].map(([key, { bits, ...times }]) => [key, { ...times, bits: bits.slice() }]));

/** @param {Mark} batch */
const stepOf = ({ ts }) => Math.floor(ts / STEP_MS);
/** @param {Known} known @param {number} step */
const isIn = ({ newest, bits }, step) => step <= newest && step > newest - STEPS && has(bits, step);

/** @param {number} step @returns {[index: number, mask: number]} */
const place = (step) => [(step % STEPS) >> 3, 1 << (step % 8)];

/** @param {Uint8Array} bits @param {number} step */
function has(bits, step) {
  const [index, mask] = place(step);
  return (/** @type {number} */ (bits[index]) & mask) !== 0;
}

/** @param {Uint8Array} bits @param {number} step @param {boolean} on */
function set(bits, step, on) {
  const [index, mask] = place(step);
  const byte = /** @type {number} */ (bits[index]);
  bits[index] = on ? byte | mask : byte & ~mask;
}

module.exports = { Grouping, RecentBatches, inOrder, byTime, keyOf, STEP_MS, STEPS };
