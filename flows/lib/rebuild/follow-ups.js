// @ts-check
'use strict';

/**
 * Late times of just now. The locator of the present went on without what was late, and may differ for a while from one that heard
 * it in time; so what follows is located once more when it is over. Pure.
 * @typedef {import('../coverage').Part} Part
 */

/** A phone that is late all the time is one each quarter of a minute; of more the oldest are left out. */
const MOST = 100;

/** @param {number} afterMs how long what follows lasts @param {number} presentMs what is newer belongs to the locator of the present */
function createFollowUps(afterMs, presentMs) {
  /** @type {Part[]} */
  let waiting = [];
  const isOver = (/** @type {Part} */ { toMs }, /** @type {number} */ nowMs) => nowMs - presentMs >= toMs + afterMs;

  return {
    /** What is late is about to be located. @param {Part} part @param {number} nowMs */
    add(part, nowMs) { if (!isOver(part, nowMs)) waiting = [...waiting, part].slice(-MOST); },
    count: () => waiting.length,
    /** What is to be located once more now. @param {number} nowMs @returns {Part[]} with what follows */
    takeDue(nowMs) {
      const due = waiting.filter((part) => isOver(part, nowMs));
      waiting = waiting.filter((part) => !due.includes(part));
      return due.map(({ fromMs, toMs, staff }) => ({ fromMs, toMs: toMs + afterMs, staff }));
    },
  };
}

module.exports = { createFollowUps };
