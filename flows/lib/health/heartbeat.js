// @ts-check
'use strict';

const { createBacklog, withBacklog } = require('./backlog');

/**
 * A probe of database and ingest: the heartbeat that the flows publish every few seconds is read back from InfluxDB.
 */

const HEARTBEAT_MS = 5000;
/** Three heartbeats: a restart may lose one, and one is always on its way. */
const OVERDUE_MS = 15_000;
const LOOK_BACK_MS = 60_000;
const NOTHING_WAITS = { oldest_ms: null, fault: '' };
/** @type {{stored: Record<string, number>, fault: string, queues: Record<'messages'|'writes', {oldest_ms: number|null, fault: string}>}} */
const UNKNOWN = { stored: {}, fault: '', queues: { messages: NOTHING_WAITS, writes: NOTHING_WAITS } };

/**
 * @typedef {ReturnType<typeof createProbe>} Probe
 * @typedef {import('./index').Part} Part
 * @param {{newestHeartbeat: (fromMs: number) => Promise<number|null>}} store
 * @param {number} startedMs
 * @param {object} [flow] what comes in and what waits
 * @param {() => Pick<import('./spool').Spool, 'status'|'waitedMs'>|null} [flow.spool]
 * @param {() => number|null} [flow.received] messages that the broker has received, a counter
 */
function createProbe(store, startedMs, { spool = () => null, received = () => null } = {}) {
  const backlog = createBacklog();
  let storeFault = 'InfluxDB was not queried yet';
  let lastSentMs = 0;
  let readBackMs = 0;
  let lagMs = /** @type {number|null} */ (null);
  /** Since when readings are not taken in, epoch ms; null: they are. @type {number|null} */
  let standsMs = null;
  let standsWhy = '';

  /** @param {number} nowMs @returns {Part} */
  function ofHeartbeat(nowMs) {
    if (storeFault !== '') {
      return { status: 'degraded', store_lag_ms: null, reason: 'unknown while InfluxDB does not answer', remedy: 'see influxdb' };
    }
    if (nowMs - readBackMs <= OVERDUE_MS) return ofReadings(nowMs);
    const since = readBackMs === 0 ? nowMs - startedMs : nowMs - readBackMs;
    return {
      status: 'degraded',
      store_lag_ms: since,
      reason: `no heartbeat of the flows has reached InfluxDB for ${Math.round(since / 1000)} s`,
      remedy: 'look at the log of telegraf: it carries what is published from the broker to InfluxDB',
    };
  }

  /** Heartbeats do not wait with readings. @param {number} nowMs @returns {Part} */
  function ofReadings(nowMs) {
    if (standsMs === null || nowMs - standsMs < OVERDUE_MS) return { status: 'up', store_lag_ms: lagMs };
    return {
      status: 'degraded',
      store_lag_ms: lagMs,
      reason: `readings are not taken in: ${standsWhy}`,
      remedy: 'look at `make status` and at the logs of spool, telegraf and the broker; nothing is lost meanwhile, readings wait',
    };
  }

  return {
    /** Records a published heartbeat. @param {number} ts epoch ms */
    sent: (ts) => { lastSentMs = ts; },
    /** Whether the newest heartbeat is still to be read back. */
    pending: () => readBackMs < lastSentMs,
    /** Queries the newest stored heartbeat. @param {() => number} clock */
    async poll(clock) {
      try {
        const newest = await store.newestHeartbeat(Math.min(clock() - LOOK_BACK_MS, readBackMs || Infinity));
        storeFault = '';
        if (newest !== null && newest > readBackMs) {
          readBackMs = newest;
          lagMs = clock() - newest;
        }
      } catch (error) {
        storeFault = error instanceof Error ? error.message : String(error);
      }
    },
    /** Compares what comes in with what is stored; called with each heartbeat. @param {number} nowMs */
    tick(nowMs) {
      const queue = spool();
      const { stored, fault, queues } = queue?.status() ?? UNKNOWN;
      standsWhy = queues.messages.fault;
      standsMs = standsWhy === '' ? null : standsMs ?? nowMs;
      backlog.add({
        ts: nowMs, offered: received(), stored: stored.readings ?? null, away: storeFault !== '' || fault !== '',
        queueMs: Math.max(nowMs - (queues.writes.oldest_ms ?? nowMs), 0),
        messagesMs: queue?.waitedMs('messages') ?? 0,
        unreadMs: readBackMs === 0 ? 0 : Math.max(nowMs - readBackMs - HEARTBEAT_MS, 0), // one is always on its way
      });
    },
    /** Time of the newest stored heartbeat, epoch ms; 0: none yet. */
    readBackMs: () => readBackMs,
    /** @returns {Part} */
    influxdb: () => (storeFault === ''
      ? { status: 'up' }
      : { status: 'degraded', reason: storeFault, remedy: 'look at `make status` and at the log of influxd' }),
    /** @param {number} nowMs @returns {Part} */
    ingest: (nowMs) => withBacklog(ofHeartbeat(nowMs), backlog.state(nowMs - readBackMs)),
  };
}

module.exports = { createProbe, HEARTBEAT_MS };
