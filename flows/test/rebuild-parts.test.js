'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { StoreUnavailable, createStore, createStoreGuard } = require('../lib/store');
const { createBodyCheck } = require('../lib/http/checks');
const { createSystemAnswers } = require('../lib/http/v1/answers/system');
const { createDescription, operationsOf } = require('../lib/http/v1/description');
const { emptyOutcome } = require('../lib/locator');
const { Grouping } = require('../lib/live/batches');
const { buildingChange, gatewayChange } = require('../lib/past/beginning');
const { createBackground, Stopped } = require('../lib/past/background');
const { createIncoming } = require('../lib/past/catch-up');
const { createReplay } = require('../lib/past/replay');
const { reconciled, trueStart } = require('../lib/past/stays');
const { playInflux, rows: answerRows } = require('./support/influx');

const check = createBodyCheck(operationsOf(createDescription('0')).find(({ id }) => id === 'requestRebuild').body);

const stay = (enter, leave, room = 'a') => ({ ts: enter, staff_id: '0', level: 'L1', room, enter_ms: enter, leave_ms: leave,
  duration_s: (leave - enter) / 1000 });

test('batches come out of rows in pieces of any size as they went in', () => {
  const batchArbitrary = fc.record({ ts: fc.integer({ min: 0, max: 20 }), receiver: fc.constantFrom('a', 'b', 'c'), beacons:
    fc.uniqueArray(fc.constantFrom('X', 'Y', 'Z'), { minLength: 1 }) });
  fc.assert(fc.property(fc.uniqueArray(batchArbitrary, { selector: ({ ts, receiver }) => `${ts} ${receiver}` }),
    fc.integer({ min: 1, max: 9 }), fc.func(fc.integer()), (batches, size, shuffle) => {
      const rows = batches.flatMap(({ ts, receiver, beacons }) => beacons.map((beacon) => [ts, -60, 'phone', receiver, beacon]))
        .sort((a, b) => a[0] - b[0] || shuffle(String(a)) - shuffle(String(b)));
      const grouping = new Grouping();
      const found = [];
      for (let at = 0; at < rows.length; at += size) found.push(...grouping.push(rows.slice(at, at + size)));
      found.push(...grouping.finish());
      const lines = (list) => list.map(([ts, receiver, beacons]) => `${ts} ${receiver} ${beacons}`);
      assert.deepEqual(lines(found.map((one) => [one.ts, one.receiver, one.readings.map(({ beacon }) => beacon)])),
        lines(batches.map(({ ts, receiver, beacons }) => [ts, receiver, beacons.toSorted()])
          .sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1))));
    }));
});

test('after a stay is published no other one overlaps with it, and publishing it again changes nothing', () => {
  fc.assert(fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 100 }), { minLength: 2, maxLength: 12 }), fc.integer({ min: 0, max: 99 }),
    fc.integer({ min: 1, max: 60 }), (edges, enter, length) => {
      const stored = new Map();
      edges.sort((a, b) => a - b).slice(1).forEach((leave, i) => stored.set(edges[i], stay(edges[i], leave, 'b')));
      const found = stay(enter, enter + length);
      for (let round = 0; round < 2; round += 1) {
        for (const one of reconciled(found, [...stored.values()])) stored.set(one.ts, one);
        const lasting = [...stored.values()].filter(({ duration_s: seconds }) => seconds > 0).sort((a, b) => a.ts - b.ts);
        assert.ok(lasting.some(({ enter_ms: a, leave_ms: b }) => a === enter && b === enter + length));
        lasting.slice(1).forEach((one, i) => assert.ok(one.enter_ms >= lasting[i].leave_ms));
      }
    }));
});

test('a stay that goes on takes its end from what is stored', () => {
  assert.deepEqual(reconciled(stay(10, 20), [stay(10, 50)], true), [stay(10, 50)]);
  assert.deepEqual(reconciled(stay(10, 20), [stay(10, 50)]), [stay(10, 20)]);
  assert.deepEqual(reconciled(stay(10, 20), [{ ...stay(12, 15), staff_id: '1' }, stay(30, 40)]), [stay(10, 20)]);
});

test('the beginning of a stay that was already going on', () => {
  const presence = { staff_id: '0', level: 'L1', room: 'a', since: 100_000, ts: 100_000, state: 'present' };
  const at = (ts, room = 'a') => ({ ts, room });
  assert.equal(trueStart(presence, null, null), 100_000);
  assert.equal(trueStart(presence, null, at(50_000)), 50_000);
  assert.equal(trueStart(presence, stay(10_000, 40_500, 'b'), at(40_000)), 40_500); // walked over
  assert.equal(trueStart(presence, stay(10_000, 40_500, 'b'), at(70_000)), 70_000); // was lost between
  assert.equal(trueStart(presence, stay(10_000, 40_500, 'b'), at(70_000, 'c')), 100_000); // what was between is not known
  assert.equal(trueStart(presence, stay(10_000, 200_000), null), 10_000); // known from an earlier rebuild
  assert.equal(trueStart(presence, stay(10_000, 200_000, 'b'), null), 100_000);
});

test('what arrives is kept from a moment on, and too much of it is said to be', () => {
  const arrivals = createIncoming(() => {}, 0, 3);
  const batch = (ts) => ({ kind: 'phone', receiver: '0', ts, readings: [] });
  arrivals.hear(batch(1), 1, true);
  arrivals.keep();
  arrivals.hear(batch(2), 2, false);
  arrivals.hear(batch(3), 3, true);
  assert.deepEqual(arrivals.take().map(({ ts }) => ts), [2, 3]);
  for (const ts of [4, 5, 6, 7]) arrivals.hear(batch(ts), ts, true);
  assert.equal(arrivals.take(), null);
  arrivals.keep();
  arrivals.hear(batch(8), 8, true);
  assert.deepEqual(arrivals.take().map(({ ts }) => ts), [8]);
});

test('a broker that delivers what it had queued is noticed', () => {
  const arrivals = createIncoming(() => {}, 0);
  for (let i = 0; i < 100; i += 1) arrivals.hear({ kind: 'phone', receiver: '0', ts: i, readings: [] }, 1_000_000 + i, true);
  assert.ok(arrivals.draining(1_000_200));
  assert.ok(!arrivals.draining(1_005_000));
  for (let i = 0; i < 100; i += 1) arrivals.hear({ kind: 'phone', receiver: '0', ts: 1_010_000 + i, readings: [] }, 1_010_000 + i, true);
  assert.ok(!arrivals.draining(1_010_100));
});

test('of buildings that nobody was heard in only the last is used, of those with somebody in them each', () => {
  const used = [];
  const locator = { hear() {}, tick() {}, *prepare() {}, setBuilding: (building) => used.push(building), setGateway: () => used.push('gw') };
  const changes = [1000, 2000, 3000, 60_000, 61_000, 70_000].map((ms) => buildingChange(ms, ms));
  changes.splice(1, 0, gatewayChange('gw', true, 1500));
  const replay = createReplay({ locator, changes }, emptyOutcome, { fromMs: 0 });
  replay.hear({ kind: 'phone', receiver: '0', ts: 5000, readings: [] });
  assert.deepEqual(used.splice(0), [1000, 'gw', 3000]);
  replay.hear({ kind: 'phone', receiver: '0', ts: 65_000, readings: [] });
  assert.deepEqual(used.splice(0), [60_000, 61_000]);
  changes.push(buildingChange(5_000_000, 5_000_000), buildingChange(5_000_001, 5_000_001));
  replay.pass(6_000_000);
  assert.deepEqual(used, [70_000, 5_000_001]);
});

test('what comes in of a time that is read, and was not heard there, is late', () => {
  const T = 1_700_000_000_000;
  const late = [];
  const incoming = createIncoming(({ ts }) => late.push((ts - T) / 1000), T - 90_000);
  const batch = (s) => ({ kind: 'phone', receiver: '1', ts: T + s * 1000, readings: [] });
  const hear = (s) => incoming.hear(batch(s), T, true);
  hear(-200); // before it is known from when on is read
  hear(-50);
  hear(-150); // will be read
  incoming.begin(T - 160_000);
  incoming.replayed(batch(-300)); // to warm up: nothing of that is published
  hear(-300);
  incoming.onSliceStart(T - 100_000);
  hear(-130); // is heard below
  hear(-120); // is not
  hear(-60); // will be read, and not heard: what proved that it is stored has overtaken it
  hear(-40); // will be read
  incoming.replayed(batch(-130));
  incoming.replayed(batch(-150));
  hear(-130); // again
  incoming.onSliceStart(T - 80_000);
  hear(-110); // of a time that is through
  hear(-90); // is being read, and not heard
  assert.deepEqual(late, [-200, -300, -120, -110]);
  for (const s of [-50, -40]) incoming.replayed(batch(s));
  incoming.end();
  incoming.end();
  assert.deepEqual(late.slice(4), [-90, -60], 'once');
});

test('of a time that is being read no more is kept than a bound', () => {
  const late = [];
  const incoming = createIncoming(({ ts }) => late.push(ts), 0, 3);
  incoming.begin(0);
  incoming.onSliceStart(100);
  for (let ts = 0; ts < 10; ts += 1) incoming.hear({ kind: 'phone', receiver: '1', ts, readings: [] }, 0, true);
  assert.equal(late.length, 7);
});

test('work in the background rests as long as it worked, never as long as it waited', async () => {
  const pauses = [];
  let nowMs = 1000;
  const passes = (ms) => { nowMs += ms; };
  const background = createBackground(() => {}, async (ms) => { pauses.push(ms); passes(ms); }, () => nowMs);
  background.begin();
  passes(3);
  await background.yieldIfDue();
  assert.deepEqual(pauses, []);
  passes(8);
  await background.yieldIfDue();
  assert.deepEqual(pauses, [11]);
  passes(200);
  await background.yieldIfDue();
  assert.deepEqual(pauses, [11, 50], 'so long only another one can have taken');
  passes(30);
  background.begin();
  await background.yieldIfDue();
  assert.equal(pauses.length, 2);
});

test('work in the background retries, and stops', async () => {
  const faults = [];
  const background = createBackground((fault) => faults.push(fault), async () => {});
  let tries = 0;
  assert.equal(await background.retry(async () => {
    tries += 1;
    if (tries < 4) throw new StoreUnavailable('away');
    return 'back';
  }), 'back');
  assert.deepEqual(faults, ['away', 'away', 'away', '']);
  await assert.rejects(background.retry(async () => { throw new TypeError('ours'); }), TypeError);
  background.stop();
  await assert.rejects(background.pause(1), Stopped);
  await assert.rejects(background.retry(async () => 1), Stopped);
});

test('what the taker of readings throws comes out as it is', async (t) => {
  const influx = await playInflux(t, (_request, response) => response.end(answerRows([[1, 'A0 -60', 'phone', 'a']])));
  await assert.rejects(createStore(createStoreGuard(influx)).readings(0, 1, async () => { throw new Stopped('stopped'); }), Stopped);
});

test('times are epoch seconds or RFC 3339', () => {
  const noon = Date.UTC(2026, 0, 1, 12);
  let asked;
  const rebuild = { request: (fromMs) => (asked = fromMs, {}) };
  const answers = createSystemAnswers({ rebuild, clock: () => noon + 1 });
  const at = (value) => (answers.requestRebuild({ body: check(new URLSearchParams(), { from: value }) }), asked);
  for (const value of [noon / 1000, String(noon / 1000), '2026-01-01T12:00', '2026-01-01T12:00:00Z', '2026-01-01 12:00:00',
    '2026-01-01T20:00+08:00', '2026-01-01t12:00:00.000z']) assert.equal(at(value), noon, value);
  assert.equal(at('2026-01-01'), noon - 12 * 3_600_000);
  for (const value of ['2026-13-01', '2026-02-30', '2026-04-31T12:00Z', '2027-02-29', '2026-01-00', '2026-01-01T25:00', '2026-01-01T24:00',
    '2026-01-01T12:60', '2026-01-01T12:00+25:00', '01.01.2026', 'yesterday', '', undefined, noon, ['1', '2'], '12:00']) {
    assert.throws(() => at(value), { status: 400 }, String(value));
  }
});

test('a rebuild is asked for within the past, and not too many of them', () => {
  const asked = [];
  const rebuild = { request: (...times) => (asked.push(times), asked.length < 3 ? { id: asked.length } : null) };
  const answers = createSystemAnswers({ rebuild, clock: () => 1_000_000 });
  const request = (params) => answers.requestRebuild({ body: check(new URLSearchParams(), params) });
  assert.deepEqual(request({ from: '100' }), { id: 1 });
  request({ from: '100', to: 5000 });
  assert.deepEqual(asked, [[100_000, 1_000_000], [100_000, 1_000_000]]);
  const refused = [{ from: 200, to: 100 }, { from: 5000, to: 6000 }, { to: 100 }];
  for (const params of refused) assert.throws(() => request(params), { status: 400 });
  assert.throws(() => request({ from: 100 }), { status: 429 });
});
