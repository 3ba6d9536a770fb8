// @ts-check
'use strict';

const { counterIncrease } = require('../health/metrics/counter-increase');

/**
 * Readings that gateways lost, summed since our start. The counters of a gateway start at 0 with each of its starts.
 * @typedef {import('./gateways').Health} Health
 */

/** Reasons as in `dropped_<reason>`: too old, no space left, clock not set, disk error. */
const REASONS = /** @type {const} */ (['age', 'size', 'time', 'disk']);

function createLosses() {
  /** @type {Record<string, number>} */
  const byReason = Object.fromEntries(REASONS.map((reason) => [reason, 0]));

  return {
    /** @param {Health|null} before null: its first message, whose losses happened before @param {Health} now */
    add(before, now) {
      if (!before) return;
      for (const reason of REASONS) {
        const lost = (/** @type {Health} */ health) => Number(health[`dropped_${reason}`] ?? 0);
        byReason[reason] = (byReason[reason] ?? 0) + counterIncrease(lost(before), lost(now));
      }
    },
    byReason: () => ({ ...byReason }),
  };
}

module.exports = { createLosses };
