// @ts-check
'use strict';

const { StoreUnavailable } = require('../../store');

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
 * @param {import('../../store/influx').Influx['query']} options.query
 * @param {import('../../store/influx').Influx['metrics']} options.metrics
 * @param {() => boolean} options.connected to the broker
 * @param {() => number} options.clock
 * @param {Pick<import('../../events').EventBus, 'emit'>} [options.bus] hears what the broker says of itself
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

/** @param {import('../../store/influx').Series[]} series one an output @returns {Outputs|null} */
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

module.exports = { createParts };
