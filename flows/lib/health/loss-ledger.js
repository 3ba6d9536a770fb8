// @ts-check
'use strict';

const { counterIncrease } = require('./figures');
const { createStateFile } = require('../shared/state-file');

/**
 * Losses of the last 30 days by day and counter, persisted in a small file: counters start at 0 with each process, and a loss
 * must outlive a restart.
 * @typedef {{v: 1, days: Record<string, Record<string, number>>, seen: Record<string, number>, looked_ms: number,
 *   last_ms: number|null}} Kept
 *   days: by date (UTC) and figure; seen: last values of external counters; looked_ms: when they were read; last_ms: last loss of
 *   a message that the broker had acknowledged
 * @typedef {ReturnType<typeof createLossLedger>} LossLedger
 */

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
/** A loss counts as ongoing for this time. */
const FRESH_MS = 30_000;
/** Counters of broker and Telegraf arrive one by one after a start. */
const START_MS = 20_000;
/** Counters of other processes, which go on over our restarts, and our own. */
const EXTERNAL_COUNTERS = /^(broker_dropped|(replica_)?(ingest|spool)_dropped_.+)$/;
const OWN_COUNTERS = /^(outbox_dropped|audit_dropped|gateway_dropped_.+)$/;
/** Losses of messages that the broker had acknowledged. */
const ACKNOWLEDGED = /^(broker_dropped|(replica_)?(ingest|spool)_dropped_.+|outbox_dropped)$/;

/**
 * @param {object} options
 * @param {string} options.file
 * @param {number} options.startedMs
 * @param {() => number|null} [options.brokerStartedMs] epoch ms; null: not known yet
 * @param {(text: string) => void} options.warn
 */
function createLossLedger({ file, startedMs, brokerStartedMs = () => null, warn }) {
  const stateFile = createStateFile(file, warn,
    { unread: 'earlier losses are not known', unwritten: 'losses will not survive a restart' });
  const kept = keptOf(stateFile.read());
  /** Our own counters. @type {Record<string, number>} */
  const ownSeen = {};
  let first = true;

  /**
   * Adds losses since the last call; called with each heartbeat.
   * @param {Record<string, number>} figures @param {number} nowMs
   * @returns {Promise<void>} when it is saved
   */
  async function record(figures, nowMs) {
    if (nowMs - startedMs < START_MS) return;
    // a broker that was restarted meanwhile counts from 0, even if its counter is larger by now
    if (first && (brokerStartedMs() ?? 0) > kept.looked_ms) delete kept.seen.broker_dropped;
    first = false;
    let changed = false;
    for (const [name, value] of Object.entries(figures)) {
      const seen = EXTERNAL_COUNTERS.test(name) ? kept.seen : OWN_COUNTERS.test(name) ? ownSeen : null;
      if (!seen || !Number.isFinite(value)) continue;
      const lost = counterIncrease(seen[name] ?? 0, value);
      changed ||= value !== (seen[name] ?? 0);
      seen[name] = value;
      if (lost > 0) add(name, lost, nowMs);
    }
    kept.looked_ms = nowMs;
    if (changed) await stateFile.write(kept);
  }

  /** @param {string} name @param {number} lost @param {number} nowMs */
  function add(name, lost, nowMs) {
    const day = dayOf(nowMs);
    const of = kept.days[day] ??= {};
    of[name] = (of[name] ?? 0) + lost;
    if (ACKNOWLEDGED.test(name)) kept.last_ms = nowMs;
    for (const old of Object.keys(kept.days)) if (old < dayOf(nowMs - KEPT_DAYS * DAY_MS)) delete kept.days[old];
  }

  /** Losses of the last 30 days. @param {number} nowMs @returns {Record<string, number>} by figure */
  function byName(nowMs) {
    const oldest = dayOf(nowMs - KEPT_DAYS * DAY_MS);
    /** @type {Record<string, number>} */
    const sums = {};
    for (const [day, of] of Object.entries(kept.days)) {
      if (day < oldest) continue;
      for (const [name, lost] of Object.entries(of)) sums[name] = (sums[name] ?? 0) + lost;
    }
    return sums;
  }

  return {
    record,
    byName,
    /** Part of /health. @param {number} nowMs @returns {import('./index').Part} */
    part(nowMs) {
      const by = byName(nowMs);
      const acknowledged = Object.entries(by).filter(([name]) => ACKNOWLEDGED.test(name));
      const total = acknowledged.reduce((sum, [, lost]) => sum + lost, 0);
      const known = { lost_30_days: total, by, last_ms: kept.last_ms };
      if (kept.last_ms === null || nowMs - kept.last_ms > FRESH_MS) return { status: 'up', ...known };
      return { status: 'degraded', ...known,
        reason: `messages that were acknowledged are being lost: ${acknowledged.map(([name, lost]) => `${lost} by ${sourceOf(name)}`).join(', ')} `
          + 'within 30 days',
        remedy: 'more comes in than is stored: look whether InfluxDB and Telegraf work and whether the machine is too small' };
    },
  };
}

/** @param {string} name of a figure @returns {string} */
const sourceOf = (name) => (name.startsWith('replica_') ? `the second store's way, ${sourceOf(name.slice('replica_'.length))}`
  : name === 'broker_dropped' ? 'the broker' : name === 'outbox_dropped' ? 'the flows'
  : name.startsWith('spool_') ? `the queue on disk for ${name.slice('spool_dropped_'.length)}`
    : `Telegraf for ${name.slice('ingest_dropped_'.length)}`);

/** @param {number} ms */
const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);

/** @param {any} state content of the file @returns {Kept} */
const keptOf = (state) => ({
  v: 1,
  days: { ...state?.days },
  seen: { ...state?.seen },
  looked_ms: Number(state?.looked_ms) || 0,
  last_ms: Number.isFinite(state?.last_ms) ? state.last_ms : null,
});

module.exports = { createLossLedger, EXTERNAL_COUNTERS };
