// @ts-check
'use strict';

const { createRecentBatches } = require('../intake/recent-batches');

/**
 * What arrives while the time before a start is located. At a moment that `probe.js` chooses, the database has all that arrived before;
 * what arrives from then on is kept here, so that both together are everything. And what arrives of a time that is read already, and
 * was not heard there, is late. So is what arrived before that moment and was not heard: not every broker keeps the order after a
 * kill, and a probe may overtake readings on their way to the database. Pure.
 * @typedef {import('../intake/readings').Batch} Batch
 */

const KEPT_BATCHES = 50_000; // 20 s of 10,000 phones: the database is rarely a second behind
const OLD_MS = 10_000; // what is older on arrival was queued in the broker
const POLL_MS = 1000;

/**
 * @param {(batch: Batch) => void} onLate
 * @param {number} startedMs
 * @param {number} [bound] batches kept
 */
function createIncoming(onLate, startedMs, bound = KEPT_BATCHES) {
  /** @type {Batch[]|null} */
  let kept = null;
  let overflowed = false;
  let look = { fromMs: 0, fresh: 0, old: 0 };
  let drainingMs = -Infinity;
  let recentBatches = createRecentBatches();
  let beganMs = -Infinity;
  /** What is older is read, or never will be. */
  let readMs = -Infinity;
  /** Up to here it is being read. */
  let readingMs = startedMs;
  /** @type {Set<Batch>} of a time that is being read: it may be heard there yet */
  let open = new Set();
  /** @type {Set<Batch>} of a time that will be read */
  let awaited = new Set();

  /** @param {Batch} batch @param {number} nowMs @param {boolean} stored whether one of its beacons is registered */
  function hear(batch, nowMs, stored) {
    if (stored) {
      const isOver = batch.ts < readingMs;
      const waiting = isOver ? open : awaited;
      if (batch.ts >= readMs && waiting.size < bound) waiting.add(batch);
      else if (isOver) lateUnlessHeard(batch);
    }
    if (kept) {
      if (kept.length >= bound) {
        kept = [];
        overflowed = true;
      }
      kept.push(batch);
    }
    if (nowMs - look.fromMs > POLL_MS) look = { fromMs: nowMs, fresh: 0, old: 0 };
    if (batch.ts < nowMs - OLD_MS) look.old += 1;
    else look.fresh += 1;
    if (look.old > look.fresh) drainingMs = nowMs;
  }

  /** @param {Batch} batch */
  function lateUnlessHeard(batch) {
    if (!recentBatches.knows(batch)) onLate(batch);
  }

  return {
    hear,
    /** From here on the past is read. @param {number} ms */
    begin(ms) {
      recentBatches = createRecentBatches();
      beganMs = readMs = readingMs = ms;
      awaited = new Set([...open, ...awaited]);
      open = new Set();
      for (const batch of awaited) if (batch.ts < ms && awaited.delete(batch)) onLate(batch);
    },
    /** What is read next ends here, and all before is read. @param {number} ms */
    onSliceStart(ms) {
      [readMs, readingMs] = [readingMs, Math.max(readingMs, ms)];
      for (const batch of awaited) if (batch.ts < readingMs && awaited.delete(batch)) open.add(batch);
      for (const batch of open) if (batch.ts < readMs && open.delete(batch)) lateUnlessHeard(batch);
    },
    /** One out of the past. @param {Batch} batch */
    replayed(batch) { if (batch.ts >= beganMs) recentBatches.isRepeated(batch); },
    /** Whether it was given to `replayed`. @param {Batch} batch */
    wasReplayed: (batch) => recentBatches.knows(batch),
    /** The past is through. */
    end() {
      for (const waiting of [open, awaited]) waiting.forEach(lateUnlessHeard);
      [open, awaited] = [new Set(), new Set()];
    },
    /** Keep everything from now on. */
    keep() {
      kept = [];
      overflowed = false;
    },
    /** What was kept since the last call, in the order of arrival; null when it was too much. @returns {Batch[]|null} */
    take() {
      const taken = overflowed ? null : kept;
      kept = [];
      return taken;
    },
    /** Whether the broker is still delivering what it queued. @param {number} nowMs */
    draining: (nowMs) => nowMs - drainingMs < POLL_MS,
  };
}

module.exports = { createIncoming };
