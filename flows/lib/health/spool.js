// @ts-check
'use strict';

/**
 * The queues on disk before Telegraf and before InfluxDB (ingest/spool), as the spool reports them.
 * @typedef {object} SpoolStatus
 * @property {Record<string, number>} stored points that InfluxDB has, by bucket
 * @property {Record<string, number>} dropped for want of disk space, the oldest first
 * @property {Record<string, number>} refused by InfluxDB for good
 * @property {number} waiting_bytes
 * @property {number} waiting_lines
 * @property {number|null} oldest_ms when the oldest that waits came to the queue, epoch ms; null: nothing waits
 * @property {string} fault why InfluxDB is sent nothing; '': it is
 * @property {Record<'messages'|'writes', import('./outlets').Outlet>} queues of the broker's messages for Telegraf, and of Telegraf's
 *   writes for InfluxDB
 * @property {Record<string, import('./outlets').Outlet>} [outlets] of Telegraf's writes, by bucket
 * @typedef {ReturnType<typeof createSpool>} Spool
 */

const TIMEOUT_MS = 2000;
/** A status that is older is not known any more. */
const FRESH_MS = 20_000;

/** @param {{url: string, clock: () => number, get?: typeof fetch}} deps */
function createSpool({ url, clock, get = fetch }) {
  /** @type {{ts: number, status: SpoolStatus}|null} */
  let newest = null;
  const status = () => (newest !== null && clock() - newest.ts <= FRESH_MS ? newest.status : null);

  /** @type {import('./metrics/figures').Figure[]} */
  const figures = [
    { name: 'stored_batches', kind: 'counter', help: 'Points of readings that InfluxDB has taken, nearly all of them a batch each',
      read: () => status()?.stored.readings ?? null },
    { name: 'stored_timestamp_s', kind: 'gauge', help: 'When they were counted, epoch seconds',
      read: () => (status() && newest ? newest.ts / 1000 : null) },
    { name: 'spool_waiting_bytes', kind: 'gauge', help: 'What waits on disk for InfluxDB', read: () => status()?.waiting_bytes ?? null },
    { name: 'spool_dropped', kind: 'counter', label: 'bucket', flat: 'sum',
      help: 'Points that had to go from the disk, the oldest first, because it was nearly full, or that InfluxDB refused',
      read: () => lost(status()) },
  ];

  return {
    /** Reads the status; called every second. */
    async poll() {
      const answer = await get(`${url}/status`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => null);
      const body = answer?.ok ? await answer.json().catch(() => null) : null;
      if (body) newest = { ts: clock(), status: /** @type {SpoolStatus} */ (body) };
    },
    /** For how long it has not answered, ms; 0: it did just now, or has not answered since the start. */
    silentMs: () => (newest === null ? 0 : clock() - newest.ts),
    /** null: not known at the moment. */
    status,
    /** How long the oldest waited in a queue when it was asked, ms; 0: nothing did, or not known. @param {'messages'|'writes'} queue */
    waitedMs(queue) {
      const oldestMs = status()?.queues[queue].oldest_ms ?? null;
      return oldestMs === null || newest === null ? 0 : Math.max(newest.ts - oldestMs, 0);
    },
    figures,
  };
}

/** @param {SpoolStatus|null} status @returns {Record<string, number>|null} by bucket */
function lost(status) {
  if (!status) return null;
  const { dropped, refused } = status;
  return Object.fromEntries([...new Set([...Object.keys(dropped), ...Object.keys(refused)])]
    .map((bucket) => [bucket, (dropped[bucket] ?? 0) + (refused[bucket] ?? 0)]));
}

module.exports = { createSpool };
