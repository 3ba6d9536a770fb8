// @ts-check
'use strict';

const { stepsDone } = require('./steps');

/** What changes slowly is looked at this often. */
const LOOK_MS = 1000;

/**
 * How things stand, for every page: how many people are on each level, and what is not working.
 * @param {import('./topics').Context} context
 */
function createStatus({ site, alerts, health, keys }) {
  let lookedMs = -Infinity;
  let heard = { messages: 0, ms: /** @type {number|null} */ (null) };
  /** @type {{id: string, status: string, reason?: string, remedy?: string}[]} */
  let parts = [];

  /** @param {number} nowMs */
  function look(nowMs) {
    lookedMs = nowMs;
    parts = Object.entries(health(nowMs).parts).map(([id, { status, reason, remedy }]) => ({ id, status, reason, remedy }));
  }

  /**
   * @param {number} nowMs
   * @param {import('./people').Presence[]} presences
   * @returns {{building: string, counts: Record<string, number>, lost: number, heard_ms: number|null, alerts: number,
   *   simulated: number, steps: import('./steps').Steps, parts: typeof parts}}
   *   counts by level id, without who is lost; heard_ms: when the last readings came in, null: none since the start; alerts: how many go on
   *   that nobody has acknowledged; simulated: how many of those who are here a simulator plays
   */
  return (nowMs, presences) => {
    if (nowMs - lookedMs >= LOOK_MS) look(nowMs);
    const { messages } = site.counters();
    if (messages !== heard.messages) heard = { messages, ms: nowMs };
    /** @type {Record<string, number>} */
    const counts = {};
    let lost = 0;
    for (const { level, state } of presences) {
      if (state === 'lost') lost += 1;
      else counts[level] = (counts[level] ?? 0) + 1;
    }
    return { building: site.building().digest, counts, lost, heard_ms: heard.ms, alerts: alerts.open(),
      simulated: site.simulated.count(presences, nowMs), steps: stepsDone(site, keys?.records() ?? [], nowMs), parts };
  };
}

module.exports = { createStatus };
