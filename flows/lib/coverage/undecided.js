// @ts-check
'use strict';

const { EVERYBODY } = require('./intervals');

/**
 * Whether it is decided who has a past at all: not while everybody's is to be located somewhere, since somebody may be found there of
 * whom nothing is known yet.
 * @param {object} deps
 * @param {Pick<import('./intervals').Intervals, 'everybody'|'toJSON'>} deps.gaps
 * @param {Pick<import('./repeats').Repeats, 'toJSON'>} deps.repeats
 * @param {() => boolean} deps.following whether the live path says how far everything is: then it does so of the last gap
 * @param {(fromMs: number, toMs: number, who: string[], nowMs: number) => object|null} deps.firstGap of what is not located and stored
 */
const createUndecided = ({ gaps, repeats, following, firstGap }) => ({
  /** Where somebody new may be found, in words; '': nowhere. @param {number} nowMs */
  undecided(nowMs) {
    const first = gaps.everybody().find(({ toMs }) => toMs !== Infinity || !following());
    return first ? `the time ${fromTo(first, nowMs)} is being located` : '';
  },
  /** Whether what is stored is all that there is. @param {number} nowMs */
  isSettled: (nowMs) => firstGap(-Infinity, Infinity, [], nowMs) === null,
  /** Of whom something is to be located, or once more. @returns {string[]} */
  pending: () => [...new Set([gaps, repeats].flatMap((some) => Object.keys(some.toJSON())))].filter((id) => id !== EVERYBODY),
});

/** @param {Pick<import('./intervals').Interval, 'fromMs'|'toMs'>} part @param {number} nowMs */
const fromTo = ({ fromMs, toMs }, nowMs) =>
  `${Number.isFinite(fromMs) ? `from ${new Date(fromMs).toISOString()} ` : ''}to ${new Date(Math.min(toMs, nowMs)).toISOString()}`;

module.exports = { createUndecided };
