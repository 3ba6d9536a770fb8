// @ts-check
'use strict';

/**
 * Up to when InfluxDB has what the live path located. It has everything a second or two after it was published, and the flows'
 * heartbeat that comes back says so. After an interruption heartbeats come back before locations do, so what was published by
 * then is waited for.
 */

/** A heartbeat comes every five seconds. */
const ALIVE_MS = 15_000;
/** What has not arrived by then, with everything working, never will. */
const GIVEN_UP_MS = 15 * 60_000;
const POLL_MS = 1000;

/**
 * @typedef {ReturnType<typeof createStored>} Stored
 * @param {object} deps
 * @param {(fromMs: number) => Promise<number|null>} deps.newestStored time of the newest location that is stored since then
 * @param {() => number} deps.newestPublished time of the newest location that was published, epoch ms
 * @param {(toMs: number) => void} deps.onLost what was published up to then never arrived
 * @param {number} startedMs
 */
function createStored({ newestStored, newestPublished, onLost }, startedMs) {
  let aliveMs = startedMs;
  let untilMs = startedMs;
  let held = false;
  /** When this is stored, so is all before it, and since when that is waited for. @type {{ms: number, sinceMs: number}|null} */
  let awaited = null;
  let lookedMs = 0;

  return {
    /** A heartbeat of this time came back; to be called once a second or more often. @param {number} readBackMs @param {number} nowMs */
    async tick(readBackMs, nowMs) {
      held ||= nowMs - aliveMs > ALIVE_MS;
      aliveMs = Math.max(aliveMs, readBackMs);
      if (!held) untilMs = aliveMs;
      else if (nowMs - aliveMs > ALIVE_MS) awaited = null;
      else if (nowMs - lookedMs >= POLL_MS) {
        lookedMs = nowMs;
        awaited ??= { ms: newestPublished(), sinceMs: nowMs };
        const { ms, sinceMs } = awaited;
        const stored = ms < untilMs ? ms : await newestStored(untilMs).catch(() => null);
        const lost = stored === null || stored < ms;
        if (lost && nowMs - sinceMs < GIVEN_UP_MS) return;
        if (lost) onLost(sinceMs);
        held = false;
        awaited = null;
        untilMs = aliveMs;
      }
    },
    /** Everything before is stored, epoch ms. */
    untilMs: () => untilMs,
    /** Whether an interruption is not over yet. @param {number} nowMs */
    isHeld: (nowMs) => held || nowMs - aliveMs > ALIVE_MS,
    /** Since when ingest works again, but locations are still on their way; null: they are not. */
    awaitedSinceMs: () => awaited?.sinceMs ?? null,
    /** Time of the newest heartbeat that came back, or of the start, epoch ms. */
    aliveMs: () => aliveMs,
  };
}

module.exports = { createStored, ALIVE_MS, GIVEN_UP_MS };
