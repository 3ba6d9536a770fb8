// @ts-check
'use strict';

const { LRUCache } = require('lru-cache');

/** Who asks faster than once a millisecond for so long gets the clock's own time again. */
const AHEAD_MS = 1000;
const REMEMBERED = 10_000;

/**
 * A millisecond of its own for each of what would otherwise be one point: the clock's, or the next one that is free.
 * @param {() => number} clock
 * @returns {(key: string) => number} epoch ms
 */
function createMoments(clock) {
  /** @type {LRUCache<string, number>} */
  const last = new LRUCache({ max: REMEMBERED });
  return (key) => {
    const nowMs = clock();
    const freeMs = (last.get(key) ?? 0) + 1;
    const ms = freeMs > nowMs && freeMs <= nowMs + AHEAD_MS ? freeMs : nowMs;
    last.set(key, ms);
    return ms;
  };
}

module.exports = { createMoments };
