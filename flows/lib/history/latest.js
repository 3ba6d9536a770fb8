// @ts-check
'use strict';

const { isTaskCancelledError, timeout, TimeoutStrategy } = require('cockatiel');
const { StoreBusy } = require('../store');
const { LATEST_MS } = require('./index');

/**
 * Everybody's latest location of the last quarter of an hour. Memory answers first; InfluxDB answers for people not in memory. One query
 * for the time before memory serves all callers. It is repeated every 5 s while that time is being located, then every 60 s: only late
 * readings change it then, and what is located once more is in memory.
 * @typedef {import('../store').Sighting} Sighting
 * @typedef {{locations: Sighting[], completeMs: number, keptMs: number}} Before completeMs: up to when everybody is among them, epoch ms;
 *   keptMs: so long it is not asked again
 */

const KEPT_MS = 5000;
const SETTLED_KEPT_MS = 60_000;
/** So long a caller waits for the first answer; who comes later finds it. */
/** Locations are newer by no more, unless our clock was set back. */
const AHEAD_MS = 5000;
const timeoutPolicy = timeout(800, TimeoutStrategy.Aggressive);

/**
 * @param {{site: Pick<import('../site').Site, 'history'>, store: Pick<import('../store').Store, 'latest'>, clock: () => number,
 *   settledMs?: import('../coverage').Coverage['settledMs']}} deps
 */
function createLatest({ site, store, clock, settledMs = (nowMs) => nowMs }) {
  /** @type {Before|null} */
  let before = null;
  /** @type {Promise<Before>|null} */
  let asking = null;
  let askedMs = -Infinity;

  /** @param {number} fromMs @param {number} completeMs */
  function ask(fromMs, completeMs) {
    askedMs = clock();
    const keptMs = settledMs(askedMs) < completeMs ? KEPT_MS : SETTLED_KEPT_MS;
    asking = store.latest(fromMs, completeMs).then((locations) => (before = { locations, completeMs, keptMs }));
    asking.catch(() => {}).finally(() => { asking = null; });
    return asking;
  }

  /** @param {number} fromMs @returns {Promise<Before>} */
  async function lookBefore(fromMs) {
    const completeMs = site.history.latestCompleteFrom();
    if (before && before.completeMs >= completeMs) {
      if (!asking && clock() - askedMs >= before.keptMs) ask(fromMs, completeMs);
      return before;
    }
    return timeoutPolicy.execute(() => asking ?? ask(fromMs, completeMs)).catch((error) => {
      throw isTaskCancelledError(error) ? new StoreBusy('InfluxDB is still looking for them') : error;
    });
  }

  /** @returns {Promise<Sighting[]>} in no order */
  return async function latest() {
    const nowMs = clock();
    const fromMs = nowMs - LATEST_MS;
    const known = site.history.latestSince(fromMs, nowMs + AHEAD_MS);
    const found = new Map(known.map((location) => [location.staff_id, /** @type {Sighting} */ (location)]));
    if (fromMs >= site.history.latestCompleteFrom()) return [...found.values()];
    for (const location of (await lookBefore(fromMs)).locations) {
      const newer = found.get(location.staff_id);
      if (location.ts >= fromMs && !(newer && newer.ts >= location.ts)) found.set(location.staff_id, location);
    }
    return [...found.values()];
  };
}

module.exports = { createLatest };
