// @ts-check
'use strict';

/**
 * A queue, first in, first out, without a cost that grows with its length. Pure.
 * @template T
 * @typedef {{push: (item: T) => void, shift: () => T|undefined, first: () => T|undefined, size: () => number}} Fifo
 */

/** So many that were taken are cut off at once. */
const CUT = 1024;

/** @template T @returns {Fifo<T>} */
function createFifo() {
  /** @type {T[]} */
  let items = [];
  let next = 0;
  return {
    push(item) { items.push(item); },
    shift() {
      if (next >= items.length) return undefined;
      const item = items[next];
      next += 1;
      if (next === items.length || (next >= CUT && 2 * next >= items.length)) {
        items = items.slice(next);
        next = 0;
      }
      return item;
    },
    first: () => items[next],
    size: () => items.length - next,
  };
}

module.exports = { createFifo };
