// @ts-check
'use strict';

const { stepsDone } = require('./steps');

/** Health is read this often. */
const HEALTH_MS = 1000;

/**
 * The status for every page: people on each level, and the parts of health.
 * @param {import('./topics').Context} context
 */
function createStatus({ site, alerts, health, keys }) {
  let healthMs = -Infinity;
  let received = { messages: 0, ms: /** @type {number|null} */ (null) };
  /** @type {{id: string, status: string, reason?: string, remedy?: string}[]} */
  let parts = [];

  /** @param {number} nowMs */
  function readHealth(nowMs) {
    healthMs = nowMs;
    parts = Object.entries(health(nowMs).parts).map(([id, { status, reason, remedy }]) => ({ id, status, reason, remedy }));
  }

  /**
   * @param {number} nowMs
   * @param {import('./people').Presence[]} presences
   * @returns {{building: string, counts: Record<string, number>, lost: number, heard_ms: number|null, alerts: number,
   *   simulated: number, steps: import('./steps').Steps, parts: typeof parts}}
   *   counts by level id, without lost people; heard_ms: when the last readings came in, null: none since the start; alerts: active
   *   and not acknowledged; simulated: people here that a simulator plays
   */
  return (nowMs, presences) => {
    if (nowMs - healthMs >= HEALTH_MS) readHealth(nowMs);
    const { messages } = site.live.counters();
    if (messages !== received.messages) received = { messages, ms: nowMs };
    /** @type {Record<string, number>} */
    const counts = {};
    let lost = 0;
    for (const { level, state } of presences) {
      if (state === 'lost') lost += 1;
      else counts[level] = (counts[level] ?? 0) + 1;
    }
    return { building: site.building().digest, counts, lost, heard_ms: received.ms, alerts: alerts.open(),
      simulated: site.live.simulated.count(presences, nowMs), steps: stepsDone(site, keys?.records() ?? [], nowMs), parts };
  };
}

module.exports = { createStatus };
