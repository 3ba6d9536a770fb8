// @ts-check
'use strict';

const { keyOf } = require('./batches');

/**
 * Which batches of the last minutes came in already: receivers send again what the broker may have lost, and what is known
 * needs no second look. Times in steps, one bit each, so that a receiver costs 225 bytes. Pure.
 */

const STEP_MS = 500; // batches of one receiver are a second apart; the parts of one have the same time
const STEPS = 1800; // a quarter of an hour: gateways keep ten minutes of what was acknowledged

/**
 * @typedef {Pick<import('./readings').Batch, 'kind'|'receiver'|'ts'>} Mark
 * @typedef {{newest: number, newestMs: number, bits: Uint8Array}} Known newest: step
 * @typedef {ReadonlyMap<string, Known>} Kept by kind and receiver
 */

/** @param {Kept} [before] what `save` said */
function createRecentBatches(before = new Map()) {
  /** @type {Map<string, Known>} by kind and receiver */
  const receivers = copyOf(before);

  return {
    /** Whether a batch came in already; false too when it is older than what is remembered. @param {Mark} batch */
    knows(batch) {
      const known = receivers.get(keyOf(batch));
      return known !== undefined && isIn(known, stepOf(batch));
    },
    /** As `knows`, but no newer one is mistaken for a known one of its step, nor the second part of the newest one. @param {Mark} batch */
    knowsOlder(batch) {
      const known = receivers.get(keyOf(batch));
      return known !== undefined && batch.ts < known.newestMs && isIn(known, stepOf(batch));
    },
    /**
     * Note a batch. @param {Mark} batch
     * @returns {boolean} whether it was known
     */
    isRepeated(batch) {
      const step = stepOf(batch);
      const key = keyOf(batch);
      let known = receivers.get(key);
      if (!known) receivers.set(key, known = { newest: step, newestMs: batch.ts, bits: new Uint8Array(STEPS / 8) });
      const had = isIn(known, step);
      const { newest, bits } = known;
      for (let over = Math.max(newest + 1, step - STEPS + 1); over <= step; over += 1) set(bits, over, false);
      known.newest = Math.max(newest, step);
      known.newestMs = Math.max(known.newestMs, batch.ts);
      if (step > known.newest - STEPS) set(bits, step, true);
      return had;
    },
    /** A copy, by kind and receiver. */
    save: () => copyOf(receivers),
    /** Forget receivers that are gone. @param {number} nowMs */
    sweep(nowMs) {
      const oldest = Math.floor(nowMs / STEP_MS) - STEPS;
      for (const [key, { newest }] of receivers) if (newest < oldest) receivers.delete(key);
    },
  };
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

module.exports = { createRecentBatches, STEP_MS, STEPS };
