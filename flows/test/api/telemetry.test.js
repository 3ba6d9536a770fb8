'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../support/fast-check');
const { DAY_MS, Day, MINUTE_MS, createDays, createTelemetry, encode } = require('../../lib/devices/telemetry');

const START = 20_000 * DAY_MS;

/** Minutes as a database that counts how often it is asked. */
function rig({ points = [], nowMs = START + 40 * DAY_MS } = {}) {
  const world = { nowMs, asked: [], fresh: [], points, fail: null };
  const within = (from, to) => world.points.filter(([ts]) => ts >= from && ts < to);
  const store = {
    async* minutes(beacon, from, to) {
      world.asked.push([beacon, from, to]);
      if (world.fail) throw world.fail;
      const found = within(from, to);
      for (let at = 0; at < found.length; at += 700) yield found.slice(at, at + 700);
    },
    async freshMinutes(beacon, from, to) {
      world.fresh.push([from, to]);
      return within(from, to);
    },
  };
  return Object.assign(world, { store, telemetry: createTelemetry(store, () => world.nowMs) });
}

const texts = ({ texts: pieces }) => JSON.parse(`[${Buffer.concat(pieces).toString().slice(1)}]`);
const minute = (n, mv = 3000) => [START + n * MINUTE_MS, mv, 21.5, null];

test('a part of a day is what a filter over its points says', () => {
  const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 1439 }), { maxLength: 60 }).map((list) => list.sort((a, b) => a - b));
  const edge = fc.integer({ min: -100_000, max: DAY_MS + 100_000 });
  fc.assert(fc.property(minutes, edge, edge, (list, a, b) => {
    const points = list.map((n) => minute(n));
    const day = new Day(START, points);
    const [from, to] = [START + Math.min(a, b), START + Math.max(a, b)];
    const [first, end] = [day.indexFrom(from), day.indexFrom(to)];
    assert.deepEqual(day.points(first, end), points.filter(([ts]) => ts >= from && ts < to));
    assert.equal(`[${day.slice(first, end).toString().slice(1)}]`, JSON.stringify(day.points(first, end)));
  }));
});

test('values are rounded to what they mean, nothing stays nothing', () => {
  assert.equal(encode([5, 2999.6, 21.4567, null]), '[5,3000,21.46,null]');
  assert.equal(encode([5, 'gw "a"', null, -0.001, 55]), '[5,"gw \\"a\\"",null,0,55]');
});

test('a month of minutes is one question, then none; a window that slides asks nothing again', async () => {
  const points = Array.from({ length: 31 * 1440 }, (_, n) => minute(n));
  const { telemetry, asked } = rig({ points, nowMs: START + 50 * DAY_MS });
  const all = await telemetry.minutes('B', START, START + 31 * DAY_MS, 50_000);
  assert.deepEqual(texts(all), points);
  assert.deepEqual(asked, [['B', START, START + 31 * DAY_MS]]);
  const some = await telemetry.minutes('B', START + 90_000, START + 7 * DAY_MS + 1, 1000);
  assert.deepEqual(texts(some), points.slice(2, 1002));
  assert.equal(some.lastMs, points[1001][0]);
  assert.equal(asked.length, 1);
  assert.notEqual(some.digest, all.digest);
  await telemetry.minutes('C', START, START + 1, 1);
  assert.equal(asked.length, 2);
});

test('the present: the minute that runs is not given, the last ones come from the readings, and each minute it is asked again', async () => {
  const nowMs = START + 100 * MINUTE_MS + 30_000;
  const world = rig({ points: Array.from({ length: 101 }, (_, n) => minute(n)), nowMs });
  const ask = () => world.telemetry.minutes('B', START, START + DAY_MS, 5000);
  assert.equal(texts(await ask()).length, 100);
  assert.deepEqual(world.fresh, [[START + 95 * MINUTE_MS, START + 100 * MINUTE_MS]]);
  await ask();
  assert.equal(world.asked.length, 1);
  world.nowMs += 30_000;
  assert.equal(texts(await ask()).length, 101);
  assert.equal(world.asked.length, 2);
});

test('what came late moves a minute of the last days, and days that are final are never asked for again', async () => {
  const world = rig({ points: [minute(5)], nowMs: START + 2 * DAY_MS });
  const ask = () => world.telemetry.minutes('B', START, START + DAY_MS, 10).then(texts);
  assert.deepEqual(await ask(), [minute(5)]);
  world.points = [minute(5, 2500)];
  world.nowMs += MINUTE_MS;
  assert.deepEqual(await ask(), [minute(5, 2500)]);
  world.nowMs += 20 * DAY_MS;
  await ask();
  const before = world.asked.length;
  world.nowMs += DAY_MS;
  await ask();
  assert.equal(world.asked.length, before);
});

test('those who ask at the same time ask once; a failure is nobody else\'s', async () => {
  const world = rig({ points: [minute(0)], nowMs: START + 20 * DAY_MS });
  const ask = () => world.telemetry.minutes('B', START, START + DAY_MS, 10);
  await Promise.all([ask(), ask(), ask()]);
  assert.equal(world.asked.length, 1);
  world.fail = new Error('away');
  const lost = () => world.telemetry.minutes('B', START + DAY_MS, START + 2 * DAY_MS, 10);
  await assert.rejects(Promise.all([lost(), lost()]), /away/);
  world.fail = null;
  assert.deepEqual(texts(await lost()), []);
});

test('memory is bounded: the days used longest ago go, and too small a memory still answers', async () => {
  const points = Array.from({ length: 10 * 1440 }, (_, n) => minute(n));
  const world = rig({ points });
  const days = createDays(world.store, () => world.nowMs, 200_000);
  for (let n = 0; n < 10; n += 1) await days.between('B', START + n * DAY_MS, START + (n + 1) * DAY_MS);
  assert.ok(days.bytes() <= 200_000);
  const found = await days.between('B', START, START + 10 * DAY_MS);
  assert.equal(found.reduce((sum, { count }) => sum + count, 0), points.length);
});

test('hours are the means of their minutes, given when they are over, page by page', async () => {
  const world = rig({ nowMs: START + 3 * 3_600_000 + 60_000,
    points: [[START, 3000, 20, null], [START + MINUTE_MS, 2000, null, null], [START + 61 * MINUTE_MS, 2500, 10, 50],
      [START + 180 * MINUTE_MS, 1, 1, 1]] });
  const all = await world.telemetry.hours('B', START, START + DAY_MS, 10);
  assert.deepEqual(texts(all), [[START, 2500, 20, null], [START + 3_600_000, 2500, 10, 50]]);
  assert.equal(all.lastMs, null);
  const first = await world.telemetry.hours('B', START, START + DAY_MS, 1);
  assert.equal(first.lastMs, START);
  const second = await world.telemetry.hours('B', first.lastMs + 1, START + DAY_MS, 1);
  assert.deepEqual(texts(second), [[START + 3_600_000, 2500, 10, 50]]);
});
