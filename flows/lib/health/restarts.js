// @ts-check
'use strict';

/**
 * When a part may be started again for a change: Telegraf after another building, the broker after a break of its connection. What it
 * lacks in these seconds is no fault. Pure.
 */

const RESTART_MS = 20_000;

/** @param {{live: {buildingSinceMs: () => number}, connected: () => boolean}} site */
function createRestarts(site) {
  let brokenMs = -Infinity;
  return {
    /** Called every second. @param {number} nowMs */
    look(nowMs) { if (!site.connected()) brokenMs = nowMs; },
    /** @param {number} nowMs */
    isRestarting: (nowMs) => nowMs - Math.max(site.live.buildingSinceMs(), brokenMs) < RESTART_MS,
  };
}

module.exports = { createRestarts };
