// @ts-check
'use strict';

const { setImmediate: yieldToEventLoop } = require('node:timers/promises');
const { TookTooLong } = require('./deadline');

/**
 * Long work as a generator, which yields wherever the event loop may run other work.
 * @template T
 * @typedef {Generator<void, T, void>} Work
 */

/** Longest work without a break. */
const SLICE_MS = 8;

/**
 * Runs work without a break.
 * @template T
 * @param {Work<T>} work @param {number} [withinMs] limit
 * @returns {T}
 * @throws {TookTooLong}
 */
function inOneGo(work, withinMs = Infinity) {
  for (const endMs = performance.now() + withinMs; ;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() > endMs) throw new TookTooLong('the work', withinMs);
  }
}

/**
 * Runs work with breaks for other work of the event loop.
 * @template T
 * @param {Work<T>} work @param {number} [withinMs] limit, the breaks included
 * @returns {Promise<T>}
 * @throws {TookTooLong}
 */
async function inPieces(work, withinMs = Infinity) {
  const endMs = performance.now() + withinMs;
  for (let sinceMs = performance.now(); ;) {
    const { done, value } = work.next();
    if (done) return value;
    const nowMs = performance.now();
    if (nowMs > endMs) throw new TookTooLong('the work', withinMs);
    if (nowMs - sinceMs < SLICE_MS) continue;
    await yieldToEventLoop();
    sinceMs = performance.now();
  }
}

module.exports = { inOneGo, inPieces };
