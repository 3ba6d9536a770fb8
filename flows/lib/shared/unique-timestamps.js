// @ts-check
'use strict';

const { LRUCache } = require('lru-cache');

/** The result runs ahead of the clock by at most this much; after that it is the clock's time again. */
const AHEAD_MAX_MS = 1000;
const KEYS_MAX = 10_000;

/**
 * Unique timestamps by key: InfluxDB keeps one point a millisecond and series. Returns the clock's time, or the next free millisecond.
 * @param {() => number} clock
 * @returns {(key: string) => number} epoch ms
 */
function createUniqueTimestamps(clock) {
  /** @type {LRUCache<string, number>} */
  const last = new LRUCache({ max: KEYS_MAX });
  return (key) => {
    const nowMs = clock();
    const freeMs = (last.get(key) ?? 0) + 1;
    const ms = freeMs > nowMs && freeMs <= nowMs + AHEAD_MAX_MS ? freeMs : nowMs;
    last.set(key, ms);
    return ms;
  };
}

module.exports = { createUniqueTimestamps };
