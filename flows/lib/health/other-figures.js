// @ts-check
'use strict';

const { StoreUnavailable } = require('../store');

/**
 * Figures of the other services, each from its most reliable source: the broker under `$SYS`, Telegraf in the bucket `health`,
 * InfluxDB under its `/metrics`. Missing figures are null: Mosquitto reports its memory only where it was built with glibc, as
 * Debian's is and the image is not.
 * @typedef {import('./figures').Figure} Figure
 * @typedef {ReturnType<typeof createParts>} Parts
 */

/** Telegraf writes its own figures every 10 s. */
const FRESH_MS = 40_000;
/** A background query may take long. */
const TIMEOUT_MS = 20_000;

/** The broker sends its uptime every 10 s, the others on change. @type {Record<string, 'uptime'|'heap'|'dropped'|'received'>} */
const TOPICS = { '$SYS/broker/uptime': 'uptime', '$SYS/broker/heap/current': 'heap', '$SYS/broker/publish/messages/dropped': 'dropped',
  '$SYS/broker/publish/messages/received': 'received' };

/**
 * @typedef {{waiting: number, dropped: Record<string, number>}} Outputs of Telegraf
 * @param {object} options
 * @param {import('../store/influx').Influx['query']} options.query
 * @param {import('../store/influx').Influx['metrics']} options.metrics
 * @param {() => boolean} options.connected to the broker
 * @param {() => number} options.clock
 * @param {Pick<import('../events').EventBus, 'emit'>} [options.bus] hears what the broker says of itself
 */
function createParts({ query, metrics, connected, clock, bus }) {
  /** @type {Partial<Record<'uptime'|'heap'|'dropped'|'received', number>>} */
  const broker = {};
  let brokerStartedMs = /** @type {number|null} */ (null);
  const known = {
    outputs: /** @type {Outputs|null} */ (null), telegraf: /** @type {number|null} */ (null), influxd: /** @type {number|null} */ (null),
  };
  let polling = false;

  /** Reads the figures of Telegraf and InfluxDB; called every few seconds. */
  async function poll() {
    if (polling) return;
    polling = true;
    await readAll().finally(() => { polling = false; });
  }

  async function readAll() {
    const since = { from: new Date(clock() - FRESH_MS).toISOString() };
    const [outputs, memory, text] = await Promise.all([
      orNull(query('health', 'SELECT "metrics_written", "metrics_dropped", "metrics_rejected", "buffer_size" FROM "internal_write" '
        + 'WHERE time >= $from AND "output" = \'influxdb_v2\' GROUP BY "alias" ORDER BY time DESC LIMIT 1', since, TIMEOUT_MS)),
      orNull(query('health', 'SELECT "sys_bytes", "heap_released_bytes" FROM "internal_memstats" WHERE time >= $from ORDER BY time DESC LIMIT 1',
        since, TIMEOUT_MS)),
      orNull(metrics(TIMEOUT_MS)),
    ]);
    known.outputs = outputs && outputsOf(outputs);
    known.telegraf = heldOf(memory?.[0]?.rows[0]?.slice(1) ?? []);
    known.influxd = heldOf(text ? ['sys', 'heap_released'].map((name) => sampleOf(text, `go_memstats_${name}_bytes`)) : []);
  }

  /** Without unknown values. @param {Record<string, number|null>} all @returns {Record<string, number>} */
  const knownOf = (all) => Object.fromEntries(Object.entries(all).flatMap(([part, value]) => (value === null ? [] : [[part, value]])));
  const heap = () => (connected() && broker.heap !== undefined ? broker.heap : null);
  /** A broker that reports its uptime but no drops has dropped nothing since its start, or since ours. */
  const dropped = () => (connected() && broker.uptime !== undefined ? broker.dropped ?? 0 : null);

  const received = () => (connected() ? broker.received ?? null : null);

  /** @type {Figure[]} */
  const figures = [
    { name: 'memory_bytes', kind: 'gauge', label: 'part', help: 'Memory of the other parts: heap of the broker, what the Go runtimes of '
      + 'Telegraf and InfluxDB hold',
    read: () => knownOf({ broker: heap(), ingest: known.telegraf, influxdb: known.influxd }) },
    { name: 'broker_dropped', kind: 'counter', help: 'Messages that the broker dropped because too many waited for somebody',
      read: dropped },
    { name: 'broker_received', kind: 'counter', help: 'Messages that the broker has received', read: () => received() },
    { name: 'ingest_waiting', kind: 'gauge', help: 'Points that wait in Telegraf', read: () => known.outputs?.waiting ?? null },
    { name: 'ingest_dropped', kind: 'counter', label: 'bucket', flat: 'sum', help: 'Points that Telegraf could not put on disk and gave up',
      read: () => known.outputs?.dropped ?? null },
  ];

  return {
    /** Takes a message of the broker under `$SYS`. @param {{topic: string, payload: Buffer}} message */
    handleMessage({ topic, payload }) {
      const which = TOPICS[topic];
      const value = Number.parseInt(payload.toString(), 10);
      if (!which || !Number.isFinite(value)) return;
      broker[which] = value;
      if (which === 'uptime') brokerStartedMs = clock() - value * 1000;
      if (which === 'uptime') bus?.emit('brokerUptime', value, clock());
      if (which === 'dropped') bus?.emit('brokerDropped', value, clock());
    },
    poll,
    figures,
    /** Messages that the broker has received, a counter; null: not known. */
    received,
    /** Start of the broker by its uptime, epoch ms; null: not known yet. */
    brokerStartedMs: () => brokerStartedMs,
  };
}

/** @template T @param {Promise<T>} work @returns {Promise<T|null>} null: the database is away */
const orNull = (work) => work.catch((error) => {
  if (error instanceof StoreUnavailable) return null;
  throw error;
});

/** @param {import('../store/influx').Series[]} series one an output @returns {Outputs|null} */
function outputsOf(series) {
  const outputs = series.flatMap(({ tags, rows }) => rows.map(([, , dropped = 0, rejected = 0, waiting = 0]) => (
    { bucket: tags.alias ?? '', dropped: dropped + rejected, waiting })));
  return outputs.some(({ bucket }) => bucket === 'readings') ? {
    waiting: outputs.reduce((sum, { waiting }) => sum + waiting, 0),
    dropped: Object.fromEntries(outputs.map(({ bucket, dropped }) => [bucket, dropped])),
  } : null;
}

/** Memory that a Go runtime holds, bytes. @param {(number|null)[]} bytes */
const heldOf = ([system = null, released = null]) => (system === null || released === null ? null : system - released);

/** A metric without labels. @param {string} text in Prometheus' format @param {string} name @returns {number|null} */
function sampleOf(text, name) {
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text);
  return found ? Number(found[1]) : null;
}

/**
 * Figures of a second database: which one is read from, and those of its own Telegraf, spool and InfluxDB under `replica_…`.
 */

const OF_ITS_OWN = ['memory_bytes', 'ingest_waiting', 'ingest_dropped', 'stored_batches', 'spool_waiting_bytes', 'spool_dropped'];

/**
 * @param {object} second
 * @param {import('../store/replicas').Replicas} second.replicas
 * @param {Pick<import('../store/influx').Influx, 'query'|'metrics'>} second.opened
 * @param {string} second.url of its spool
 * @param {() => number} second.clock
 */
function createSecondStore({ replicas, opened, url, clock }) {
  const spool = createSpool({ url, clock });
  const parts = createParts({ ...opened, connected: () => false, clock });
  const own = [...parts.figures, ...spool.figures].filter(({ name }) => OF_ITS_OWN.includes(name));
  /** @param {(index: number) => number} read @returns {Record<string, number>} by the store's number */
  const ofEach = (read) => ({ 1: read(0), 2: read(1) });
  /** @type {Figure[]} */
  const figures = [
    { name: 'store_read_from', kind: 'gauge', label: 'store', help: '1: the flows read from this InfluxDB',
      read: () => ofEach((index) => Number(replicas.current() === index)) },
    { name: 'store_up', kind: 'gauge', label: 'store', help: '1: this InfluxDB answers, has all of the past and is not behind the other one',
      read: () => ofEach((index) => Number(replicas.stateOf(index).status === 'up')) },
    { name: 'store_lacking_hours', kind: 'gauge', label: 'store', help: 'Hours of the past that the other InfluxDB has and this one has not',
      read: () => ofEach((index) => replicas.stateOf(index).lacking_hours) },
    { name: 'store_switches', kind: 'counter', help: 'How often the flows went over to the other InfluxDB', read: replicas.switches },
    ...own.map((figure) => ({ ...figure, name: `replica_${figure.name}`, help: `Of the second store: ${figure.help}` })),
  ];

  return {
    figures,
    /** Of its spool; null: not known at the moment. */
    status: spool.status,
    waitedMs: spool.waitedMs,
    silentMs: spool.silentMs,
    /** Reads that of its spool; called every second. */
    pollSpool: spool.poll,
    /** Reads its figures; called every few seconds. */
    poll: parts.poll,
  };
}

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
 * @property {Record<'messages'|'writes', import('./heartbeat').Outlet>} queues of the broker's messages for Telegraf, and of Telegraf's
 *   writes for InfluxDB
 * @property {Record<string, import('./heartbeat').Outlet>} [outlets] of Telegraf's writes, by bucket
 * @typedef {ReturnType<typeof createSpool>} Spool
 */

const SPOOL_TIMEOUT_MS = 2000;
/** A status that is older is not known any more. */
const SPOOL_FRESH_MS = 20_000;

/** @param {{url: string, clock: () => number, get?: typeof fetch}} deps */
function createSpool({ url, clock, get = fetch }) {
  /** @type {{ts: number, status: SpoolStatus}|null} */
  let newest = null;
  const status = () => (newest !== null && clock() - newest.ts <= SPOOL_FRESH_MS ? newest.status : null);

  /** @type {import('./figures').Figure[]} */
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
      const answer = await get(`${url}/status`, { signal: AbortSignal.timeout(SPOOL_TIMEOUT_MS) }).catch(() => null);
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

module.exports = { createParts, createSecondStore, createSpool };
