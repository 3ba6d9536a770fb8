// @ts-check
'use strict';

const { OF_OTHERS } = require('../health/loss-ledger');
const { growth, percentile, rates } = require('../health/metrics/trend');

/** Figures that count what was refused or lost (lib/metrics), without a label and with one. */
const SINGLE = ['unregistered', 'gateway_messages_refused', 'http_limited', 'http_misdirected', 'http_shed',
  'unlisted_refused', 'outbox_dropped', 'audit_dropped', 'broker_dropped'];
const LABELLED = /^(refused|store_refused|ingest_dropped|gateway_dropped)_/;
const MEMORY = /^memory_bytes_(.+)$/;

/**
 * How much comes in and is stored, how far behind that is, what was refused and lost, and what memory the parts take; over
 * the last quarter of an hour, as of the newest heartbeat. How the parts are stands in the status of every snapshot.
 * @param {import('./topics').Context} context @param {string} [_argument] @param {number} [nowMs]
 */
function system({ site, trend, losses }, _argument, nowMs) {
  const samples = trend.samples();
  const newest = samples.at(-1) ?? null;
  const told = (/** @type {string} */ name) => newest?.[name] ?? null;
  const each = (/** @type {string} */ name) => samples.map((sample) => sample[name] ?? null);
  /** what was lost, over restarts; the rest is counted since the start */
  const month = losses?.byName(nowMs ?? newest?.ts ?? 0) ?? {};
  const storeLags = each('store_lag_ms');
  const measured = storeLags.filter((ms) => ms !== null);
  return {
    started_ms: site.startedMs,
    /** when the samples were taken; the lists of `trends` have a value for each, null: not known */
    ts_ms: samples.map(({ ts }) => ts),
    trends: {
      messages_per_s: rounded(rates(samples, 'messages')),
      stored_per_s: rounded(rates(samples, 'stored_readings', ({ stored_timestamp_s: at }) => (at === undefined ? undefined : at * 1000))),
      live_lag_p50_ms: rounded(each('live_lag_p50_ms')),
      live_lag_p99_ms: rounded(each('live_lag_p99_ms')),
      store_lag_ms: storeLags,
    },
    store_lag: { p50_ms: percentile(measured, 0.5), p99_ms: percentile(measured, 0.99), count: measured.length },
    counts: [...new Set([...Object.keys(newest ?? {}), ...Object.keys(month)])]
      .filter((name) => SINGLE.includes(name) || LABELLED.test(name))
      // of others nothing is known until they have told it
      .map((name) => ({ name, total: month[name] ?? told(name) ?? 0, lately: growth(samples, name, !OF_OTHERS.test(name)) })),
    memory_bytes: { flows: told('rss_bytes'), ...Object.fromEntries(Object.keys(newest ?? {}).flatMap((name) => {
      const [, part] = MEMORY.exec(name) ?? [];
      return part ? [[part, told(name)]] : [];
    })) },
    busy_pct: told('loop_busy_pct'),
    gateways: Object.fromEntries(['online', 'offline', 'silent', 'unknown'].map((state) => [state, told(`gateways_${state}`)])),
  };
}

/** A tenth is fine enough to be seen. @param {(number|null)[]} values */
const rounded = (values) => values.map((value) => (value === null ? null : Math.round(value * 10) / 10));

module.exports = { system };
