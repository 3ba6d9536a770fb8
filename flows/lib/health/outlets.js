// @ts-check
'use strict';

/**
 * Whether what waits on disk is passed on: to Telegraf, and by the spool into each bucket of InfluxDB. Each outlet is asked for itself:
 * that one works says nothing about another. Pure.
 * @typedef {{waiting_lines: number, oldest_ms: number|null, fault: string, fault_ms?: number|null}} Outlet as the spool reports it
 *   (`health/spool.js`); fault_ms: since when
 * @typedef {{name: string, reason: string, since_ms: number, waiting_lines: number, slow: boolean}} Standing an outlet that passes
 *   nothing on, or slowly
 * @typedef {ReturnType<typeof createOutlets>} Outlets
 */

/**
 * So long a fault lasts before it counts, and so old the oldest is, with nothing passed on, when the outlet stands still: what waits is
 * passed on within a second, and InfluxDB is started again in one or two. Telegraf takes some more: it connects to the broker, too.
 */
const LIMITS = { faultMs: 3000, stillMs: 5000 };
const LIMITS_OF_TELEGRAF = { faultMs: 6000, stillMs: 6000 };

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
          faultMs: outlet.fault === '' ? null : Math.min(outlet.fault_ms ?? nowMs, before?.faultMs ?? nowMs) });
      }
    },
    /** Outlets that stand still, the one that does so for longest first. @param {number} nowMs @returns {Standing[]} */
    standing: (nowMs) => [...known].flatMap(([name, { outlet, passedMs, faultMs }]) => {
      const waitsMs = nowMs - (outlet.oldest_ms ?? nowMs);
      const limits = name === 'messages' ? LIMITS_OF_TELEGRAF : LIMITS;
      const passes = nowMs - passedMs < limits.stillMs - 1000;
      const isStill = waitsMs >= limits.stillMs && !passes;
      if (!isStill && (faultMs === null || nowMs - faultMs < limits.faultMs)) return [];
      const sinceMs = Math.min(outlet.oldest_ms ?? nowMs, faultMs ?? nowMs);
      return [{ name, reason: outlet.fault || 'what waits is not passed on', since_ms: sinceMs, waiting_lines: outlet.waiting_lines,
        slow: !isStill && passes }];
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
