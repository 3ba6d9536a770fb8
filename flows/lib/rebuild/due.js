// @ts-check
'use strict';

const { FINAL_AFTER_MS } = require('../coverage');
const { PRESENT_MS } = require('./range');

/**
 * What of the past became due without being asked for.
 * @typedef {object} Task
 * @property {import('../coverage').Part} part
 * @property {boolean} isRepeat of coverage's `repeats`: it was located before
 * @property {() => void} done
 * @property {() => void} [failed] it is tried again later; not given: `done` is all
 */

/**
 * @param {import('../coverage').Coverage} coverage @param {() => number} clock
 * @param {(id: string) => boolean} hasTags @returns {Task[]}
 */
function takeDue(coverage, clock, hasTags) {
  const late = coverage.takeDue(clock(), hasTags).map((part) => ({
    part, isRepeat: false,
    done() {
      coverage.published(part, clock());
      if (part.staff) coverage.repeats.done({ ...part, fromMs: part.fromMs - FINAL_AFTER_MS, toMs: clock() }, clock());
    },
    failed: () => coverage.failed(part, clock()),
  }));
  const repeats = coverage.repeats.takeDue(clock() - PRESENT_MS).map((part) => ({
    part, isRepeat: true, done: () => coverage.repeats.done(part, clock()),
  }));
  return [...late, ...repeats];
}

module.exports = { takeDue };
