// @ts-check
'use strict';

const { BrokerUnavailable } = require('../broker/outbox');
const { probeMessage } = require('../live/readings');
const { StoreUnavailable } = require('../store/influx');

/**
 * How work in the background behaves: it leaves the event loop to others at least half of the time, tries again what
 * failed because a part is away, and ends when it is stopped.
 * @typedef {ReturnType<typeof createBackground>} Background
 */

const PIECE_MS = 8; // a reading that arrives meanwhile waits that long
const LONGEST_PIECE_MS = 50; // more is no work of ours but waiting for another one
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** Readings of now that wait less are in time. */
const IN_TIME_MS = 100;
const REST_MS = 50;
/** One piece of work in that time, or it would not end where something always waits. */
const LONGEST_REST_MS = 1000;

class Stopped extends Error {}

/**
 * @param {(fault: string) => void} onFault what hinders at the moment; '' when it goes on
 * @param {(ms: number) => Promise<void>} sleep
 * @param {() => number} nowMs a clock that only goes on
 */
function createBackground(onFault, sleep, nowMs = () => performance.now()) {
  let stopped = false;
  let sinceMs = nowMs();

  /** @param {number} ms */
  async function pause(ms) {
    if (!stopped) await sleep(ms);
    sinceMs = nowMs();
    if (stopped) throw new Stopped('stopped');
  }

  return {
    pause,
    /** Work begins after having waited for something. */
    begin: () => { sinceMs = nowMs(); },
    /** To be called often: lets others work for as long as was worked here. @param {number} [pieceMs] if it was that long */
    async yieldIfDue(pieceMs = PIECE_MS) {
      const workedMs = nowMs() - sinceMs;
      if (workedMs >= pieceMs) await pause(Math.min(workedMs, LONGEST_PIECE_MS));
    },
    /**
     * Again and again, for as long as a part is away.
     * @template T @param {() => Promise<T>} work @returns {Promise<T>}
     */
    async retry(work) {
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
        if (stopped) throw new Stopped('stopped');
        try {
          const result = await work();
          if (waitMs > FIRST_WAIT_MS) onFault('');
          return result;
        } catch (error) {
          if (!(error instanceof StoreUnavailable || error instanceof BrokerUnavailable)) throw error;
          onFault(error.message);
        }
        await pause(waitMs);
      }
    },
    stop: () => { stopped = true; },
    stopped: () => stopped,
  };
}

/**
 * The present goes before the past: the work rests while readings of now wait, so that it never makes them wait until some are skipped.
 * @param {(ms: number) => Promise<void>} sleep
 * @param {() => number} waitedMs how long the first reading in line has waited
 * @returns {(ms: number) => Promise<void>} a longer sleep where readings wait
 */
const yieldToLive = (sleep, waitedMs) => async (ms) => {
  await sleep(ms);
  for (let restedMs = 0; waitedMs() > IN_TIME_MS && restedMs < LONGEST_REST_MS; restedMs += REST_MS) await sleep(REST_MS);
};

/**
 * Whether InfluxDB has all readings that the broker has acknowledged. A probe is a batch without readings, which takes their way: the
 * broker and Telegraf keep the order, so when the probe is stored, all that came before it is stored. It needs no receiver that speaks,
 * and one that is lost is followed by another.
 */

const ACKNOWLEDGE_MS = 10_000;
const RETRY_MS = 5000; // the broker may have been killed, or its queue for the spool full
const POLL_MS = 200;
/** The way into the database takes so long when something is amiss there. */
const LONG_MS = 15_000;

/**
 * Until InfluxDB has all that has arrived here by now.
 * @param {Pick<import('./catch-up').Deps, 'site'|'store'|'background'|'clock'|'reportStep'|'reportBlocked'>} deps
 */
async function allStored({ site: { broker: { outbox } }, store, background, clock, reportStep, reportBlocked }) {
  reportStep('waiting until InfluxDB has what has arrived');
  const beganMs = clock();
  let sentMs = -Infinity;
  let blocked = false;
  for (;;) {
    const nowMs = clock();
    if (outbox.connected() && nowMs - sentMs >= RETRY_MS) {
      sentMs = nowMs;
      await background.retry(() => outbox.publish(probeMessage(nowMs), clock(), ACKNOWLEDGE_MS));
    }
    if (await background.retry(() => store.newestProbe(beganMs)) !== null) break;
    if (nowMs - beganMs >= LONG_MS) {
      blocked = true;
      reportBlocked(`InfluxDB does not have what arrived ${Math.round((nowMs - beganMs) / 1000)} s ago; the log of telegraf may say why`);
    }
    await background.pause(POLL_MS);
  }
  if (blocked) reportBlocked('');
  reportStep('');
}

module.exports = { createBackground, yieldToLive, Stopped, allStored };
