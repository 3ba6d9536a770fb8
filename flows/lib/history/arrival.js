// @ts-check
'use strict';

/**
 * Up to when the database has what was located. It has everything a second or two after it was told; but when ingest was
 * interrupted for longer than memory reaches back, there is a time of which memory has nothing any more and the database
 * nothing yet. Whoever asks for that time is told to come again, instead of being answered as if nothing had been.
 */

/** Of the five minutes that memory holds; what is told in the last of them is on its way. */
const INTERRUPTED_MS = 4 * 60_000;
/** A heartbeat comes every five seconds. */
const ALIVE_MS = 15_000;
const LOOK_MS = 1000;
/** What has not arrived by then, with everything working, never will. */
const GIVEN_UP_MS = 15 * 60_000;

/**
 * @typedef {ReturnType<typeof createArrival>} Arrival
 * @param {object} means
 * @param {(fromMs: number) => Promise<number|null>} means.newestStored time of the newest location that is stored since then
 * @param {() => number} means.newestTold time of the newest location that was told, epoch ms
 * @param {number} startedMs
 * @param {number} [interruptedMs] so long an interruption is bridged by memory
 */
function createArrival({ newestStored, newestTold }, startedMs, interruptedMs = INTERRUPTED_MS) {
  let aliveMs = startedMs;
  /** Up to when the database has everything, while it does not have the rest. @type {number|null} */
  let heldMs = null;
  /** When this is stored, so is all before it. @type {number|null} */
  let awaitedMs = null;
  let sinceMs = 0;
  let lookedMs = 0;

  /** @param {number} nowMs */
  function notice(nowMs) {
    if (heldMs === null && nowMs - aliveMs > interruptedMs) heldMs = aliveMs;
  }

  return {
    /** A heartbeat of this time came back from the database. @param {number} ms @param {number} nowMs */
    beat(ms, nowMs) {
      notice(nowMs);
      aliveMs = Math.max(aliveMs, ms);
    },
    /** Time of the newest heartbeat that came back, or of the start, epoch ms. */
    aliveMs: () => aliveMs,
    /** To be called about once a second, or more often. @param {number} nowMs */
    async look(nowMs) {
      notice(nowMs);
      if (heldMs === null || nowMs - lookedMs < LOOK_MS) return;
      lookedMs = nowMs;
      if (nowMs - aliveMs > ALIVE_MS) {
        awaitedMs = null;
        return;
      }
      if (awaitedMs === null) [awaitedMs, sinceMs] = [newestTold(), nowMs];
      const stored = awaitedMs < heldMs ? awaitedMs : await newestStored(heldMs).catch(() => null);
      if ((stored === null || stored < awaitedMs) && nowMs - sinceMs < GIVEN_UP_MS) return;
      heldMs = null;
      awaitedMs = null;
    },
    /** @param {number} nowMs @returns {number} epoch ms */
    storedUntilMs(nowMs) {
      notice(nowMs);
      return heldMs ?? Infinity;
    },
  };
}

module.exports = { createArrival, ALIVE_MS, GIVEN_UP_MS, INTERRUPTED_MS };
