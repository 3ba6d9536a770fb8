// @ts-check
'use strict';

/**
 * Numbers for things that come again and again, so that each is kept once.
 * @template T
 * @typedef {{of: (key: string, value: T) => number, at: (number: number) => T, keyAt: (number: number) => string,
 *   isFilling: () => boolean}} InternTable of: −1 when there are too many
 */

/** From here on it pays to search for unused ones. */
const FILLING_SHARE = 0.75;

/**
 * @template T
 * @param {number} limit
 * @returns {InternTable<T>}
 */
function createInternTable(limit) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @type {string[]} */
  const keys = [];
  /** @type {T[]} */
  const values = [];
  return {
    of(key, value) {
      const known = numbers.get(key);
      if (known !== undefined) return known;
      if (keys.length >= limit) return -1;
      numbers.set(key, keys.length);
      keys.push(key);
      return values.push(value) - 1;
    },
    at: (number) => /** @type {T} */ (values[number]),
    keyAt: (number) => /** @type {string} */ (keys[number]),
    isFilling: () => keys.length >= limit * FILLING_SHARE,
  };
}

module.exports = { createInternTable };
