'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createBuilding } = require('../lib/building');
const { locationMessages, messagesOf, refusalOf } = require('../lib/broker/messages');
const { Results } = require('../lib/broker');
const { Outbox, BrokerUnavailable } = require('../lib/broker/outbox');
const { EventBus } = require('../lib/events');
const { Site } = require('../lib/site');
const { BEACONS, smallBuilding } = require('./support/building');
const { receive } = require('./support/receive');

const T = 1_700_000_000_000;

/** An outbox with a broker that is there or not, and what reached it. */
function rig(bounds) {
  const bus = new EventBus();
  const outbox = new Outbox(bus, bounds);
  const rig_ = { bus, outbox, up: true, sent: [] };
  outbox.attach({ send: (message) => rig_.sent.push(message), connected: () => rig_.up });
  return rig_;
}
const message = (payload, topic = 't', retain = false) => ({ topic, payload, retain });

test('what is put while the broker is away is sent when it is back, in order', () => {
  const r = rig();
  r.up = false;
  for (const text of ['1', '2', '3']) r.outbox.put(message(text), 0);
  assert.deepEqual(r.sent, []);
  r.up = true;
  r.outbox.pump(1000);
  assert.deepEqual(r.sent.map(({ payload }) => payload), ['1', '2', '3']);
  for (const { sda_id: id } of r.sent) r.outbox.acknowledge(id, 1001);
  assert.deepEqual(r.outbox.counters(), { sent: 3, acknowledged: 3, dropped: 0, resent: 0, replayed: 0, waiting: 0, in_flight: 0 });
});

test('what is not acknowledged is sent again', () => {
  const r = rig({ resendMs: 30_000 });
  r.outbox.put(message('1'), 0);
  r.outbox.pump(29_999);
  assert.equal(r.sent.length, 1);
  r.outbox.pump(30_000);
  assert.deepEqual(r.sent.map(({ payload }) => payload), ['1', '1']);
  r.outbox.acknowledge(r.sent[1].sda_id, 30_001);
  r.outbox.pump(90_000);
  assert.equal(r.sent.length, 2);
});

test('of a retained topic only the newest waits, and an old one is not sent again', () => {
  const r = rig({ resendMs: 1000 });
  r.up = false;
  for (const text of ['1', '2']) r.outbox.put(message(text, 'a', true), 0);
  r.outbox.put(message('3', 'b', true), 0);
  r.up = true;
  r.outbox.put(message('4', 'a', true), 0);
  assert.deepEqual(r.sent.map(({ payload }) => payload), ['3', '4']);
  r.outbox.put(message('5', 'a', true), 10);
  r.outbox.acknowledge(r.sent[2].sda_id, 20);
  r.outbox.pump(5000);
  assert.deepEqual(r.sent.slice(3).map(({ payload }) => payload), ['3'], 'neither 4 nor 5 again');
});

test('what does not fit is dropped oldest first, and counted', () => {
  for (const bounds of [{ messages: 2 }, { bytes: 5 }]) {
    const r = rig(bounds);
    r.up = false;
    const lost = [];
    ['11', '22', '33'].forEach((text) => r.outbox.put(message(text), 0, (error) => lost.push([text, error])));
    assert.equal(r.outbox.counters().dropped, 1);
    assert.equal(lost[0][0], '11');
    assert.ok(lost[0][1] instanceof BrokerUnavailable);
  }
});

test('publish waits for the acknowledgement, and says at once when there is no broker', async () => {
  const r = rig();
  const published = r.outbox.publish(message('1'), 0, 1000);
  r.outbox.acknowledge(r.sent[0].sda_id, 1);
  await published;
  r.up = false;
  await assert.rejects(r.outbox.publish(message('2'), 0, 1000), BrokerUnavailable);
  r.up = true;
  await assert.rejects(r.outbox.publish(message('3'), 0, 10), BrokerUnavailable);
});

test('whatever the broker does, everything put is acknowledged, dropped or still there', () => {
  const step = fc.oneof(fc.constant('put'), fc.constant('put'), fc.constant('ack'), fc.constant('flip'), fc.constant('wait'));
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const r = rig({ messages: 10, inFlight: 3, resendMs: 1000 });
    let now = 0;
    let put = 0;
    for (const what of steps) {
      now += what === 'wait' ? 1500 : 10;
      if (what === 'put') r.outbox.put(message(String(put += 1)), now);
      else if (what === 'ack') r.outbox.acknowledge(r.sent.at(-1)?.sda_id ?? 0, now);
      else if (what === 'flip') r.up = !r.up;
      r.outbox.pump(now);
      const { acknowledged, dropped, waiting, in_flight: inFlight } = r.outbox.counters();
      assert.equal(acknowledged + dropped + waiting + inFlight, put);
      assert.ok(inFlight <= 3 && waiting <= 10);
    }
  }));
});

test('batches of locations keep within the limit and lose nothing', () => {
  const items = fc.array(fc.record({ ts: fc.nat(), staff_id: fc.string({ maxLength: 64 }), room: fc.string({ unit: 'grapheme', maxLength: 30 }),
  }, { noNullPrototype: true }), { maxLength: 50 });
  fc.assert(fc.property(items, items, (locations, stays) => {
    const messages = locationMessages({ locations, stays }, 600);
    const read = messages.map(({ payload }) => JSON.parse(payload));
    assert.deepEqual(read.flatMap((batch) => batch.locations), locations);
    assert.deepEqual(read.flatMap((batch) => batch.stays), stays);
    for (const { topic, payload } of messages) {
      assert.equal(topic, 'sda/v1/locations');
      assert.ok(Buffer.byteLength(payload) <= 600 || JSON.parse(payload).locations.length + JSON.parse(payload).stays.length === 1);
    }
    for (const batch of read) assert.ok(batch.v === 1 && batch.locations.length + batch.stays.length > 0);
  }));
});

test('a location is sent with whole per cent, a runner-up where one may be, and as it is where nothing is known', () => {
  const one = { staff_id: '0', ts: T, room: 'a' };
  const sent = (more) => JSON.parse(messagesOf('locations', [{ ...one, ...more }])[0].payload).locations[0];
  assert.deepEqual(sent({ probability: 0.29, runner_up: 'b', corrected: true }), { ...one, corrected: true, sure_pct: 29, runner_up: 'b' });
  assert.deepEqual(sent({ probability: 0.89, runner_up: null }), { ...one, sure_pct: 89, runner_up: '' }, 'none, whatever was said before');
  assert.deepEqual(sent({ probability: 0.9, runner_up: null }), { ...one, sure_pct: 90 });
  assert.deepEqual(sent({ probability: 0, runner_up: 'b' }), { ...one, sure_pct: 0, runner_up: 'b' });
  for (const unknown of [{}, { probability: null, runner_up: null }]) assert.deepEqual(sent(unknown), one);
});

test('a presence says whether to say probably', () => {
  const said = (probability) => JSON.parse(messagesOf('presence', [{ staff_id: '0', ts: T, state: 'present', probability, runner_up: null }])[0].payload);
  assert.deepEqual([0.69, 0.7, null].map((one) => said(one).probably), [true, false, false]);
  assert.equal(said(null).probability, null);
});

test('a refusal carries its reason and the first KiB', () => {
  const rejection = { kind: 'phone', receiver: '0', reason: 'not_json', detail: 'why', count: 1 };
  const refusal = refusalOf(rejection, 'sda/v1/phone/0/readings', Buffer.alloc(5000, 'x'), 7);
  const [sent] = messagesOf('refusals', [refusal]);
  assert.equal(sent.topic, 'sda/v1/rejected');
  assert.deepEqual(JSON.parse(sent.payload), { ts: 7, topic: 'sda/v1/phone/0/readings', ...rejection, payload: 'x'.repeat(1024) });
});

test('what cannot be published is refused as a whole, with a reason', () => {
  const good = { staff_id: '0', ts: 1, room: 'a' };
  const odd = [['people', [good], /msg\.topic is "people", not one of locations/], ['toString', [good], /msg\.topic/], [undefined, [good], /msg\.topic/],
    ['locations', good, /must be an array/], ['locations', [good, null], /payload\[1\].*staff_id is a string/],
    ['stays', [{ ...good, ts: '1' }], /payload\[0\].*ts is a number/], ['presence', [good], /state is a string/],
    ['locations', [{ ...good, room: 'x'.repeat(70_000) }], /bytes, at most/], ['events', [{ type: 'enter', ts: 1, note: 'é'.repeat(40_000) }], /bytes, at most/]];
  for (const [kind, items, reason] of odd) {
    const put = [];
    const results = new Results({ put: (one) => put.push(one) }, new EventBus());
    assert.throws(() => results.publish(kind, items, 0), { name: 'Unpublishable', message: reason });
    assert.deepEqual(put, []);
  }
});

test('results: to the carrier while there is one, else to the outbox; nothing twice, nothing lost', () => {
  const put = [];
  const carried = [];
  const results = new Results({ put: ({ topic }) => put.push(topic) }, new EventBus());
  const one = (staff_id) => ({ staff_id, ts: 1, room: 'a' });
  results.add('locations', [one('0')]);
  const detach = results.attach((batches) => carried.push(batches));
  results.deliver(0);
  results.deliver(0);
  assert.deepEqual(carried, [{ locations: [one('0')] }]);
  const later = results.attach((batches) => carried.push(batches));
  detach(); // of another one: no matter
  results.add('stays', [one('1')]);
  results.add('locations', [one('1')]);
  results.add('locations', [one('2')]);
  results.deliver(0);
  assert.deepEqual(carried[1], { stays: [one('1')], locations: [one('1'), one('2')] });
  assert.deepEqual(put, []);
  later();
  results.add('presence', [{ ...one('3'), state: 'present' }]);
  results.deliver(0);
  assert.deepEqual([carried.length, put], [2, ['sda/v1/staff/3/location']]);
  const late = [];
  results.again({ locations: [one('4')] });
  results.attach((...args) => late.push(args));
  results.again({ locations: [one('5')] });
  assert.deepEqual([late, put.length], [[[{ locations: [one('5')] }, true]], 1], 'what was located again is in the outbox already');
});

test('after a reconnect what a killed broker may have forgotten comes again, in order, before all that waits', () => {
  const r = rig({ replayMs: 60_000 });
  const connections = [{}, {}, {}];
  let current = connections[0];
  const reconnects = [];
  r.outbox.attach({ send: (one) => r.sent.push(one), connected: () => r.up, connection: () => current });
  r.bus.on('reconnect', (nowMs) => {
    reconnects.push(nowMs);
    r.outbox.put(message('presence', 'p', true), nowMs);
  });
  const put = (text, nowMs, acknowledged = true, retain = false) => {
    r.outbox.put(message(text, retain ? 'p' : 't', retain), nowMs);
    if (acknowledged) r.outbox.acknowledge(r.sent.at(-1).sda_id, nowMs);
  };
  put('long ago', 0);
  put('1', 50_000);
  put('old presence', 60_000, true, true);
  put('2', 90_000);
  put('on its way', 90_500, false);
  assert.deepEqual(reconnects, [], 'the first connection is none');
  r.up = false;
  r.outbox.pump(91_000);
  put('3', 600_000, false);
  r.sent.length = 0;
  r.up = true;
  current = connections[1];
  r.outbox.pump(900_000);
  assert.deepEqual(r.sent.map(({ payload }) => payload), ['1', '2', 'on its way', '3', 'presence'], 'what grew old without a broker is kept');
  for (const { sda_id: id } of [...r.sent]) r.outbox.acknowledge(id, 900_001);
  assert.deepEqual(r.outbox.counters(), { sent: 7, acknowledged: 7, dropped: 0, resent: 1, replayed: 2, waiting: 0, in_flight: 0 });
  r.sent.length = 0;
  current = connections[2];
  r.outbox.pump(901_000);
  assert.deepEqual(r.sent.map(({ payload }) => payload), ['1', '2', 'on its way', '3', 'presence'], 'a break that nobody saw');
  assert.deepEqual(reconnects, [900_000, 901_000]);
  for (const { sda_id: id } of [...r.sent]) r.outbox.acknowledge(id, 901_001);
  r.sent.length = 0;
  r.outbox.pump(2_000_000);
  r.outbox.proven(901_000, 2_000_000);
  assert.deepEqual(r.sent, [], 'what was on its way before the reconnect proves nothing');
  r.outbox.proven(901_001, 2_000_000);
  assert.deepEqual(r.sent.map(({ payload }) => payload), ['1', '2', 'on its way', '3', 'presence'], 'ingest is there: once more, once');
  r.outbox.proven(1_999_999, 2_000_001);
  assert.equal(r.sent.length, 5);
});

test('a retained topic that was cleared is cleared again after a reconnect, but for one that is in use again', () => {
  const r = rig({ replayMs: 60_000 });
  let current = {};
  r.outbox.attach({ send: (one) => r.sent.push(one), connected: () => r.up, connection: () => current });
  const acknowledgeAll = (nowMs) => { for (const { sda_id: id } of r.sent.splice(0)) r.outbox.acknowledge(id, nowMs); };
  for (const topic of ['gone', 'back']) r.outbox.put(message('', topic, true), 1000);
  acknowledgeAll(1001);
  r.up = false;
  r.outbox.put(message('presence', 'back', true), 2000);
  r.up = true;
  current = {};
  r.outbox.pump(3000);
  assert.deepEqual(r.sent.map(({ topic, payload, retain }) => [topic, payload, retain]), [['back', 'presence', true], ['gone', '', true]]);
  acknowledgeAll(3001);
  current = {};
  r.outbox.pump(120_000);
  assert.deepEqual(r.sent.map(({ topic, payload }) => [topic, payload]), [['gone', '']]);
  acknowledgeAll(120_001);
  assert.equal(r.outbox.counters().waiting, 0);
});

test('a retained topic that was cleared and is in use again is not cleared by a later reconnect', () => {
  const r = rig({ replayMs: 60_000 });
  let current = {};
  r.outbox.attach({ send: (one) => r.sent.push(one), connected: () => true, connection: () => current });
  for (const payload of ['', 'settings']) {
    r.outbox.put(message(payload, 'config', true), 1000);
    for (const { sda_id: id } of r.sent.splice(0)) r.outbox.acknowledge(id, 1001);
  }
  current = {};
  r.outbox.pump(3000);
  assert.deepEqual(r.sent, []);
});

test('what may come again is bounded in bytes, too', () => {
  const r = rig({ replayMs: 60_000, replayBytes: 3 });
  for (const text of ['1', '2', '3', '4']) {
    r.outbox.put(message(text), 0);
    r.outbox.acknowledge(r.sent.at(-1).sda_id, 1);
  }
  r.up = false;
  r.outbox.pump(2);
  r.up = true;
  r.sent.length = 0;
  r.outbox.pump(3);
  assert.deepEqual(r.sent.map(({ payload }) => payload), ['2', '3', '4']);
});

test('after a reconnect everybody\'s presence is published again, also of those who did not move', () => {
  const site = new Site(createBuilding(smallBuilding()), T);
  let connection = {};
  const presences = [];
  site.broker.outbox.attach({ connected: () => true, connection: () => connection, send({ topic, payload, sda_id: id }) {
    if (topic.startsWith('sda/v1/staff/')) presences.push(JSON.parse(payload).room);
    site.broker.outbox.acknowledge(id, T);
  } });
  for (let ms = T; ms < T + 15_000; ms += 1000) {
    receive(site, 'sda/v1/phone/0/readings', Buffer.from(JSON.stringify({ ts: ms, readings: [{ beacon: BEACONS.b, rssi: -50 }] })), ms);
    site.flush(ms);
  }
  assert.deepEqual(presences, ['b']);
  connection = {};
  site.tick(T + 15_000);
  assert.deepEqual(presences, ['b', 'b']);
});

test('a second reconnect in the middle of what comes again loses nothing and keeps the order', () => {
  const r = rig({ inFlight: 2 });
  let connection = {};
  r.outbox.attach({ send: (one) => r.sent.push(one), connected: () => true, connection: () => connection });
  for (const text of ['1', '2', '3', '4', '5']) r.outbox.put(message(text), 0);
  r.outbox.acknowledge(r.sent[0].sda_id, 1); // 2 and 3 are on their way
  for (let reconnects = 0; reconnects < 2; reconnects += 1) {
    connection = {};
    r.outbox.pump(10);
  }
  r.sent.length = 0;
  connection = {};
  r.outbox.pump(20);
  for (let i = 0; i < r.sent.length; i += 1) r.outbox.acknowledge(r.sent[i].sda_id, 21);
  assert.deepEqual(r.sent.map(({ payload }) => payload), ['1', '2', '3', '4', '5']);
  const { acknowledged, waiting, in_flight: inFlight } = r.outbox.counters();
  assert.deepEqual([acknowledged, waiting, inFlight], [5, 0, 0]);
});
