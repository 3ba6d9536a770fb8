// @ts-check
'use strict';

const { setImmediate: breathe } = require('node:timers/promises');

/**
 * Long work as a generator, which yields wherever others may get their turn.
 * @template T
 * @typedef {Generator<void, T, void>} Work
 */

/** Others get their turn after so much work. */
const TURN_MS = 8;

/** @template T @param {Work<T>} work @returns {T} */
function inOneGo(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** @template T @param {Work<T>} work @returns {Promise<T>} */
async function inPieces(work) {
  for (let sinceMs = performance.now(); ;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - sinceMs < TURN_MS) continue;
    await breathe();
    sinceMs = performance.now();
  }
}

module.exports = { inOneGo, inPieces };
