// @ts-check
'use strict';

const { monitorEventLoopDelay, performance } = require('node:perf_hooks');
const tls = require('node:tls');

/**
 * Figures of a site: messages in, results, queues and losses.
 * @typedef {import('./figures').Figure} Figure
 */

/** @type {Record<string, string>} */
const COUNTERS = {
  messages: 'Messages of readings that came from the broker',
  readings: 'Readings in them that were taken',
  unregistered: 'Readings of beacons that the building file does not list, which are dropped',
  locations: 'Locations that were found and published',
  late: 'Locations of a time that was over already, and new for it',
  late_known: 'Locations of a time that was over already, and was published before',
  stays: 'Stays that were published',
  events: 'Events that were published',
};

const LAG = 'From the reading by which somebody was located (where several were gathered: the beginning of their second) to the publication';

/** @param {import('../site').Site} site @param {() => number} clock @returns {Figure[]} */
function siteFigures(site, clock) {
  const states = () => {
    const counts = { present: 0, stale: 0, lost: 0 };
    for (const { state } of site.live.presences()) counts[state] += 1;
    return counts;
  };
  const outbox = () => site.broker.outbox.counters();
  return [
    ...Object.entries(COUNTERS).map(([name, help]) => /** @type {Figure} */ ({
      name, help, kind: 'counter', read: () => /** @type {any} */ (site.live.counters())[name],
    })),
    { name: 'inbox_waiting', kind: 'gauge', help: 'Messages of readings that have come and wait to be checked', read: () => site.live.unchecked() },
    { name: 'refused', kind: 'counter', label: 'reason', flat: 'sum', help: 'Readings that were refused',
      read: () => site.live.refusals.byReason() },
    { name: 'staff', kind: 'gauge', label: 'state', help: 'People by state', read: states },
    { name: 'gateways', kind: 'gauge', label: 'state', help: 'Gateways of the building file by state', read: () => gatewaysBy(site, clock()) },
    { name: 'gateway_messages_refused', kind: 'counter', help: 'Messages about the state or health of gateways that were none',
      read: site.devices.gateways.refused },
    { name: 'session_takeovers', kind: 'counter', help: "Sessions at the broker that one connection took from another: two devices with one account, "
      + 'or one that lost its connection unnoticed', read: site.devices.takeovers.total },
    { name: 'gateway_dropped', kind: 'counter', label: 'reason', flat: 'sum', help: 'Readings that gateways had collected and lost, as they report',
      read: site.devices.gateways.lost },
    { name: 'outbox_waiting', kind: 'gauge', help: 'Messages to the broker that wait or are on their way',
      read: () => outbox().waiting + outbox().in_flight },
    { name: 'outbox_dropped', kind: 'counter', help: 'Messages to the broker that were lost because too many waited', read: () => outbox().dropped },
    { name: 'outbox_resent', kind: 'counter', help: 'Messages that were sent again because the broker did not acknowledge them',
      read: () => outbox().resent },
    { name: 'outbox_replayed', kind: 'counter', help: 'Messages that were published again after a reconnect, since a killed broker forgets the latest',
      read: () => outbox().replayed },
    { name: 'live_lag_p50_ms', kind: 'gauge', help: `${LAG}, median of the last interval`, read: () => site.live.lag.read().p50_ms },
    { name: 'live_lag_p99_ms', kind: 'gauge', help: `${LAG}, 99th percentile`, read: () => site.live.lag.read().p99_ms },
    { name: 'live_lag_max_ms', kind: 'gauge', help: `${LAG}, largest`, read: () => site.live.lag.read().max_ms },
  ];
}

/** @param {import('../site').Site} site @param {number} nowMs */
function gatewaysBy(site, nowMs) {
  /** @type {Record<string, number>} */
  const counts = { online: 0, offline: 0, silent: 0, unknown: 0 };
  for (const id of site.building().gateways.keys()) {
    const state = site.devices.gateways.of(id, nowMs)?.state ?? 'unknown';
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

/**
 * Figures of the process: memory and event loop lag.
 */

/** Interval of the measuring timer; the delay beyond it is the lag. */
const RESOLUTION_MS = 10;

/** @param {number} startedMs @param {() => number} clock */
function createProcessFigures(startedMs, clock) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let used = performance.eventLoopUtilization();
  const loop = { p99_ms: 0, max_ms: 0, busy_pct: 0 };

  /** Closes the interval and starts the next. */
  function roll() {
    const now = performance.eventLoopUtilization();
    loop.busy_pct = Math.round(performance.eventLoopUtilization(now, used).utilization * 1000) / 10;
    used = now;
    loop.p99_ms = lag(delay.percentile(99));
    loop.max_ms = lag(delay.max);
    delay.reset();
  }

  /** @type {Figure[]} */
  const figures = [
    { name: 'uptime_s', kind: 'gauge', help: 'Since the start of the flows', read: () => Math.round((clock() - startedMs) / 1000) },
    { name: 'rss_bytes', kind: 'gauge', help: 'Memory of the process', read: () => process.memoryUsage.rss() },
    { name: 'heap_bytes', kind: 'gauge', help: 'Memory of its objects', read: () => process.memoryUsage().heapUsed },
    { name: 'loop_lag_p99_ms', kind: 'gauge', help: 'How long work waited for its turn, 99th percentile of the last interval', read: () => loop.p99_ms },
    { name: 'loop_lag_max_ms', kind: 'gauge', help: 'How long work waited for its turn, largest', read: () => loop.max_ms },
    { name: 'loop_busy_pct', kind: 'gauge', help: 'Share of the last interval in which the process worked', read: () => loop.busy_pct },
  ];
  return { figures, roll, stop: () => delay.disable() };
}

/** @param {number} ns @returns {number} ms, rounded to a microsecond */
const lag = (ns) => Math.max(0, Math.round(ns / 1000 - RESOLUTION_MS * 1000) / 1000) || 0;

/**
 * Figures of keys, limits, host names and the audit log.
 * @param {{audit: Pick<import('../access/audit').Audit, 'counters'>, limits: {refused: () => number}, hosts: {refused: () => number},
 *   keys: Pick<import('../access/keys').Keys, 'records'>}} deps
 * @returns {import('./figures').Figure[]}
 */
const accessFigures = ({ audit, limits, keys, hosts }) => [
  { name: 'audit_lookups', kind: 'counter', help: 'Look-ups of history', read: () => audit.counters().lookups },
  { name: 'audit_lines', kind: 'counter', help: 'Lines in the audit log', read: () => audit.counters().lines },
  { name: 'audit_dropped', kind: 'counter', help: 'Lines that the audit log has lost', read: () => audit.counters().dropped },
  { name: 'audit_waiting_bytes', kind: 'gauge', help: 'Lines that wait for the disk', read: () => audit.counters().waiting_bytes },
  { name: 'http_limited', kind: 'counter', help: 'Requests above the limit of their caller', read: limits.refused },
  { name: 'http_misdirected', kind: 'counter', help: 'Requests under a host name that is not answered', read: hosts.refused },
  { name: 'keys', kind: 'gauge', help: 'Named keys', read: () => keys.records().length },
  { name: 'key_expiry_timestamp_s', kind: 'gauge', label: 'key', flat: 'none', help: 'When a key expires, epoch seconds; without those that never do',
    read: () => expiries(keys.records()) },
];

/** @param {import('../access/keys').KeyRecord[]} records */
const expiries = (records) => Object.fromEntries(records.flatMap(({ name, expires_ms: ms }) => (ms === null ? [] : [[name, ms / 1000]])));

/**
 * Figures of queries to the database and of the history in memory.
 * @param {{storeGuard: Pick<import('../store/store-guard').StoreGuard, 'counters'>, history: Pick<import('../past/history').History,
 *   'counters'>}} options
 * @returns {Figure[]}
 */
function storeFigures({ storeGuard, history }) {
  const counters = () => storeGuard.counters();
  return [
    { name: 'store_questions', kind: 'counter', help: 'Queries to InfluxDB for callers', read: () => counters().asked },
    { name: 'store_refused', kind: 'counter', label: 'reason', flat: 'sum', help: 'Queries that got no answer: too many at once (busy), '
      + 'InfluxDB was known to be away (away), or it failed (failed)',
    read: () => ({ busy: counters().busy, away: counters().broken, failed: counters().failed }) },
    { name: 'store_breaker_open', kind: 'gauge', help: '1: InfluxDB counts as away, only the heartbeat queries it', read: () => counters().open },
    { name: 'store_asking', kind: 'gauge', help: 'Queries that InfluxDB works on', read: () => counters().asking },
    { name: 'store_waiting', kind: 'gauge', help: 'Queries that wait for one of these to end', read: () => counters().waiting },
    { name: 'history_people', kind: 'gauge', help: 'People whose last minutes are in memory', read: () => history.counters().people },
    { name: 'history_pages', kind: 'gauge', help: 'Pages of 384 bytes that these take', read: () => history.counters().pages },
    { name: 'history_left_out', kind: 'counter', help: 'Locations that had no room in memory, which are queried from the database',
      read: () => history.counters().left_out },
  ];
}

/**
 * Figures of the loss ledger.
 * @param {{byName: (nowMs: number) => Record<string, number>}} losses @param {() => number} clock
 * @returns {import('./figures').Figure[]}
 */
const lossFigures = (losses, clock) => [{
  name: 'lost_30_days', kind: 'gauge', label: 'what', read: () => losses.byName(clock()),
  help: 'What was lost within 30 days, over restarts, by its counter',
}];

/**
 * Expiry of the broker's certificate, read on the broker's TLS listener as receivers see it. So a renewal that was not made and
 * one that the broker has not loaded look the same.
 */

/** A renewal shows within this time. */
const POLL_MS = 600_000;
/** While the expiry is not known. */
const RETRY_MS = 15_000;
const TIMEOUT_MS = 5000;

/**
 * @param {{host: string, port: number, httpsListener?: Pick<import('../http/https-listener').HttpsListener, 'figures'|'life'>|null,
 *   clock: () => number}} options
 *   httpsListener: our HTTPS server; null: HTTPS is off
 */
function createCertificate({ host, port, httpsListener = null, clock }) {
  /** @type {number|null} */
  let endsMs = null;
  let nextMs = 0;

  /** Reads the certificate when it is due; called every few seconds. @returns {Promise<void>} */
  async function poll() {
    if (clock() < nextMs) return;
    nextMs = clock() + RETRY_MS;
    const ends = await shownEnd(host, port);
    if (ends === null) return; // the broker is away or full; other figures show that
    endsMs = ends;
    nextMs = clock() + POLL_MS;
  }

  /** @type {Figure[]} */
  const figures = [{ name: 'broker_certificate_expiry_timestamp_s', kind: 'gauge',
    help: 'Until when the certificate is good that the broker shows to receivers, epoch seconds',
    read: () => (endsMs === null ? null : endsMs / 1000) }, ...(httpsListener?.figures ?? [])];
  return {
    poll,
    figures,
    /** Certificates of our servers. @returns {import('../alerts/kinds').Certificate[]} */
    shown: () => [{ subject: 'broker', startsMs: null, endsMs },
      ...(httpsListener ? [{ subject: /** @type {const} */ ('https'), ...(httpsListener.life() ?? { startsMs: null, endsMs: null }) }] : [])],
  };
}

/** @param {string} host @param {number} port @returns {Promise<number|null>} epoch ms; null: no TLS connection */
function shownEnd(host, port) {
  return new Promise((resolve) => {
    // the certificate is only read, not trusted: an expired one must be read too
    const socket = tls.connect({ host, port, rejectUnauthorized: false, timeout: TIMEOUT_MS });
    const end = (/** @type {number|null} */ ms) => {
      socket.destroy();
      resolve(ms);
    };
    socket.once('secureConnect', () => {
      const ms = Date.parse(socket.getPeerCertificate().valid_to);
      end(Number.isFinite(ms) ? ms : null);
    });
    socket.once('timeout', () => end(null));
    socket.once('error', () => end(null));
    socket.once('close', () => resolve(null));
  });
}

module.exports = { siteFigures, createProcessFigures, accessFigures, storeFigures, lossFigures, createCertificate };
