// @ts-check
'use strict';

const { EXTERNAL_COUNTERS } = require('../health/loss-ledger');
const { growth, percentile, rates } = require('../health/metrics/trend');

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

module.exports = { system };
