// @ts-check
'use strict';

/**
 * Whether more comes in than the flows can locate. Then the newest batch of each receiver goes first, and the others are located later.
 * @typedef {{ts: number, messages: number, located_later: number}} Sample ts: epoch ms; counters since the start
 * @typedef {ReturnType<typeof createOverload>} Overload
 */

/** Rates are of this time. */
const WINDOW_MS = 30_000;
/** An overload that comes and goes is one; but a moment of it raises no alert, which comes after ten seconds. */
const HOLD_MS = 5000;
/** So old is what is located in time: the second that it is about. */
const IN_TIME_MS = 1000;

/**
 * @param {object} deps
 * @param {Pick<import('../live/newest-first').NewestFirst, 'isBehind'|'waitedMs'|'size'>} deps.queue
 * @param {() => {messages: number, located_later: number}} deps.counters
 * @param {() => number|null} deps.liveLagMs median of the last interval; null: nothing was located
 */
function createOverload({ queue, counters, liveLagMs }) {
  /** @type {Sample[]} */
  let samples = [];
  let skipped = 0;
  let skippedMs = -Infinity;

  /** Whether something was skipped just now: a queue that only is long for a moment is none. @param {number} nowMs */
  function isOverloaded(nowMs) {
    const { located_later: later } = counters();
    if (later > skipped) [skipped, skippedMs] = [later, nowMs];
    return nowMs - skippedMs < HOLD_MS;
  }

  return {
    /** To be called every few seconds. @param {number} nowMs */
    tick(nowMs) {
      isOverloaded(nowMs);
      const { messages, located_later: later } = counters();
      samples = [...samples.filter(({ ts }) => nowMs - ts <= WINDOW_MS), { ts: nowMs, messages, located_later: later }];
    },
    /** Part of /health. @param {number} nowMs @returns {import('./index').Part} */
    part(nowMs) {
      const overloaded = isOverloaded(nowMs);
      const { messages, located_later: later } = counters();
      const rates = ratesOf([...samples, { ts: nowMs, messages, located_later: later }]);
      const oldMs = Math.max(queue.waitedMs(), (liveLagMs() ?? 0) - IN_TIME_MS, 0);
      const figures = { overloaded, ...rates, behind_by_s: Math.round(oldMs / 100) / 10, waiting: queue.size(), located_later: later };
      if (!overloaded) return { status: 'up', ...figures };
      return { status: 'degraded', ...figures, reason: reasonOf(figures),
        remedy: 'more comes in than this machine can locate: fewer messages, or a larger machine; each receiver\'s newest batch is '
          + 'located at once, and the others from the database when this is over' };
    },
    /** @type {import('./metrics/figures').Figure[]} */
    figures: [
      { name: 'located_later', kind: 'counter', help: 'Batches that the live view left out under overload; they are located from the database',
        read: () => counters().located_later },
      { name: 'live_waiting', kind: 'gauge', help: 'Checked batches that wait to be located', read: () => queue.size() },
      { name: 'newest_first', kind: 'gauge', help: '1: more comes in than can be located, so each receiver\'s newest batch goes first',
        read: () => Number(queue.isBehind()) },
    ],
  };
}

/** "overloaded: offered 9000/s, taken 6000/s, behind by 0.8 s; located later: 90000 batches".
 * @param {{offered_per_s: number|null, taken_per_s: number|null, behind_by_s: number, located_later: number}} figures */
const reasonOf = ({ offered_per_s: offered, taken_per_s: taken, behind_by_s: behind, located_later: later }) =>
  `overloaded: offered ${offered ?? '?'}/s, taken ${taken ?? '?'}/s, behind by ${behind} s; located later: ${later} batches`;

/** @param {Sample[]} samples ascending @returns {{offered_per_s: number|null, taken_per_s: number|null}} messages a second, whole */
function ratesOf(samples) {
  const [first, last] = [/** @type {Sample} */ (samples[0]), /** @type {Sample} */ (samples.at(-1))];
  const seconds = (last.ts - first.ts) / 1000;
  if (seconds < 1) return { offered_per_s: null, taken_per_s: null };
  const [offered, later] = [last.messages - first.messages, last.located_later - first.located_later];
  return { offered_per_s: Math.round(offered / seconds), taken_per_s: Math.round(Math.max(offered - later, 0) / seconds) };
}

module.exports = { createOverload, HOLD_MS };
