// @ts-check
'use strict';

/**
 * Whether who locates the present may know something else than one that heard every reading in time. Pure.
 * @typedef {import('./intervals').Intervals} Intervals
 */

/** Located once more after a start: what a killed broker forgot (30 s), and who was about to be lost (60 s). */
const MARGIN_MS = 90_000;
/** The place of a moment is decided and published by then. */
const DECIDED_MS = 15_000;
/** Late readings are followed up to the present if they are newer than this … */
const FOLLOWED_MS = 30 * 60_000;
/** … and else for so long: it is hardly ever decided otherwise for longer. */
const ASIDE_MS = 2 * 60_000;

/**
 * @param {Pick<Intervals, 'everybody'|'named'>} gaps @param {import('./repeats').Repeats} repeats
 */
const divergenceOf = (gaps, repeats) => ({
  /** Of whom some readings were not heard in time. */
  diverged: () => [...new Set([...gaps.named().map(({ id }) => id), ...repeats.people()])],
  /** Since when that may be so of everybody, epoch ms; Infinity: it is not. The last gap is the present. */
  divergedSince: () => Math.min(gaps.everybody().slice(0, -1)[0]?.fromMs ?? Infinity, repeats.everybodySince()),
  /** Nothing before this is to be located for everybody, but by hand, epoch ms. */
  neededSince: () => Math.min((gaps.everybody()[0]?.fromMs ?? Infinity) - MARGIN_MS, repeats.everybodySince()),
});

module.exports = { divergenceOf, ASIDE_MS, DECIDED_MS, FOLLOWED_MS, MARGIN_MS };
