// @ts-check
'use strict';

const { createBacklog, withBacklog } = require('./backlog');
const { createOutlets, inWords } = require('./outlets');

/**
 * A probe of database and ingest: the heartbeat that the flows publish every few seconds is read back from InfluxDB.
 */

const HEARTBEAT_MS = 5000;
/** A heartbeat comes back within a second. With more than this the next one is missing, too. */
const OVERDUE_MS = 8000;
/** The first one comes back a second or two after a start. */
const START_MS = 10_000;
/** With more than this it is late. */
const LATE_MS = 6000;
/** While Telegraf or the broker is started again: three heartbeats, since a restart may lose one, and one is always on its way. */
const OVERDUE_RESTART_MS = 15_000;
const LOOK_BACK_MS = 60_000;
const NOTHING_WAITS = { waiting_lines: 0, oldest_ms: null, fault: '' };
/** @type {{stored: Record<string, number>, fault: string, queues: Record<'messages'|'writes', import('./outlets').Outlet>,
 *   outlets?: Record<string, import('./outlets').Outlet>}} */
const UNKNOWN = { stored: {}, fault: '', queues: { messages: NOTHING_WAITS, writes: NOTHING_WAITS } };
/** The spool answers within milliseconds; a start takes it a second or two. */
const SILENT_MS = 5000;

/**
 * @typedef {ReturnType<typeof createProbe>} Probe
 * @typedef {import('./index').Part} Part
 * @typedef {Pick<import('./spool').Spool, 'status'|'waitedMs'> & Partial<Pick<import('./spool').Spool, 'silentMs'>>} Source
 * @param {{newestHeartbeat: (fromMs: number) => Promise<number|null>}} store
 * @param {number} startedMs
 * @param {object} [flow] what comes in and what waits
 * @param {() => Source|null} [flow.spool]
 * @param {() => number|null} [flow.received] messages that the broker has received, a counter
 * @param {(nowMs: number) => boolean} [flow.isRestarting] whether Telegraf or the broker is started again on purpose, for a change
 */
function createProbe(store, startedMs, { spool = () => null, received = () => null, isRestarting = () => false } = {}) {
  const backlog = createBacklog();
  const outlets = createOutlets();
  let storeFault = 'InfluxDB was not queried yet';
  let lastSentMs = 0;
  let readBackMs = 0;
  let lagMs = /** @type {number|null} */ (null);

  /** @param {number} nowMs @returns {Part} */
  function ofHeartbeat(nowMs) {
    if (storeFault !== '') {
      return { status: 'degraded', store_lag_ms: null, reason: 'unknown while InfluxDB does not answer', remedy: 'see influxdb' };
    }
    if (nowMs - readBackMs <= (isRestarting(nowMs) ? OVERDUE_RESTART_MS : OVERDUE_MS)) return { status: 'up', store_lag_ms: lagMs };
    const since = readBackMs === 0 ? nowMs - startedMs : nowMs - readBackMs;
    return {
      status: 'degraded',
      store_lag_ms: since,
      reason: noHeartbeat(since),
      remedy: 'look at `make status` and at the logs of the broker, telegraf and influxd: they carry what is published into InfluxDB',
    };
  }

  /** No heartbeat has come back yet, and that is no fault. @param {number} nowMs */
  const isStarting = (nowMs) => readBackMs === 0 && nowMs - startedMs < START_MS;

  /** Looks at each outlet; called every second or two. @param {number} nowMs */
  function look(nowMs) {
    const status = spool()?.status();
    if (status) outlets.see({ messages: status.queues.messages, ...status.outlets }, nowMs);
  }

  /**
   * What waits is asked for in each outlet: heartbeats do not wait with readings.
   * @param {Part} part @param {number} nowMs @returns {Part}
   */
  function withOutlets(part, nowMs) {
    /** @type {Part} */
    const whole = { ...part, outlets: outlets.waiting(), ...(isStarting(nowMs) ? { starting: true } : {}) };
    const silentMs = spool()?.silentMs?.() ?? 0;
    if (silentMs > SILENT_MS) {
      return { ...whole, status: 'degraded', reason: `the spool has not answered for ${Math.round(silentMs / 1000)} s`,
        remedy: 'look at `make status` and at the log of spool; what it does not take waits in the broker and in Telegraf' };
    }
    const isBusy = whole.backlog === 'overloaded' || whole.backlog === 'catching_up';
    const standing = outlets.standing(nowMs).filter(({ name, slow, since_ms: since }) => !(slow && isBusy)
      && (name !== 'messages' || !isRestarting(nowMs) || nowMs - since >= OVERDUE_RESTART_MS));
    if (standing.length === 0) return whole;
    const messages = standing.find(({ name }) => name === 'messages');
    const others = standing.filter(({ name }) => name !== 'messages');
    const reasons = [...(messages ? [`readings are not taken in: ${messages.reason}`] : []),
      ...(others.length > 0 ? [`InfluxDB does not get ${inWords(others, nowMs)}`] : []),
      ...(readBackMs > 0 && nowMs - readBackMs > LATE_MS ? [noHeartbeat(nowMs - readBackMs)] : [])];
    return { ...whole, status: 'degraded', backlog: 'away', reason: reasons.join('; '),
      remedy: 'look at `make status` and at the logs of spool, telegraf, influxd and the broker; nothing is lost meanwhile, it waits on disk' };
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
      look(nowMs);
      const queue = spool();
      const { stored, fault, queues, outlets: buckets = { readings: queues.writes } } = queue?.status() ?? UNKNOWN;
      const standing = new Set(outlets.standing(nowMs).map(({ name }) => name));
      const oldest = Object.entries(buckets).flatMap(([name, one]) => (name !== 'readings' && standing.has(name) ? [] : one.oldest_ms ?? []));
      backlog.add({ // of what is passed on; what stands still is told of by itself
        ts: nowMs, offered: received(), stored: stored.readings ?? null,
        away: storeFault !== '' || (buckets.readings?.fault ?? fault) !== '',
        queueMs: Math.max(nowMs - Math.min(nowMs, ...oldest), 0),
        messagesMs: queue?.waitedMs('messages') ?? 0,
        // one is always on its way, and all of them go by the outlet of locations
        unreadMs: readBackMs === 0 || standing.has('locations') ? 0 : Math.max(nowMs - readBackMs - HEARTBEAT_MS, 0),
      });
    },
    look,
    /** Time of the newest stored heartbeat, epoch ms; 0: none yet. All locations that were published before are stored, too. */
    readBackMs: () => readBackMs,
    /** @returns {Part} */
    influxdb: () => (storeFault === ''
      ? { status: 'up' }
      : { status: 'degraded', reason: storeFault, remedy: 'look at `make status` and at the log of influxd' }),
    /** @param {number} nowMs @returns {Part} */
    ingest: (nowMs) => withOutlets(withBacklog(ofHeartbeat(nowMs), backlog.state()), nowMs),
  };
}

/** @param {number} ms */
const noHeartbeat = (ms) => `no heartbeat of the flows has reached InfluxDB for ${Math.round(ms / 1000)} s`;

module.exports = { createProbe, HEARTBEAT_MS };
