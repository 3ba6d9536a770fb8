// @ts-check
'use strict';

/**
 * Who has a past at a site, as it said last. Nothing is concluded from it once it is older than two seconds, counted from when it was
 * asked for: what the site learned before that is in it. Pure.
 * @typedef {ReturnType<typeof createKnowledge>} Knowledge
 */

const FRESH_MS = 2000;

function createKnowledge() {
  /** @type {Set<string>} */
  let staff = new Set();
  /** @type {string|null} null: it never said */
  let version = null;
  /** When the question was asked that it answered last, by a clock that only goes on; −Infinity: it did not answer since. */
  let askedMs = -Infinity;
  let untilMs = 0;

  return {
    /**
     * @param {any} answer of `/api/v1/people/known` @param {number} nowMs when it was asked for
     * @returns {boolean} false: it is no such answer
     */
    take(answer, nowMs) {
      const { version: next, whole, staff: ids, known_until_ms: ms } = answer ?? {};
      if (typeof next !== 'string' || !Array.isArray(ids) || !Number.isFinite(ms) || (version === null && !whole)) return false;
      if (whole) staff = new Set(ids);
      else for (const id of ids) staff.add(id);
      [version, askedMs, untilMs] = [next, nowMs, ms];
      return true;
    },
    /** The site did not answer: what it said before may not hold any more. */
    doubt() { askedMs = -Infinity; },
    /** @param {number} nowMs */
    isFresh: (nowMs) => nowMs - askedMs < FRESH_MS,
    /** @param {readonly string[]} ids */
    hasAnyOf: (ids) => ids.some((id) => staff.has(id)),
    /** Up to when those have nothing there who are not known there, epoch ms of the site. */
    untilMs: () => untilMs,
    version: () => version,
    /** How many there are; null: it never said. */
    count: () => (version === null ? null : staff.size),
  };
}

module.exports = { createKnowledge, FRESH_MS };
