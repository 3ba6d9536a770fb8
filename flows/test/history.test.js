'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { EventBus } = require('../lib/events');
const { createHistory, BOUNDS, LATEST_MS } = require('../lib/past/history');

const { keptMs: KEPT_MS, graceMs: GRACE_MS } = BOUNDS;
const T = 1_700_000_000_000;
const at = (ts, room = 'a', staff = '0', beacon = 'C2A628384B08') => ({ ts, staff_id: staff, level: 'L1', room, beacon, rssi: -60,
  probability: null, runner_up: null });

test('locations come back in order, one a millisecond, the later added counts', () => {
  const history = createHistory(T);
  for (const location of [at(T + 2), at(T + 1), at(T + 3), { ...at(T + 1, 'b'), rssi: -167 }]) history.add(location, T);
  assert.deepEqual(history.between('0', T, T + 9), [{ ...at(T + 1, 'b'), rssi: -167 }, at(T + 2), at(T + 3)]);
  assert.deepEqual(history.between('0', T + 2, T + 2), [at(T + 2)]);
  assert.deepEqual(history.between('9', T, T + 9), []);
  assert.deepEqual(history.locations('0', T + 1, T + 2), { ms: [T + 2, T + 1], places: [{ level: 'L1', room: 'a' }, { level: 'L1', room: 'b' }] });
  assert.ok(history.knowsSecond('0', T + 999) && !history.knowsSecond('0', T + 1000));
});

test('complete from the start, then for five minutes, then for as much as is kept', () => {
  const history = createHistory(T);
  assert.equal(history.completeFrom('0', T + 1000), T);
  assert.equal(history.completeFrom('0', T + 1_000_000), T + 1_000_000 - KEPT_MS);
  for (let i = 0; i < 700; i += 1) history.add(at(T + i), T + 700);
  assert.equal(history.completeFrom('0', T + 700), T + 100);
  assert.equal(history.between('0', 0, Infinity).length, 600);
  assert.equal(history.counters().left_out, 100);
});

test('what is corrected counts as long as memory has it, and is said when it replaces another one', () => {
  const bus = new EventBus();
  const history = createHistory(T, { bus });
  const corrected = [];
  bus.on('corrected', (one) => corrected.push(one.room));
  for (let s = 0; s <= 305; s += 1) history.add(at(T + s * 1000), T + s * 1000);
  const nowMs = T + 305_000;
  const roomOf = (ms) => history.between('0', ms, ms).map(({ room }) => room);
  for (const ms of [T + 300_000, T + 2000]) { // the second is older than five minutes, and still there
    history.correct(at(ms, 'b'), nowMs);
    assert.deepEqual(roomOf(ms), ['b']);
    history.correct(at(ms, 'b'), nowMs);
  }
  history.correct(at(T - 60_000, 'b'), nowMs);
  assert.deepEqual(roomOf(T - 60_000), [], 'the database has it alone');
  assert.deepEqual(corrected, ['b', 'b']);
});

test('memory stays bounded over hours, and people gone are forgotten', () => {
  const history = createHistory(T);
  for (let s = 0; s < 7200; s += 1) history.add(at(T + s * 1000), T + s * 1000);
  const now = T + 7199 * 1000;
  assert.equal(history.between('0', 0, Infinity).length, (KEPT_MS + GRACE_MS) / 1000 + 1);
  history.sweep(now + KEPT_MS + GRACE_MS + 1);
  assert.deepEqual(history.between('0', 0, Infinity), [at(now)], 'the latest is kept longer');
  assert.deepEqual(history.latestSince(now), [at(now)]);
  history.sweep(now + LATEST_MS + 1);
  assert.deepEqual([history.latestSince(0), history.staffIds()], [[], []]);
});

test('the latest of everybody', () => {
  const history = createHistory(T);
  for (const location of [at(T + 5, 'a', '1'), at(T + 3, 'b', '1'), at(T, 'c', '2')]) history.add(location, T);
  assert.deepEqual(history.latestSince(T + 1), [at(T + 5, 'a', '1')]);
  assert.equal(history.latestCompleteFrom(), T);
});

test('who does not fit is left to the database, also when there is room again', () => {
  const history = createHistory(T, {}, { people: 1 });
  history.add(at(T + 1), T + 1);
  history.add(at(T + 2, 'a', '1'), T + 2);
  assert.equal(history.completeFrom('0', T + 3), T);
  assert.equal(history.completeFrom('1', T + 3), T + 3);
  assert.equal(history.latestCompleteFrom(), T + 3);
  const later = T + LATEST_MS + 2;
  history.sweep(later);
  history.add(at(later, 'a', '1'), later);
  assert.deepEqual(history.between('1', T, later), [at(later, 'a', '1')]);
});

test('words nobody uses any more make room for others', () => {
  const history = createHistory(T, {}, { places: 8, beacons: 8 });
  for (let s = 0; s < 5000; s += 1) {
    const now = T + s * 10_000;
    history.add(at(now, `room-${s}`, '0', `beacon-${s}`), now);
    if (s % 40 === 39) history.sweep(now + KEPT_MS); // a quiet moment
    const [newest] = history.between('0', now, now);
    if (newest) assert.deepEqual(newest, at(now, `room-${s}`, '0', `beacon-${s}`));
    else assert.ok(history.completeFrom('0', now) > now);
  }
  assert.ok(history.counters().left_out > 0 && history.counters().left_out < 4900);
});

test('a clock that jumps over years leaves no wrong time behind', () => {
  const history = createHistory(0);
  for (const now of [5, T, 7]) {
    history.add(at(now), now);
    assert.deepEqual(history.between('0', now, now), [at(now)]);
    assert.ok(history.between('0', 0, Infinity).every(({ ts }) => [5, 7, T].includes(ts)));
  }
});

/** What a plain list would answer: everything that was ever added, of each millisecond the last. */
function createModel() {
  const added = new Map();
  return {
    add: (location) => added.set(`${location.staff_id} ${location.ts}`, location),
    between: (staffId, fromMs, toMs) => [...added.values()].filter(({ staff_id: id, ts }) => id === staffId && ts >= fromMs && ts <= toMs)
      .sort((a, b) => a.ts - b.ts),
  };
}

test('how sure each is comes back; what was corrected once stays so; rooms nobody may be in any more make room for others', () => {
  const history = createHistory(T, {}, { places: 8 });
  const first = { ...at(T), probability: 0.63, runner_up: 'b' };
  history.add(first, T);
  assert.deepEqual(history.between('0', T, T), [first]);
  const corrected = { ...at(T, 'b'), probability: 0.7, runner_up: 'a', corrected: true };
  history.correct(corrected, T);
  assert.deepEqual(history.between('0', T, T), [corrected]);
  history.correct({ ...first, probability: 1, runner_up: 'b' }, T);
  assert.deepEqual(history.between('0', T, T), [{ ...first, probability: 1, runner_up: null, corrected: true }], 'who is sure has no runner-up');
  history.add({ ...at(T + 1), probability: 0, runner_up: null }, T);
  assert.deepEqual(history.between('0', T + 1, T + 1), [{ ...at(T + 1), probability: 0 }], 'none is not unknown');
  for (let s = 1; s < 100; s += 1) {
    const now = T + s * 10_000;
    const one = { ...at(now), probability: 0.5, runner_up: `room-${s}` };
    history.add(one, now);
    history.sweep(now);
    const [newest] = history.between('0', now, now);
    if (newest) assert.deepEqual(newest, one);
  }
  const later = T + 1_100_000;
  history.sweep(later);
  history.add({ ...at(later), probability: 0.5, runner_up: 'c' }, later);
  assert.equal(history.between('0', later, later)[0]?.runner_up, 'c');
});

test('a location that is surer than it was said replaces the other one', () => {
  const bus = new EventBus();
  const history = createHistory(T, { bus });
  const said = [];
  bus.on('corrected', (one) => said.push(one.probability));
  const one = { ...at(T), probability: 0.5, runner_up: 'b' };
  for (const probability of [0.5, 0.5, 0.9]) history.correct({ ...one, probability }, T);
  assert.deepEqual(said, [0.9]);
});

const steps = fc.array(fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('add'), staff: fc.constantFrom('0', '1', '2', '3'), back: fc.oneof(fc.constant(0),
    fc.integer({ min: -30, max: 200 }), fc.integer({ min: 0, max: 3 })), room: fc.constantFrom('a', 'b', 'c', 'd'), beacon: fc.constantFrom('X', 'Y', 'Z', 'W') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep') }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(61_000)) }) },
), { maxLength: 400 });

test('whatever is added: complete is complete, nothing is made up, and every bound holds', () => {
  const bounds = { keptMs: 100, graceMs: 7, points: 70, people: 3, places: 3, beacons: 3, pages: 5 };
  fc.assert(fc.property(steps, (script) => {
    const history = createHistory(T, {}, bounds);
    const model = createModel();
    let now = T;
    for (const { kind, staff, back, room, beacon, ms } of script) {
      if (kind === 'pass') now += ms;
      else if (kind === 'sweep') history.sweep(now);
      else {
        history.add(at(now - back, room, staff, beacon), now);
        model.add(at(now - back, room, staff, beacon));
      }
      for (const id of ['0', '1', '2', '3', 'nobody']) {
        const complete = history.completeFrom(id, now);
        assert.deepEqual(history.between(id, complete, Infinity), model.between(id, complete, Infinity));
        const held = history.between(id, 0, Infinity);
        const known = new Map(model.between(id, 0, Infinity).map((one) => [one.ts, one]));
        for (const one of held) assert.deepEqual(one, known.get(one.ts));
        assert.deepEqual(history.locations(id, 0, Infinity).ms, held.map(({ ts }) => ts).reverse());
        assert.ok(held.length <= bounds.points);
      }
      assert.ok(history.counters().people <= bounds.people && history.counters().pages <= bounds.pages);
    }
  }), { numRuns: 300 });
});
