// @ts-check
'use strict';

/**
 * Room for points in pages, out of large arrays that live as long as the process: nothing is moved when a track grows,
 * nothing is left to the garbage collector, and the bound is exact.
 */

const POINT_WORDS = 4;
const PAGE_POINTS = 32; // 512 bytes: who was seen once takes little, who is seen every second a page each half minute
const PAGE_WORDS = PAGE_POINTS * POINT_WORDS;
const SLAB_PAGES = 2048;

/**
 * @typedef {ReturnType<typeof createPages>} Pages
 * @param {number} limit
 */
function createPages(limit) {
  /** @type {Uint32Array[]} */
  const slabs = [];
  /** @type {number[]} */
  const free = [];
  let made = 0;
  return {
    /** @returns {number} −1 when all are taken */
    take() {
      const given = free.pop();
      if (given !== undefined) return given;
      if (made >= limit) return -1;
      if (made % SLAB_PAGES === 0) slabs.push(new Uint32Array(SLAB_PAGES * PAGE_WORDS));
      return made++;
    },
    /** @param {number} page */
    giveBack: (page) => { free.push(page); },
    /** @param {number} page */
    slabOf: (page) => /** @type {Uint32Array} */ (slabs[Math.floor(page / SLAB_PAGES)]),
    /** Where in its slab a page begins. @param {number} page */
    offsetOf: (page) => (page % SLAB_PAGES) * PAGE_WORDS,
    taken: () => made - free.length,
  };
}

module.exports = { createPages, PAGE_POINTS, POINT_WORDS };
