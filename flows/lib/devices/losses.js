// @ts-check
'use strict';

const { grown } = require('../health/metrics/grown');

/**
 * What gateways collected and lost, added up since our start. Each tells counters of its own, which begin anew with it.
 * @typedef {import('./gateways').Health} Health
 */

/** As gateways call them (`dropped_age`): too old, no space left, no right time, disk refused. */
const REASONS = /** @type {const} */ (['age', 'size', 'time', 'disk']);

function createLosses() {
  /** @type {Record<string, number>} */
  const byReason = Object.fromEntries(REASONS.map((reason) => [reason, 0]));

  return {
    /** @param {Health|null} before null: it has told nothing yet, so what it lost is of before @param {Health} now */
    add(before, now) {
      if (!before) return;
      for (const reason of REASONS) {
        const lost = (/** @type {Health} */ health) => Number(health[`dropped_${reason}`] ?? 0);
        byReason[reason] = (byReason[reason] ?? 0) + grown(lost(before), lost(now));
      }
    },
    byReason: () => ({ ...byReason }),
  };
}

module.exports = { createLosses };
