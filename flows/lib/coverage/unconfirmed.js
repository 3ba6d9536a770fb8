// @ts-check
'use strict';

/**
 * Parts of the past that were located again and published, but are not yet proven to be stored. Pure.
 * @typedef {import('.').Part} Part
 */

/** What was published is in the database by then. */
const ARRIVED_MS = 1000;

function createUnconfirmed() {
  /** @type {{part: Part, publishedMs: number}[]} */
  let parts = [];

  return {
    /** @param {Part} part @param {number} nowMs */
    add(part, nowMs) { parts.push({ part, publishedMs: nowMs }); },
    /** Those that a heartbeat proves to be stored; each is given once. @param {number} aliveMs when it was sent @returns {Part[]} */
    takeStored(aliveMs) {
      const isStored = (/** @type {{publishedMs: number}} */ { publishedMs }) => publishedMs + ARRIVED_MS <= aliveMs;
      const stored = parts.filter(isStored);
      parts = parts.filter((one) => !isStored(one));
      return stored.map(({ part }) => part);
    },
  };
}

module.exports = { createUnconfirmed, ARRIVED_MS };
