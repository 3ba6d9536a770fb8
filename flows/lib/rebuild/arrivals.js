// @ts-check
'use strict';

/**
 * What arrives while the past is being rebuilt. What arrived before a batch that the database has, the database has too:
 * Telegraf keeps the order. What arrived after it is kept here, so that both together are everything. Pure.
 * @typedef {import('../intake/readings').Batch} Batch
 */

const KEPT_BATCHES = 50_000; // 20 s of 10,000 phones: the database is rarely a second behind
const OLD_MS = 10_000; // what is older on arrival was queued in the broker
const LOOK_MS = 1000;

/** @param {number} [bound] batches kept */
function createArrivals(bound = KEPT_BATCHES) {
  /** @type {Batch|null} the newest that will be stored */
  let newest = null;
  /** @type {Batch[]|null} */
  let kept = null;
  let overflowed = false;
  let look = { fromMs: 0, fresh: 0, old: 0 };
  let drainingMs = -Infinity;

  /** @param {Batch} batch @param {number} nowMs @param {boolean} stored whether one of its beacons is registered */
  function hear(batch, nowMs, stored) {
    if (stored) newest = batch;
    if (kept) {
      if (kept.length >= bound) {
        kept = [];
        overflowed = true;
      }
      kept.push(batch);
    }
    if (nowMs - look.fromMs > LOOK_MS) look = { fromMs: nowMs, fresh: 0, old: 0 };
    if (batch.ts < nowMs - OLD_MS) look.old += 1;
    else look.fresh += 1;
    if (look.old > look.fresh) drainingMs = nowMs;
  }

  return {
    hear,
    newest: () => newest,
    /** Keep everything from the newest batch on, which is also returned. @returns {Batch|null} */
    keep() {
      kept = newest ? [newest] : [];
      overflowed = false;
      return newest;
    },
    /** What was kept since the last call, in the order of arrival; null when it was too much. @returns {Batch[]|null} */
    take() {
      const taken = overflowed ? null : kept;
      kept = [];
      return taken;
    },
    /** Whether the broker is still delivering what it queued. @param {number} nowMs */
    draining: (nowMs) => nowMs - drainingMs < LOOK_MS,
  };
}

module.exports = { createArrivals };
