'use strict';

const assert = require('node:assert/strict');
const { EventEmitter, once } = require('node:events');
const { test } = require('node:test');
const express = require('express');
const fc = require('./support/fast-check');
const { createFigures, createHttpFigures, createIntervalHistogram, createPrometheus } = require('../lib/health/figures');
const { createProcessFigures, siteFigures } = require('../lib/health/own-figures');
const { createBuilding } = require('../lib/building');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');
const { receive } = require('./support/receive');

const gauge = (name, read, more = {}) => ({ name, kind: 'gauge', help: `About ${name}`, read, ...more });
const counter = (name, read, more = {}) => ({ ...gauge(name, read, more), kind: 'counter' });
const linesOf = async (figures) => (await createPrometheus(figures, '1').text()).split('\n');

test('one list of figures: flat numbers for the heartbeat, the same for Prometheus', async () => {
  const figures = createFigures();
  figures.add([gauge('store_lag_ms', () => 1500), counter('readings', () => 7), gauge('unknown_ms', () => null), gauge('uptime_s', () => 9),
    counter('refused', () => ({ not_json: 1, 'too-large': 2 }), { label: 'reason', flat: 'sum' }),
    counter('callers', () => ({ hacs: 5 }), { label: 'caller', flat: 'none' }), gauge('odd', () => NaN)]);
  assert.deepEqual(figures.flat(), { store_lag_ms: 1500, readings: 7, uptime_s: 9, refused: 3, refused_not_json: 1, refused_too_large: 2 });
  const lines = await linesOf(figures);
  for (const line of ['sda_store_lag_seconds 1.5', 'sda_readings_total 7', 'sda_uptime_seconds 9', 'sda_refused_total{reason="not_json"} 1',
    'sda_refused_total{reason="too-large"} 2', 'sda_callers_total{caller="hacs"} 5', '# HELP sda_store_lag_seconds About store_lag_ms.',
    '# TYPE sda_readings_total counter', 'sda_build_info{version="1"} 1']) assert.ok(lines.includes(line), line);
  assert.ok(!lines.some((line) => line.startsWith('sda_unknown')), 'unknown is not exported as 0');
  assert.ok(lines.some((line) => line.startsWith('nodejs_eventloop_lag_p99_seconds ')));
});

test('a figure\'s name is unique, valid, and can be removed', () => {
  const figures = createFigures();
  const takeOff = figures.add([gauge('a', () => 1)]);
  assert.throws(() => figures.add([gauge('a', () => 2)]), /"a"/);
  assert.throws(() => figures.add([gauge('No Name', () => 2)]), /"No Name"/);
  takeOff();
  let rolled = 0;
  figures.add([gauge('a', () => 3)], () => { rolled += 1; });
  figures.roll();
  assert.deepEqual([figures.flat(), rolled], [{ a: 3 }, 1]);
});

test('Prometheus gets present figures only: removed parts are gone', async () => {
  const figures = createFigures();
  let parts = { a: 1, b: 2 };
  figures.add([gauge('part', () => parts, { label: 'name' })]);
  const prometheus = createPrometheus(figures, '1');
  assert.match(await prometheus.text(), /sda_part\{name="b"\} 2/);
  parts = { a: 5 };
  const text = await prometheus.text();
  assert.match(text, /sda_part\{name="a"\} 5/);
  assert.doesNotMatch(text, /name="b"/);
  parts = null;
  assert.doesNotMatch(await prometheus.text(), /^sda_part/m, 'nothing is known of any');
});

test('property: an interval histogram has median, 99th percentile and maximum of the last interval, to two digits', () => {
  const histogram = createIntervalHistogram();
  assert.deepEqual(histogram.read(), { p50_ms: null, p99_ms: null, max_ms: null, count: 0 });
  fc.assert(fc.property(fc.array(fc.double({ min: 0.01, max: 100_000, noNaN: true }), { minLength: 1, maxLength: 300 }), (times) => {
    for (const ms of times) histogram.add(ms);
    histogram.roll();
    const sorted = times.toSorted((a, b) => a - b);
    const { p50_ms: p50, p99_ms: p99, max_ms: max, count } = histogram.read();
    const near = (value, share) => {
      const expected = sorted[Math.ceil(share * sorted.length) - 1];
      assert.ok(Math.abs(value - expected) <= expected * 0.02 + 0.001, `${value} for ${expected}`);
    };
    near(p50, 0.5);
    near(p99, 0.99);
    near(max, 1);
    assert.equal(count, times.length);
  }));
  histogram.roll();
  assert.equal(histogram.read().p50_ms, null);
  for (const odd of [-5000, 0, 1e12]) histogram.add(odd); // a receiver's clock is ahead; a backlog of days
  histogram.roll();
  assert.ok(Math.abs(histogram.read().max_ms - 3_600_000) < 36_000, `${histogram.read().max_ms}`);
});

test('a site has the lag of its locations and the counts of all messages', () => {
  const site = new Site(createBuilding(smallBuilding()), 0);
  const figures = createFigures();
  figures.add(siteFigures(site, () => 1_000_000), site.live.lag.roll);
  const send = (staff, data, nowMs) => receive(site, `sda/v1/phone/${staff}/readings`, Buffer.from(JSON.stringify(data)), nowMs);
  send('0', { ts: 999_600, readings: [{ beacon: BEACONS.a, rssi: -60 }] }, 999_800);
  send('1', { ts: 'x', readings: [] }, 999_900);
  send('1', { readings: [{ beacon: BEACONS.a, rssi: 'x' }], ts: 999_900 }, 999_900);
  site.flush(1_000_000);
  figures.roll();
  const flat = figures.flat();
  assert.ok(Math.abs(flat.live_lag_p50_ms - 400) < 8, `${flat.live_lag_p50_ms} from its reading`);
  assert.deepEqual([flat.messages, flat.locations, flat.refused, flat.refused_ts_invalid, flat.refused_rssi_invalid, flat.staff_present],
    [3, 1, 2, 1, 1, 0]);
  site.flush(1_002_000);
  assert.equal(figures.flat().staff_present, 1, 'whoever appears is shown after 2 s');
  assert.equal(flat.gateways_online + flat.gateways_offline + flat.gateways_silent + flat.gateways_unknown, site.building().gateways.size);
  figures.roll();
  assert.equal('live_lag_p50_ms' in figures.flat(), false, 'nobody was located since');
});

test('corrected history does not count as lag', () => {
  const site = new Site(createBuilding(smallBuilding()), 0);
  const lag = () => { site.live.lag.roll(); return site.live.lag.read(); };
  const locations = () => site.memory.history.between('0', 0, Infinity);
  let nowMs = 1_000_000;
  const send = (a, b) => {
    nowMs += 1000;
    const data = { ts: nowMs - 200, readings: [{ beacon: BEACONS.a, rssi: a }, { beacon: BEACONS.b, rssi: b }] };
    receive(site, 'sda/v1/phone/0/readings', Buffer.from(JSON.stringify(data)), nowMs - 100);
    site.flush(nowMs);
  };
  for (let s = 0; s < 60; s += 1) send(-65, -75);
  const [{ room }] = locations();
  for (let s = 0; s < 60 && locations().at(-1).room === room; s += 1) send(-75, -65);
  assert.notEqual(locations().at(-1).room, room);
  const live = locations().filter((one) => one.room !== room).length;
  for (let s = 0; s < 8; s += 1) send(-75, -65);
  const corrected = locations().filter((one) => one.room !== room).length - live - 8;
  assert.ok(corrected > 0, `the room began before it was sure: ${corrected}`);
  assert.ok(lag().max_ms < 1500);
});

test('answers are counted by route as declared, by status and by caller, and timed', async (t) => {
  const seen = [];
  const asked = new EventEmitter();
  const http = createHttpFigures({ observe: (route, seconds) => seen.push([route, seconds]) });
  const app = express().use(http.watch);
  app.get('/x/:id', (request, response) => {
    response.locals.route = '/x/{id}';
    response.locals.caller = { kind: request.params.id === '1' ? 'key' : 'trusted', name: request.params.id === '1' ? 'hacs' : '127.0.0.1' };
    if (request.params.id === 'slow') asked.emit('slow');
    else setTimeout(() => response.status(request.params.id === '1' ? 200 : 503).end(), 20);
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  for (const path of ['/x/1', '/x/1', '/x/2', '/what/ever']) await (await fetch(url + path)).text();
  const leaving = new AbortController();
  asked.once('slow', () => leaving.abort());
  await assert.rejects(fetch(`${url}/x/slow`, { signal: leaving.signal }));
  const figures = createFigures();
  figures.add(http.figures, http.roll);
  while (seen.length < 5) await new Promise((resolve) => { setTimeout(resolve, 5); });
  figures.roll();
  const flat = figures.flat();
  const { http_p50_ms_x_id: p50, http_p99_ms_x_id: p99 } = flat;
  assert.deepEqual(Object.fromEntries(Object.entries(flat).filter(([name]) => !name.includes('_ms_'))), { http_answers: 5, http_answers_200: 2, http_answers_404: 1, http_answers_499: 1, http_answers_503: 1,
    http_requests_x_id: 4, http_requests_none: 1 });
  assert.ok(p50 >= 18 && p99 >= p50, `${p50} ${p99}`);
  assert.deepEqual(seen.map(([route]) => route).toSorted(), ['/x/{id}', '/x/{id}', '/x/{id}', '/x/{id}', 'none']);
  assert.match((await linesOf(figures)).join('\n'), /sda_http_callers_total\{caller="hacs"\} 2/);
});

test('the process has figures of memory and event loop lag', async () => {
  const ofProcess = createProcessFigures(1000, () => 61_000);
  const figures = createFigures();
  figures.add(ofProcess.figures, ofProcess.roll);
  await new Promise((resolve) => { setTimeout(resolve, 60); });
  const end = performance.now() + 120;
  while (performance.now() < end);
  await new Promise((resolve) => { setTimeout(resolve, 60); });
  figures.roll();
  const flat = figures.flat();
  ofProcess.stop();
  assert.equal(flat.uptime_s, 60);
  assert.ok(flat.rss_bytes > 1e7 && flat.heap_bytes > 1e6);
  assert.ok(flat.loop_lag_max_ms > 80 && flat.loop_lag_max_ms < 5000, `${flat.loop_lag_max_ms}`);
  assert.ok(flat.loop_busy_pct > 20 && flat.loop_busy_pct <= 100, `${flat.loop_busy_pct}`);
});
