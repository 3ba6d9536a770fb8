// @ts-check
'use strict';

const { isDemo } = require('../building');
const { growth, percentile, rates } = require('../health/figures');
const { EXTERNAL_COUNTERS } = require('../health/loss-ledger');

/** Health is read this often. */
const HEALTH_MS = 1000;

/**
 * The status for every page: people on each level, and the parts of health.
 * @param {import('./topics').Context} context
 */
function createStatus({ site, alerts, health, keys }) {
  let healthMs = -Infinity;
  let received = { messages: 0, ms: /** @type {number|null} */ (null) };
  /** @type {{id: string, status: string, reason?: string, remedy?: string}[]} */
  let parts = [];

  /** @param {number} nowMs */
  function readHealth(nowMs) {
    healthMs = nowMs;
    parts = Object.entries(health(nowMs).parts).map(([id, { status, reason, remedy }]) => ({ id, status, reason, remedy }));
  }

  /**
   * @param {number} nowMs
   * @param {import('./topics').Presence[]} presences
   * @returns {{building: string, counts: Record<string, number>, lost: number, heard_ms: number|null, alerts: number,
   *   simulated: number, steps: Steps, parts: typeof parts}}
   *   counts by level id, without lost people; heard_ms: when the last readings came in, null: none since the start; alerts: active
   *   and not acknowledged; simulated: people here that a simulator plays
   */
  return (nowMs, presences) => {
    if (nowMs - healthMs >= HEALTH_MS) readHealth(nowMs);
    const { messages } = site.counters();
    if (messages !== received.messages) received = { messages, ms: nowMs };
    /** @type {Record<string, number>} */
    const counts = {};
    let lost = 0;
    for (const { level, state } of presences) {
      if (state === 'lost') lost += 1;
      else counts[level] = (counts[level] ?? 0) + 1;
    }
    return { building: site.building().digest, counts, lost, heard_ms: received.ms, alerts: alerts.open(),
      simulated: site.simulated.count(presences, nowMs), steps: stepsDone(site, keys?.records() ?? [], nowMs), parts };
  };
}

/**
 * Set-up steps of a new installation that are done, derived from the present state; nothing is stored.
 * @typedef {{building: boolean, receivers: boolean, staff: boolean, hacs: boolean}} Steps
 */

/** Result of `isDemo` by building file, since it costs a digest. @type {WeakMap<object, boolean>} */
const demos = new WeakMap();

/** @param {import('../building').BuildingFile} file */
function isDemoCached(file) {
  const demo = demos.get(file) ?? isDemo(file);
  demos.set(file, demo);
  return demo;
}

/**
 * @param {import('../site').Site} site
 * @param {{rights: Iterable<string>, expires_ms: number|null}[]} keys
 * @param {number} nowMs
 * @returns {Steps} building: it is not the demo, and has a room and a device; receivers: a gateway or a phone has sent something;
 *   staff: a building of one's own has staff; hacs: a valid key has the right history
 */
function stepsDone(site, keys, nowMs) {
  const { file, rooms, gateways, beacons } = site.building();
  const isOwn = !isDemoCached(file);
  const hasGateway = [...gateways.keys()].some((id) => {
    const { state = 'unknown', version = null } = site.gateways.of(id, nowMs) ?? {};
    return state !== 'unknown' && !String(version).startsWith('simulator/');
  });
  return {
    building: isOwn && rooms.size > 0 && beacons.size + gateways.size > 0,
    receivers: site.receivedMs() !== null || hasGateway,
    staff: isOwn && file.staff.length > 0,
    hacs: keys.some(({ rights, expires_ms: ends }) => [...rights].includes('history') && (ends === null || ends > nowMs)),
  };
}

/** Figures of refusals and losses (lib/health/metrics), without a label and with one. */
const SINGLE = ['located_later', 'unregistered', 'gateway_messages_refused', 'http_limited', 'http_misdirected', 'http_shed',
  'unlisted_refused', 'outbox_dropped', 'audit_dropped', 'broker_dropped'];
const LABELLED = /^(refused|store_refused|ingest_dropped|spool_dropped|gateway_dropped)_/;
const MEMORY = /^memory_bytes_(.+)$/;

/**
 * Rates and lags of intake and storage, refusals, losses and memory: over the last quarter of an hour, as of the newest heartbeat.
 * The state of the parts is in the status of every snapshot.
 * @param {import('./topics').Context} context @param {string} [_argument] @param {number} [nowMs]
 */
function system({ site, trend, losses }, _argument, nowMs) {
  const samples = trend.samples();
  const newest = samples.at(-1) ?? null;
  const valueOf = (/** @type {string} */ name) => newest?.[name] ?? null;
  const each = (/** @type {string} */ name) => samples.map((sample) => sample[name] ?? null);
  /** losses, over restarts; other figures count since the start */
  const month = losses?.byName(nowMs ?? newest?.ts ?? 0) ?? {};
  const storeLags = each('store_lag_ms');
  const measured = storeLags.filter((ms) => ms !== null);
  return {
    started_ms: site.startedMs,
    /** times of the samples; the lists of `trends` have a value for each, null: not known */
    ts_ms: samples.map(({ ts }) => ts),
    trends: {
      messages_per_s: rounded(rates(samples, 'messages')),
      stored_per_s: rounded(rates(samples, 'stored_batches', ({ stored_timestamp_s: at }) => (at === undefined ? undefined : at * 1000))),
      live_lag_p50_ms: rounded(each('live_lag_p50_ms')),
      live_lag_p99_ms: rounded(each('live_lag_p99_ms')),
      store_lag_ms: storeLags,
    },
    store_lag: { p50_ms: percentile(measured, 0.5), p99_ms: percentile(measured, 0.99), count: measured.length },
    counts: [...new Set([...Object.keys(newest ?? {}), ...Object.keys(month)])]
      .filter((name) => SINGLE.includes(name) || LABELLED.test(name))
      // external counters are unknown until they arrive
      .map((name) => ({ name, total: month[name] ?? valueOf(name) ?? 0, lately: growth(samples, name, !EXTERNAL_COUNTERS.test(name)) })),
    memory_bytes: { flows: valueOf('rss_bytes'), ...Object.fromEntries(Object.keys(newest ?? {}).flatMap((name) => {
      const [, part] = MEMORY.exec(name) ?? [];
      return part ? [[part, valueOf(name)]] : [];
    })) },
    busy_pct: valueOf('loop_busy_pct'),
    gateways: Object.fromEntries(['online', 'offline', 'silent', 'unknown'].map((state) => [state, valueOf(`gateways_${state}`)])),
  };
}

/** Rounded to a tenth. @param {(number|null)[]} values */
const rounded = (values) => values.map((value) => (value === null ? null : Math.round(value * 10) / 10));

module.exports = { createStatus, stepsDone, system };
