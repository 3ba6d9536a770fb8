// @ts-check
'use strict';

/**
 * Whether what waits on disk is passed on: to Telegraf, and by the spool into each bucket of InfluxDB. Each outlet is asked for itself:
 * that one works says nothing about another. Pure.
 * @typedef {{waiting_lines: number, oldest_ms: number|null, fault: string}} Outlet as the spool reports it (`health/spool.js`)
 * @typedef {{name: string, reason: string, since_ms: number, waiting_lines: number, slow: boolean}} Standing an outlet that passes
 *   nothing on, or slowly
 * @typedef {ReturnType<typeof createOutlets>} Outlets
 */

/** A fault lasts this long before it counts: InfluxDB and Telegraf are started again in one or two seconds. */
const FAULT_MS = 3000;
/** What waits is passed on within a second. When nothing is passed on and the oldest is this old, the outlet stands still. */
const STILL_MS = 5000;

/** @type {Record<string, string>} */
const WHAT = { messages: 'readings for Telegraf', readings: 'readings', locations: 'locations and events', health: 'figures of health' };

function createOutlets() {
  /** @type {Map<string, {outlet: Outlet, passedMs: number, faultMs: number|null}>} faultMs: since when there is a fault */
  const known = new Map();

  return {
    /** What the spool reports, at least every two seconds. @param {Record<string, Outlet>} outlets by name @param {number} nowMs */
    see(outlets, nowMs) {
      for (const name of known.keys()) if (!(name in outlets)) known.delete(name);
      for (const [name, outlet] of Object.entries(outlets)) {
        const before = known.get(name);
        const passes = outlet.oldest_ms === null || outlet.oldest_ms !== before?.outlet.oldest_ms;
        known.set(name, { outlet, passedMs: passes || !before ? nowMs : before.passedMs,
          faultMs: outlet.fault === '' ? null : before?.faultMs ?? nowMs });
      }
    },
    /** Outlets that stand still, the one that does so for longest first. @param {number} nowMs @returns {Standing[]} */
    standing: (nowMs) => [...known].flatMap(([name, { outlet, passedMs, faultMs }]) => {
      const waitsMs = nowMs - (outlet.oldest_ms ?? nowMs);
      const isStill = waitsMs >= STILL_MS && nowMs - passedMs >= STILL_MS - 1000;
      if (!isStill && (faultMs === null || nowMs - faultMs < FAULT_MS)) return [];
      const sinceMs = Math.min(outlet.oldest_ms ?? nowMs, faultMs ?? nowMs);
      return [{ name, reason: outlet.fault || 'what waits is not passed on', since_ms: sinceMs, waiting_lines: outlet.waiting_lines,
        slow: !isStill && nowMs - passedMs < STILL_MS - 1000 }];
    }).sort((a, b) => a.since_ms - b.since_ms),
    /** What waits in each, and since when. @returns {Record<string, {waiting_lines: number, oldest_ms: number|null}>} */
    waiting: () => Object.fromEntries([...known].map(([name, { outlet: { waiting_lines: lines, oldest_ms: ms } }]) => (
      [name, { waiting_lines: lines, oldest_ms: ms }]))),
  };
}

/** "readings for 12 s (InfluxDB answers 500), 2143 lines wait; …" @param {Standing[]} standing @param {number} nowMs */
const inWords = (standing, nowMs) => standing.map(({ name, reason, since_ms: since, waiting_lines: lines }) => (
  `${WHAT[name] ?? name} for ${Math.round((nowMs - since) / 1000)} s (${reason}; ${lines} lines wait)`)).join('; ');

module.exports = { createOutlets, inWords };
