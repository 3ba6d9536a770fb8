'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { normaliseBeacon } = require('../lib/building/ids');
const { OddNumber, parse } = require('../lib/shared/json');
const { createBuilding } = require('../lib/building');
const { PROBE_TOPIC, probeMessage, readMessage, BOUNDS } = require('../lib/live/readings');
const { Site } = require('../lib/site');
const { BEACONS, smallBuilding } = require('./support/building');

const NOW = 1_637_396_919_123;
const DAY = 24 * 3600 * 1000;
const TOPIC = 'sda/v1/phone/0/readings';
const good = { beacon: BEACONS.a, rssi: -61 };
const read = (data, topic = TOPIC) => readMessage(topic, Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)), NOW);

test('a good batch from a phone and from a gateway', () => {
  assert.deepEqual(read({ v: 1, ts: NOW, seq: 17, readings: [good], more: 1 }), {
    batch: { kind: 'phone', receiver: '0', ts: NOW, readings: [good] }, rejections: [] });
  const { batch } = read({ ts: NOW, readings: [{ ...good, n: 4, tx: -59, battery_mv: 2950, temperature_c: 21.5, humidity_pct: 40, x: 1 }] },
    'sda/v1/gateway/gw-a/readings');
  assert.equal(batch.kind, 'gateway');
  assert.deepEqual(batch.readings, [{ ...good, n: 4, tx: -59, battery_mv: 2950, temperature_c: 21.5, humidity_pct: 40 }]);
});

test('a probe of the flows is neither a batch nor refused', () => {
  const { bus, live } = new Site(createBuilding(smallBuilding()), NOW);
  const sent = [];
  bus.on('probe', (ms, nowMs) => sent.push([ms, nowMs]));
  for (const payload of [probeMessage(NOW - 7).payload, '{"ts":"1"}', '']) {
    assert.deepEqual(live.check(PROBE_TOPIC, Buffer.from(payload), NOW), { batch: null, refused: [] });
  }
  assert.deepEqual(sent, [[NOW - 7, NOW]]);
  const { messages, readings, refused } = live.counters();
  assert.deepEqual([messages, readings, refused], [0, 0, 0]);
});

const whole = [
  ['not_json', 'no JSON'], ['not_json', ''], ['not_json', '{"ts":1'], ['not_a_batch', '[]'], ['not_a_batch', 'null'], ['not_a_batch', '7'],
  ['version', { v: 2, ts: NOW, readings: [good] }], ['version', { v: '1', ts: NOW, readings: [good] }],
  ['ts_missing', { readings: [good] }], ['ts_missing', { ts: null, readings: [good] }], ['ts_invalid', { ts: String(NOW), readings: [good] }],
  ['ts_invalid', { ts: NOW + 0.5, readings: [good] }], ['ts_invalid', `{"ts":1e999,"readings":[]}`],
  ['ts_too_old', { ts: NOW - 8 * DAY, readings: [good] }], ['ts_too_old', { ts: NOW / 1000 | 0, readings: [good] }],
  ['ts_ahead', { ts: NOW + 400 * DAY, readings: [good] }], ['ts_ahead', { ts: NOW + 5 * 60_000 + 1, readings: [good] }],
  ['not_a_batch', { ts: NOW }], ['not_a_batch', { ts: NOW, readings: {} }],
  ['too_many_readings', { ts: NOW, readings: Array(501).fill(good) }],
  ['too_large', { ts: NOW, readings: [good], more: 'x'.repeat(65_664) }],
  ...['1e0', '10e-1', '1.00000000000000000001'].map((v) => ['version', `{"v":${v},"ts":${NOW},"readings":[]}`]),
  ...[`${NOW}e0`, '1.637396919123e12', `${NOW}.00000000000000000001`].map((ts) => ['ts_invalid', `{"v":1,"ts":${ts},"readings":[]}`]),
  ['ts_invalid', `{"ts":${NOW}.5,"ts":${NOW},"readings":[]}`],
  ['not_a_batch', `{"ts":${NOW},"readings":1,"readings":[]}`], ['version', `{"ts":${NOW},"v":2,"v":1,"readings":[]}`],
  ['not_json', `\ufeff\ufeff{"ts":${NOW},"readings":[]}`],
];
for (const [reason, data] of whole) {
  test(`refused whole as ${reason}: ${JSON.stringify(data).slice(0, 60)}`, () => {
    const { batch, rejections } = read(data);
    assert.equal(batch, null);
    assert.equal(rejections.length, 1);
    assert.deepEqual({ ...rejections[0], detail: '' }, { kind: 'phone', receiver: '0', reason, detail: '', count: 1 });
    assert.ok(rejections[0].detail.length > 5);
  });
}

test('the bounds themselves are good', () => {
  for (const ts of [NOW - 7 * DAY + 60_000, NOW + 5 * 60_000]) assert.ok(read({ ts, readings: [good] }).batch);
  for (const rssi of [-126, -1]) assert.equal(read({ ts: NOW, readings: [{ ...good, rssi }] }).batch.readings.length, 1);
  assert.equal(read({ ts: NOW, readings: Array(500).fill(good) }).batch.readings.length, 500);
});

test('numbers count as they are written, and of a key that is given twice the first', () => {
  const one = (written) => read(`{"v":1.00,"ts":${NOW}.000,"readings":[{"beacon":"${BEACONS.a}",${written}}]}`);
  for (const rssi of ['-61', '-61.00', ' -61.0', '-61,"rssi":-5', '-61,"x":{"rssi":-5,"rssi":[-6]}', '-61,"__proto__":{"n":1},"x":"a:\\"b"']) {
    assert.deepEqual(one(`"rssi":${rssi}`), { batch: { kind: 'phone', receiver: '0', ts: NOW, readings: [good] }, rejections: [] }, rssi);
  }
  for (const rssi of ['-6.1e1', '-610E-1', '-61.00000000000000000001', '"x","rssi":-61', '1e999']) {
    const { batch, rejections } = one(`"rss\\u0069":${rssi}`);
    assert.deepEqual([batch.readings, rejections.map(({ reason }) => reason)], [[], ['rssi_invalid']], rssi);
  }
  assert.match(one('"rssi":-6.1e1').rejections[0].detail, /rssi -6\.1e1 of/);
  const { batch, rejections } = one('"rssi":-61,"battery_mv":2.9507e3,"temperature_c":2e1,"humidity_pct":40.5,"tx":-5.9e1');
  assert.deepEqual(batch.readings, [{ ...good, battery_mv: 2950, temperature_c: 20, humidity_pct: 40.5, tx: -59 }]);
  assert.deepEqual(rejections, []);
});

test('a byte order mark is skipped, as ingest does', () => {
  const text = JSON.stringify({ ts: NOW, readings: [good] });
  for (const mark of [[0xef, 0xbb, 0xbf], [0xfe, 0xff], [0xff, 0xfe], [0xff, 0xfe, 0, 0], [0, 0, 0xfe, 0xff]]) {
    assert.deepEqual(readMessage(TOPIC, Buffer.concat([Buffer.from(mark), Buffer.from(text)]), NOW).batch?.readings, [good]);
  }
});

test('the broker lets nothing pass that would be too large here', () => {
  const broker = fs.readFileSync(path.join(__dirname, '../../broker/mosquitto.conf'), 'utf8');
  assert.equal(Number(/^max_packet_size (\d+)$/m.exec(broker)?.[1]), BOUNDS.payloadBytes);
  const empty = JSON.stringify({ ts: NOW, readings: [good], more: '' }).length;
  assert.ok(read({ ts: NOW, readings: [good], more: 'x'.repeat(BOUNDS.payloadBytes - empty) }).batch);
});

test('messages that nest deeply or are all one text end nothing', () => {
  const deep = 30_000;
  assert.ok(read(`{"ts":${NOW},"readings":[],"x":${'['.repeat(deep)}1e0${']'.repeat(deep)}}`).batch);
  assert.ok(read(`{"ts":${NOW},"readings":[],"x":"${'\\n'.repeat(deep)}"}`).batch);
});

test('bad readings lose only themselves', () => {
  const { batch, rejections } = read({ ts: NOW, readings: [
    good, { ...good, rssi: '-61' }, { beacon: BEACONS.b }, { ...good, rssi: -128 }, { ...good, rssi: 21 }, null, 7, [], { rssi: -5 },
    { ...good, beacon: 'c2a628384b08' }, { ...good, beacon: 5 }, { ...good, battery_mv: '3000', n: 2 }] });
  assert.deepEqual(batch.readings, [good, { ...good, n: 2 }]);
  assert.deepEqual(Object.fromEntries(rejections.map(({ reason, count }) => [reason, count])),
    { rssi_invalid: 3, rssi_unknown: 1, beacon_invalid: 6, optional_invalid: 1 });
});

test('an RSSI that was not measured locates nobody, and the values beside it are kept', () => {
  for (const rssi of [0, -127, -128, 127, ...Array.from({ length: 20 }, (_, dbm) => dbm + 1), '0', '0.0', '-0', '-127.00']) {
    const { batch, rejections } = read(`{"ts":${NOW},"readings":[{"beacon":"${BEACONS.a}","rssi":-61},`
      + `{"beacon":"${BEACONS.b}","rssi":${rssi},"battery_mv":2950,"humidity_pct":"x"}]}`);
    assert.deepEqual([batch.readings, batch.measured], [[good], [{ beacon: BEACONS.b, battery_mv: 2950 }]], String(rssi));
    assert.deepEqual(rejections.map(({ reason, count }) => [reason, count]), [['rssi_unknown', 1], ['optional_invalid', 1]], String(rssi));
  }
  for (const rssi of ['-129', '21', '126', '128', '-0.5', '"0"', '0e1', 'null', 'true']) {
    const { batch, rejections } = read(`{"ts":${NOW},"readings":[{"beacon":"${BEACONS.b}","rssi":${rssi},"battery_mv":2950}]}`);
    assert.deepEqual([batch.readings, batch.measured, rejections.map(({ reason }) => reason)], [[], undefined, ['rssi_invalid']], rssi);
  }
});

test('what is no strict JSON in UTF-8 is refused, as ingest does', () => {
  const message = (reading, tail = '') => Buffer.from(`{"ts":${NOW},"readings":[{"beacon":"${BEACONS.a}","rssi":-61${reading}}]${tail}}`, 'latin1');
  const bad = [',"x":"a\tb"', ',"x":"\x01"', ',"x":"\x1f"', ',"x":"\n"', ',"x":21.', ',"x":-.5', ',"x":.5', ',"x":1.e3', ',"x":+1', ',"x":01',
    ',"x":0x1', ',"x":1e', ',"x":NaN', ',"x":Infinity', ',"x":1_0', ',\f"x":1', ',\v"x":1', ',\xa0"x":1', ',"x":"\xff"', ',"x":"\xed\xa0\x80"',
    ',"x":"\xc0\x80"', ',"x":\'a\'', ',', ',"x":"\\x41"', ',"x":"\\u12"', ',"x":1//', ',x:1', ',"x":True'];
  for (const text of bad) assert.deepEqual(readMessage(TOPIC, message(text), NOW).rejections.map(({ reason }) => reason), ['not_json'], JSON.stringify(text));
  for (const text of ['.', '.e3']) assert.equal(readMessage(TOPIC, message(text), NOW).rejections[0].reason, 'not_json');
  for (const text of [',"x":"\\t"', ',"x":1e3', ',"x":-0.5E+07', ',"x":"\x7f"', ',"x":"\xc3\xa4"', '\t,\r\n "x":[]', ',"x":1e999', ',"x":"\\ud800"']) {
    assert.deepEqual(readMessage(TOPIC, message(text), NOW).batch?.readings, [good], JSON.stringify(text));
  }
});

test('a topic that is none of ours is refused', () => {
  for (const topic of ['sda/v1/gateway/readings', 'sda/v1/door/1/readings', 'sda/v1/phone/ä/readings', 'sda/v1/phone//readings']) {
    assert.equal(read({ ts: NOW, readings: [good] }, topic).rejections[0].reason, 'not_a_batch');
  }
});

test('whatever comes, nothing is thrown and nothing goes uncounted', () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom(good, -61, BEACONS.a, NOW));
  fc.assert(fc.property(fc.array(fc.oneof(value, fc.record({ beacon: value, rssi: value, n: value }))), (readings) => {
    const { batch, rejections } = read({ ts: NOW, readings });
    const refused = rejections.filter(({ reason }) => reason !== 'optional_invalid').reduce((sum, { count }) => sum + count, 0);
    assert.equal(batch.readings.length + refused, readings.length, 'a reading with an unknown RSSI counts as refused, though its values are kept');
    for (const { beacon, rssi } of batch.readings) {
      assert.match(beacon, /^[0-9A-F-]{12,64}$/);
      assert.ok(Number.isInteger(rssi) && rssi >= -126 && rssi <= -1);
    }
  }));
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    const { batch, rejections } = readMessage(TOPIC, Buffer.from(bytes), NOW);
    assert.equal(batch === null, rejections.length === 1);
  }));
});

test('read token by token a message says what it says to JSON.parse', () => {
  fc.assert(fc.property(fc.array(fc.jsonValue()), fc.array(fc.dictionary(fc.string(), fc.jsonValue())), (more, readings) => {
    const text = JSON.stringify({ more, readings });
    const clean = (_key, value) => (value instanceof OddNumber ? Number(value.source) : value);
    assert.equal(JSON.stringify(parse(Buffer.from(`{"more":0,${text.slice(1)}`)), clean), JSON.stringify({ ...JSON.parse(text), more: 0 }));
    assert.equal(JSON.stringify(parse(Buffer.from(text)), clean), text);
  }));
});

test('a MAC may be written in any common way', () => {
  for (const text of ['C2A628384B08', 'c2:a6:28:38:4b:08', 'C2-A6-28-38-4B-08', ' c2a628384b08 ']) assert.equal(normaliseBeacon(text), BEACONS.a);
  for (const text of ['', 'C2A628384B0', 'C2A628384B0G', 'C2:A6:28:38:4B', 'x'.repeat(70)]) assert.equal(normaliseBeacon(text), null);
  assert.equal(normaliseBeacon('fda50693-a4e2-4fb1-afcf-c6eb07647825-10-7'), 'FDA50693A4E24FB1AFCFC6EB07647825-10-7');
});
