// @ts-check
'use strict';

/**
 * A probe of database and ingest: the heartbeat that the flows publish every few seconds is read back from InfluxDB.
 */

const HEARTBEAT_MS = 5000;
/** Three heartbeats: a restart may lose one, and one is always on its way. */
const OVERDUE_MS = 15_000;
const LOOK_BACK_MS = 60_000;

/**
 * @typedef {ReturnType<typeof createProbe>} Probe
 * @typedef {import('./index').Part} Part
 * @param {{newestHeartbeat: (fromMs: number) => Promise<number|null>}} store
 * @param {number} startedMs
 */
function createProbe(store, startedMs) {
  let storeFault = 'InfluxDB was not queried yet';
  let lastSentMs = 0;
  let readBackMs = 0;
  let lagMs = /** @type {number|null} */ (null);

  return {
    /** Records a published heartbeat. @param {number} ts epoch ms */
    sent: (ts) => { lastSentMs = ts; },
    /** Whether the newest heartbeat is still to be read back. */
    pending: () => readBackMs < lastSentMs,
    /** Queries the newest stored heartbeat. @param {() => number} clock */
    async poll(clock) {
      try {
        const newest = await store.newestHeartbeat(clock() - LOOK_BACK_MS);
        storeFault = '';
        if (newest !== null && newest > readBackMs) {
          readBackMs = newest;
          lagMs = clock() - newest;
        }
      } catch (error) {
        storeFault = error instanceof Error ? error.message : String(error);
      }
    },
    /** Time of the newest stored heartbeat, epoch ms; 0: none yet. */
    readBackMs: () => readBackMs,
    /** @returns {Part} */
    influxdb: () => (storeFault === ''
      ? { status: 'up' }
      : { status: 'degraded', reason: storeFault, remedy: 'look at `make status` and at the log of influxd' }),
    /** @param {number} nowMs @returns {Part} */
    ingest(nowMs) {
      if (storeFault !== '') {
        return { status: 'degraded', store_lag_ms: null, reason: 'unknown while InfluxDB does not answer', remedy: 'see influxdb' };
      }
      if (nowMs - readBackMs <= OVERDUE_MS) return { status: 'up', store_lag_ms: lagMs };
      const since = readBackMs === 0 ? nowMs - startedMs : nowMs - readBackMs;
      return {
        status: 'degraded',
        store_lag_ms: since,
        reason: `no heartbeat of the flows has reached InfluxDB for ${Math.round(since / 1000)} s`,
        remedy: 'look at the log of telegraf: it carries what is published from the broker to InfluxDB',
      };
    },
  };
}

module.exports = { createProbe, HEARTBEAT_MS };
