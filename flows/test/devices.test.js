'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createBuilding } = require('../lib/building');
const { createBeacons } = require('../lib/devices/beacons');
const { createGateways } = require('../lib/devices/gateways');
const { readMessage } = require('../lib/live/readings');
const { smallBuilding, BEACONS, TAG } = require('./support/building');

const T = 1_700_000_000_000;
const building = createBuilding(smallBuilding());
const batch = (receiver, ts, ...readings) => ({ kind: 'gateway', receiver, ts, readings });
const mac = (n) => n.toString(16).toUpperCase().padStart(12, '0');
const message = (gateway, what, body, retain = false) => ({
  topic: `sda/v1/gateway/${gateway}/${what}`, payload: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), retain,
});

test('a registered beacon has its last reading: time, receiver, RSSI and telemetry', () => {
  const beacons = createBeacons();
  assert.equal(beacons.of(TAG), null);
  assert.equal(beacons.addBatch(batch('gw-a', T, { beacon: TAG, rssi: -60, battery_mv: 2900 }), building, T + 5), 0);
  assert.equal(beacons.addBatch({ ...batch('7', T + 1000, { beacon: TAG, rssi: -70 }), kind: 'phone' }, building, T + 1005), 0);
  const { said_ms: said, unsaid, ...known } = beacons.of(TAG);
  assert.deepEqual(known, { first_ms: T, heard_ms: T + 1000, kind: 'phone', receiver: '7', rssi: -70, count: 2,
    measured_ms: T, battery_mv: 2900, temperature_c: null, humidity_pct: null });
  assert.deepEqual([said, unsaid], [[T, T, T], [1, 2, 2]]);
});

test('what a beacon says of itself no longer is forgotten, each value apart; of one that is silent it stays', () => {
  const beacons = createBeacons();
  const hear = (s, more = {}) => beacons.addBatch(batch('gw-a', T + s * 1000, { beacon: TAG, rssi: -60, ...more }), building, T + s * 1000);
  const known = () => { const { battery_mv: mv, temperature_c: c, measured_ms: ms } = beacons.of(TAG); return [mv, c, ms]; };
  hear(0, { battery_mv: 100, temperature_c: 21 });
  for (let s = 1; s <= 3600; s += 1) hear(s, s % 60 === 0 ? { temperature_c: 22 } : {});
  assert.deepEqual(known(), [100, 22, T + 3_600_000], 'for an hour it may be late');
  assert.equal(beacons.isWithoutBattery(TAG), false);
  hear(3601);
  assert.deepEqual(known(), [null, 22, T + 3_600_000]);
  assert.equal(beacons.isWithoutBattery(TAG), true);
  for (let s = 3602; s <= 7300; s += 1) hear(s);
  assert.deepEqual(known(), [null, null, null]);
  hear(7301, { battery_mv: 2900 });
  assert.deepEqual([known(), beacons.isWithoutBattery(TAG)], [[2900, null, T + 7_301_000], false]);
  for (let n = 1; n <= 100; n += 1) hear(7301 + n * 3600); // who passes by now and then hears one frame of many
  assert.equal(known()[0], 2900);
});

test('a battery of 0 mV is one that was not measured', () => {
  const { batch: read, rejections } = readMessage('sda/v1/phone/0/readings', Buffer.from(JSON.stringify({ ts: T,
    readings: [0, 0.5, 1, 2950.7].map((mv, n) => ({ beacon: mac(n), rssi: -60, battery_mv: mv })) })), T);
  assert.deepEqual([read.readings.map(({ battery_mv: mv }) => mv), rejections], [[undefined, undefined, 1, 2950], []]);
});

test('of a reading without an RSSI the values are known, and when it was heard stays', () => {
  const beacons = createBeacons();
  const unmeasured = (ts, ...measured) => ({ ...batch('gw-a', ts), measured });
  beacons.addBatch(unmeasured(T, { beacon: TAG, battery_mv: 2900 }, { beacon: mac(1), battery_mv: 2900 }), building, T);
  assert.deepEqual([beacons.of(TAG).heard_ms, beacons.of(TAG).measured_ms, beacons.of(TAG).battery_mv], [0, T, 2900]);
  assert.deepEqual(beacons.unregistered(), [], 'nobody registered it, and nothing is known of it');
  beacons.addBatch(batch('gw-a', T + 1000, { beacon: TAG, rssi: -60 }), building, T + 1000);
  beacons.addBatch(unmeasured(T + 2000, { beacon: TAG, temperature_c: 21 }), building, T + 2000);
  const { heard_ms: heard, rssi, measured_ms: measured, battery_mv: battery, temperature_c: temperature } = beacons.of(TAG);
  assert.deepEqual([heard, rssi, measured, battery, temperature], [T + 1000, -60, T + 2000, 2900, 21]);
  beacons.addBatch(unmeasured(T - 9000, { beacon: TAG, battery_mv: 2000 }), building, T + 3000);
  assert.equal(beacons.of(TAG).battery_mv, 2900, 'from a backlog');
});

test('a backlog does not change the last reading, and a time ahead is corrected', () => {
  const beacons = createBeacons();
  beacons.addBatch(batch('gw-a', T, { beacon: TAG, rssi: -60, battery_mv: 2500 }), building, T);
  beacons.addBatch(batch('gw-b', T - 60_000, { beacon: TAG, rssi: -40, battery_mv: 3000 }), building, T + 10);
  assert.deepEqual([beacons.of(TAG).receiver, beacons.of(TAG).battery_mv, beacons.of(TAG).count], ['gw-a', 2500, 2]);
  beacons.addBatch(batch('gw-b', T + 200_000, { beacon: TAG, rssi: -40 }), building, T + 20);
  assert.equal(beacons.of(TAG).heard_ms, T + 20);
});

test('restored readings count where there is no newer one', () => {
  const beacons = createBeacons();
  beacons.addBatch(batch('gw-a', T, { beacon: BEACONS.a, rssi: -60 }), building, T);
  const row = (beacon, ts) => ({ beacon, ts, kind: 'phone', receiver: '1', rssi: -80 });
  beacons.restore(building, [row(BEACONS.a, T - 5), row(BEACONS.b, T - 9000), row(mac(1), T)]);
  assert.deepEqual([BEACONS.a, BEACONS.b, mac(1)].map((id) => beacons.of(id)?.heard_ms), [T, T - 9000, undefined]);
});

test('the latest unregistered beacons are kept, however many pass by', () => {
  const beacons = createBeacons();
  const steady = mac(0);
  let unregistered = 0;
  for (let n = 1; n <= 5000; n += 1) {
    unregistered += beacons.addBatch(batch('gw-a', T + n, { beacon: mac(n), rssi: -90 }, { beacon: steady, rssi: -50 }), building, T + n);
  }
  assert.equal(unregistered, 10_000);
  const unregisteredOnes = beacons.unregistered();
  assert.equal(unregisteredOnes.length, 256);
  assert.equal(unregisteredOnes[0].beacon, steady);
  assert.deepEqual([unregisteredOnes[0].count, unregisteredOnes[0].rssi, unregisteredOnes[0].first_ms], [5000, -50, T + 1]);
});

test('a new building moves beacons between registered and unregistered', () => {
  const beacons = createBeacons();
  beacons.addBatch(batch('gw-a', T, { beacon: TAG, rssi: -60 }, { beacon: mac(1), rssi: -61 }), building, T);
  const next = smallBuilding();
  next.staff[0].tags = [mac(1)];
  beacons.setBuilding(createBuilding(next));
  assert.equal(beacons.of(mac(1)).rssi, -61);
  assert.equal(beacons.of(TAG), null);
  assert.deepEqual(beacons.unregistered().map(({ beacon }) => beacon), [TAG]);
});

test('a gateway is online, silent, offline, and online again', () => {
  const gateways = createGateways();
  assert.equal(gateways.of('gw-a', T), null);
  assert.deepEqual(gateways.handleMessage(message('gw-a', 'status', { state: 'online', ts: T - 500, version: '1.2' }), building, T), { gateway: 'gw-a', up: true });
  const state = (nowMs) => { const { state: is, since } = gateways.of('gw-a', nowMs); return [is, since]; };
  assert.deepEqual(state(T + 59_000), ['online', T - 500]);
  assert.deepEqual(state(T + 61_000), ['silent', T]);
  gateways.addBatch(batch('gw-a', T + 70_000, { beacon: TAG, rssi: -50 }), building, T + 70_000);
  assert.deepEqual(state(T + 71_000), ['online', T - 500]);
  assert.deepEqual(gateways.handleMessage(message('gw-a', 'status', { state: 'offline', ts: T - 500 }), building, T + 80_000), { gateway: 'gw-a', up: false });
  gateways.addBatch(batch('gw-a', T + 79_000, { beacon: TAG, rssi: -50 }), building, T + 80_500); // in flight
  assert.deepEqual(state(T + 300_000), ['offline', T + 80_000]);
  gateways.handleMessage(message('gw-a', 'health', { ts: T + 400_000, queued: 3, version: '1.3' }), building, T + 400_000);
  assert.deepEqual(state(T + 401_000), ['online', T + 400_000]);
  assert.equal(gateways.of('gw-a', T + 401_000).version, '1.3');
});

test('of a gateway that was removed nothing is known until it sends again', () => {
  const gateways = createGateways();
  gateways.handleMessage(message('gw-a', 'status', { state: 'online', ts: T }), building, T);
  assert.deepEqual(gateways.handleMessage(message('gw-a', 'status', { state: 'removed', ts: T + 5000 }), building, T + 5000),
    { gateway: 'gw-a', up: false }, 'its silence says nothing any more');
  gateways.addBatch(batch('gw-a', T + 4900, { beacon: TAG, rssi: -50 }), building, T + 5100); // was on its way
  assert.deepEqual([gateways.of('gw-a', T + 100_000).state, gateways.of('gw-a', T + 100_000).version], ['unknown', null]);
  gateways.addBatch(batch('gw-a', T + 101_000, { beacon: TAG, rssi: -50 }), building, T + 101_000);
  assert.equal(gateways.of('gw-a', T + 101_000).state, 'online');
  assert.equal(gateways.refused(), 0);
});

test('what a gateway says of itself no longer is forgotten: its version with the next start, its figures after five minutes', () => {
  const gateways = createGateways();
  const of = (s) => { const { version, health } = gateways.of('gw-a', T + s * 1000); return [version, health]; };
  const say = (s, what, body) => gateways.handleMessage(message('gw-a', what, { ts: T + s * 1000, ...body }), building, T + s * 1000);
  const hear = (s) => gateways.addBatch(batch('gw-a', T + s * 1000, { beacon: TAG, rssi: -50 }), building, T + s * 1000);
  say(0, 'status', { state: 'online', version: '1.2' });
  say(10, 'health', { queued: 90_000 });
  say(20, 'status', { state: 'offline' });
  assert.deepEqual(of(9000), ['1.2', { ts: T + 10_000, queued: 90_000 }], 'the last that is known of one that is away');
  say(9001, 'status', { state: 'online' });
  assert.deepEqual(of(9002), [null, null]);
  say(9003, 'health', { queued: 0, version: '1.3' });
  for (let s = 9004; s < 9303; s += 1) hear(s);
  assert.deepEqual(of(9303), ['1.3', { ts: T + 9_003_000, queued: 0, version: '1.3' }]);
  hear(9304);
  assert.deepEqual(of(9304), ['1.3', null]);
});

test('what was retained from before our start has no time', () => {
  const gateways = createGateways();
  gateways.handleMessage(message('gw-a', 'status', { state: 'offline', ts: T - 90_000 }, true), building, T);
  assert.deepEqual([gateways.of('gw-a', T).state, gateways.of('gw-a', T).since], ['offline', null]);
  gateways.addBatch(batch('gw-a', T - 120_000, { beacon: TAG, rssi: -50 }), building, T + 5000); // from the broker's queue
  assert.equal(gateways.of('gw-a', T + 6000).state, 'offline');
});

test('the rate is a mean of the last half minute', () => {
  const gateways = createGateways();
  for (let s = 0; s <= 300; s += 1) {
    gateways.addBatch(batch('gw-a', T + s * 1000, ...[1, 2, 3, 4].map((n) => ({ beacon: mac(n), rssi: -50 }))), building, T + s * 1000);
  }
  assert.ok(Math.abs(gateways.of('gw-a', T + 300_000).readings_per_s - 4) < 0.2);
  assert.ok(gateways.of('gw-a', T + 450_000).readings_per_s < 0.1);
});

test('a health message gives its numbers and nothing else', () => {
  const gateways = createGateways();
  const body = { ts: T, version: 'v', queued: 7, note: 'text', list: [1], 'Bad key': 1, ...Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x${n}`, n])) };
  gateways.handleMessage(message('gw-a', 'health', body), building, T);
  const { health } = gateways.of('gw-a', T);
  assert.equal(health.queued, 7);
  assert.equal(health.note ?? health.list ?? health['Bad key'], undefined);
  assert.equal(Object.keys(health).length, 66);
  gateways.handleMessage(message('gw-a', 'health', { ts: T, version: 3, queued: 1 }), building, T);
  assert.deepEqual(gateways.of('gw-a', T).health, { ts: T, queued: 1 });
});

test('unlisted gateways are bounded, and keep their state when they become listed', () => {
  const gateways = createGateways();
  for (let n = 0; n < 400; n += 1) gateways.addBatch(batch(`gw-${n}`, T, { beacon: TAG, rssi: -50 }), building, T);
  gateways.addBatch(batch('gw-a', T, { beacon: TAG, rssi: -50 }), building, T);
  assert.equal(gateways.unlisted().length, 256);
  assert.equal(gateways.unlisted()[0], 'gw-399');
  const next = smallBuilding();
  next.gateways.push({ id: 'gw-399', level: 'L1', room: 'a', x_m: 2, y_m: 2 });
  gateways.setBuilding(createBuilding(next));
  assert.equal(gateways.unlisted()[0], 'gw-398');
  assert.equal(gateways.of('gw-399', T).state, 'online');
});

test('property: any message under status and health is taken or counted', () => {
  fc.assert(fc.property(fc.constantFrom('status', 'health', 'other'), fc.oneof(fc.json(), fc.string(), fc.constant('')), fc.boolean(), (what, body, retain) => {
    const gateways = createGateways();
    gateways.handleMessage(message('gw-a', what, body, retain), building, T);
    const known = gateways.of('gw-a', T);
    assert.ok(body === '' ? gateways.refused() === 0 && !known : (gateways.refused() === 1) === (known === null));
  }));
});

test('losses of gateways are summed by reason since our start, over their restarts', () => {
  const gateways = createGateways();
  const report = (gateway, figures) => gateways.handleMessage(message(gateway, 'health', { ts: T, ...figures }), building, T);
  report('gw-a', { dropped_age: 100, dropped_weak: 5 });
  assert.deepEqual(gateways.lost(), { age: 0, size: 0, time: 0, disk: 0 }, 'that was before');
  report('gw-a', { dropped_age: 103, dropped_weak: 9 });
  report('gw-b', {});
  report('gw-b', { dropped_disk: 7 });
  report('gw-a', { dropped_age: 2 });
  assert.deepEqual(gateways.lost(), { age: 5, size: 0, time: 0, disk: 7 });
});
