'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { StoreUnavailable } = require('../lib/store');
const { KEPT_MS, createFigures, createTrend, growth, percentile, rates } = require('../lib/health/figures');
const { EventBus } = require('../lib/events');
const { createParts } = require('../lib/health/other-figures');
const { system } = require('../lib/dashboard/topics');
const { playInflux } = require('./support/influx');

const NOW = 1_800_000_000_000;
const WRITTEN = [
  { tags: { alias: 'readings' }, columns: [], rows: [[NOW - 4000, 500, 3, 2, 11]] }, { tags: { alias: 'health' }, columns: [], rows: [[NOW - 4000, 90, 0, 0, 1]] }];
const MEMSTATS = [{ tags: {}, columns: [], rows: [[NOW - 4000, 70_000, 10_000]] }];

/** Parts whose database answers as `rig` says. */
function parts(rig) {
  const figures = createFigures();
  const bus = new EventBus();
  const made = createParts({ bus, connected: () => rig.connected, clock: () => NOW,
    query: async (_bucket, statement) => (statement.includes('internal_write') ? rig.written() : rig.memory()),
    metrics: async () => rig.text() });
  figures.add(made.figures);
  return { ...made, bus, flat: figures.flat };
}
const away = () => { throw new StoreUnavailable('away'); };
const whole = () => ({ connected: true, written: () => WRITTEN, memory: () => MEMSTATS,
  text: () => '# HELP x\ngo_memstats_sys_bytes 9e+04\ngo_memstats_sys_bytes_more 1\ngo_memstats_heap_released_bytes 40000\n' });

test('each part gives its figures in its own way', async () => {
  const { handleMessage, poll, flat } = parts(whole());
  await poll();
  handleMessage({ topic: '$SYS/broker/heap/current', payload: Buffer.from('369352') });
  handleMessage({ topic: '$SYS/broker/uptime', payload: Buffer.from('90 seconds') });
  handleMessage({ topic: '$SYS/broker/publish/messages/dropped', payload: Buffer.from('7') });
  handleMessage({ topic: '$SYS/broker/publish/messages/received', payload: Buffer.from('9000') });
  handleMessage({ topic: '$SYS/broker/heap/current', payload: Buffer.from('odd') });
  handleMessage({ topic: '$SYS/broker/bytes/sent', payload: Buffer.from('5') });
  assert.deepEqual(flat(), {
    memory_bytes_broker: 369_352, memory_bytes_ingest: 60_000, memory_bytes_influxdb: 50_000, broker_dropped: 7, broker_received: 9000,
    ingest_waiting: 12, ingest_dropped: 5, ingest_dropped_readings: 5, ingest_dropped_health: 0 });
});

test('what the broker says of its uptime and of drops is handed on, each time', () => {
  const { handleMessage, bus } = parts(whole());
  const said = [];
  bus.on('brokerUptime', (...report) => said.push(['uptime', ...report]));
  bus.on('brokerDropped', (...report) => said.push(['dropped', ...report]));
  for (const [topic, text] of [['uptime', '90 seconds'], ['publish/messages/dropped', '7'], ['heap/current', '5'], ['uptime', 'odd'], ['uptime', '100 s']]) {
    handleMessage({ topic: `$SYS/broker/${topic}`, payload: Buffer.from(text) });
  }
  assert.deepEqual(said, [['uptime', 90, NOW], ['dropped', 7, NOW], ['uptime', 100, NOW]]);
});

test('a part that is away has no figures', async () => {
  const rig = whole();
  const { handleMessage, poll, flat } = parts(rig);
  handleMessage({ topic: '$SYS/broker/heap/current', payload: Buffer.from('1') });
  await poll();
  handleMessage({ topic: '$SYS/broker/uptime', payload: Buffer.from('1078 seconds') });
  assert.deepEqual([flat().memory_bytes_broker, flat().broker_dropped], [1, 0], 'no message about drops means none');
  Object.assign(rig, { connected: false, written: away, memory: away, text: away });
  await poll();
  assert.deepEqual(flat(), {});
  Object.assign(rig, { connected: true, written: () => [], memory: () => [], text: () => 'no such figure' });
  await poll();
  assert.deepEqual(flat(), { memory_bytes_broker: 1, broker_dropped: 0 });
  rig.written = () => { throw new TypeError('a fault of ours'); };
  await assert.rejects(poll(), TypeError);
});

test('InfluxDB\'s own figures are fetched without the token, and an absent InfluxDB is one that is away', async (t) => {
  const asked = [];
  const influx = await playInflux(t, ({ url, headers }, response) => {
    asked.push([url, headers.authorization]);
    response.end('go_memstats_sys_bytes 1\n');
  });
  assert.equal(await influx.metrics(1000), 'go_memstats_sys_bytes 1\n');
  assert.deepEqual(asked, [['/metrics', undefined]]);
  const silent = await playInflux(t, () => {});
  await assert.rejects(silent.metrics(50), StoreUnavailable);
});

test('samples of a quarter of an hour are kept; a clock that is set back starts again', () => {
  const trend = createTrend();
  for (let s = 0; s <= 3600; s += 5) trend.add({ ts: NOW + s * 1000, messages: s });
  assert.equal(trend.samples().length, KEPT_MS / 5000 + 1);
  assert.equal(trend.samples()[0].messages, 3600 - 900);
  trend.add({ ts: NOW, messages: 1 });
  assert.deepEqual(trend.samples().map(({ messages }) => messages), [1]);
  for (let ms = 1; ms <= 1000; ms += 1) trend.add({ ts: NOW + ms, messages: 1 });
  assert.equal(trend.samples().length, 200);
});

test('rate of a counter, over restarts of its process, by its own clock', () => {
  const samples = [[0, 10], [5, 20], [10, undefined], [15, 40], [20, 5]].map(([s, count]) => (
    { ts: NOW + s * 1000, ...(count === undefined ? {} : { count }) }));
  assert.deepEqual(rates(samples, 'count'), [null, 2, null, 2, 1]);
  const stored = [[0, 100, 0], [5, 100, 0], [10, 300, 10], [15, 300, 10]].map(([s, count, at]) => ({ ts: NOW + s * 1000, count, at }));
  assert.deepEqual(rates(stored, 'count', ({ at }) => at * 1000), [null, null, 20, null]);
});

test('increase of a counter: own ones start at 0, the first value of external ones is from before', () => {
  const samples = [{ ts: 1 }, { ts: 2, count: 4 }, { ts: 3, count: 6 }, { ts: 4, count: 1 }];
  assert.equal(growth(samples, 'count', true), 7);
  assert.equal(growth(samples, 'count', false), 3);
  assert.equal(growth([], 'count', true), 0);
});

test('percentiles are existing values', () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.deepEqual([percentile(values, 0.5), percentile(values, 0.99), percentile([7], 0.99), percentile([], 0.5)], [50, 99, 7, null]);
});

test('the system topic has lines, counts by reason, and memory, as of the newest heartbeat', () => {
  const trend = createTrend();
  const site = { startedMs: NOW - 60_000 };
  assert.deepEqual(system({ site, trend }).counts, []);
  trend.add({ ts: NOW, messages: 0, refused: 1, refused_not_json: 1, unregistered: 0, live_lag_p50_ms: 700.04, store_lag_ms: 200,
    broker_dropped: 5 });
  trend.add({ ts: NOW + 5000, messages: 500, refused: 4, refused_not_json: 4, unregistered: 9, store_lag_ms: 300, broker_dropped: 5,
    rss_bytes: 9, memory_bytes_broker: 1, gateways_online: 2, loop_busy_pct: 3 });
  const data = system({ site, trend });
  assert.deepEqual(data.ts_ms, [NOW, NOW + 5000]);
  assert.deepEqual(data.trends, { messages_per_s: [null, 100], stored_per_s: [null, null], live_lag_p50_ms: [700, null],
    live_lag_p99_ms: [null, null], store_lag_ms: [200, 300] });
  assert.deepEqual(data.store_lag, { p50_ms: 200, p99_ms: 300, count: 2 });
  assert.deepEqual(data.counts, [{ name: 'refused_not_json', total: 4, lately: 3 }, { name: 'unregistered', total: 9, lately: 9 },
    { name: 'broker_dropped', total: 5, lately: 0 }]);
  assert.deepEqual([data.memory_bytes, data.busy_pct, data.gateways.online], [{ flows: 9, broker: 1 }, 3, 2]);
});
