// @ts-check
'use strict';

const { setImmediate: yieldToEventLoop } = require('node:timers/promises');

/**
 * Long work as a generator, which yields wherever the event loop may run other work.
 * @template T
 * @typedef {Generator<void, T, void>} Work
 */

/** Longest work without a break. */
const SLICE_MS = 8;

/** Runs work without a break. @template T @param {Work<T>} work @returns {T} */
function inOneGo(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Runs work with breaks for other work of the event loop. @template T @param {Work<T>} work @returns {Promise<T>} */
async function inPieces(work) {
  for (let sinceMs = performance.now(); ;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - sinceMs < SLICE_MS) continue;
    await yieldToEventLoop();
    sinceMs = performance.now();
  }
}

module.exports = { inOneGo, inPieces };
