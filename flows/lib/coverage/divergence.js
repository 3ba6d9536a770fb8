// @ts-check
'use strict';

const { createIntervals, LOCATED, WAITING } = require('./intervals');

/**
 * When the locator of the present knew something else than one that heard every reading in time. Pure.
 * @typedef {import('./intervals').Intervals} Intervals
 * @typedef {import('.').Part} Part
 */

/** Located once more after a start: what a killed broker forgot (30 s), and who was about to be lost (60 s). */
const MARGIN_MS = 90_000;
/** The place of a moment is decided and published by then. */
const FINAL_AFTER_MS = 15_000;
/** Late readings that are newer than this are located up to the present … */
const CATCH_UP_WITHIN_MS = 30 * 60_000;
/** … and older ones with so much time before and after them: they hardly ever change more. */
const REBUILD_PADDING_MS = 2 * 60_000;

/** Copies of the locator's state are hardly ever kept for longer. */
const REMEMBERED_MS = 2 * 3_600_000;

/**
 * @param {unknown} kept what `toJSON` said
 * @param {Pick<Intervals, 'everybody'|'has'>} gaps @param {import('./repeats').Repeats} repeats
 */
function createDivergence(kept, gaps, repeats) {
  /** People whose readings the locator of the present missed, from the first of them until it went on from one that heard them. */
  const missed = createIntervals(kept);

  return {
    /** @param {string} id of a person @param {number} ts of readings that came late @param {number} nowMs */
    begin(id, ts, nowMs) { if (ts > nowMs - CATCH_UP_WITHIN_MS) missed.mark(ts, Infinity, WAITING, [id]); },
    /** Late readings of these people are located. @param {string[]} ids @param {number} nowMs */
    end(ids, nowMs) { missed.mark(nowMs, Infinity, LOCATED, ids.filter((id) => !gaps.has(id))); },
    /** @param {number} nowMs */
    prune: (nowMs) => missed.prune(nowMs - REMEMBERED_MS),
    toJSON: missed.toJSON,
    asked: {
      /** Whether the locator of the present knew all of these people then. @param {number} ms @param {string[]} staff [] of everybody */
      knewAll: (ms, staff) => missed.firstGap(ms, ms + 1, staff) === null,
      /** People whose readings of then it missed and knew later, and since when. @param {number} ms @returns {Part[]} */
      missedAt: (ms) => missed.named().filter(({ id, fromMs, toMs }) => fromMs <= ms && ms < toMs && !gaps.has(id))
        .map(({ id, fromMs, toMs }) => ({ fromMs, toMs, staff: [id] })),
      /** Since when it may miss something of everybody, epoch ms; Infinity: it does not. The last gap is the present. */
      divergedSince: () => Math.min(gaps.everybody().slice(0, -1)[0]?.fromMs ?? Infinity, repeats.everybodySince()),
      /** Nothing before this is to be located for everybody, but by hand, epoch ms. */
      neededSince: () => Math.min((gaps.everybody()[0]?.fromMs ?? Infinity) - MARGIN_MS, repeats.everybodySince()),
    },
  };
}

module.exports = { createDivergence, CATCH_UP_WITHIN_MS, FINAL_AFTER_MS, MARGIN_MS, REBUILD_PADDING_MS };
