// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createLocator, emptyOutcome } = require('../../lib/locator');
const { house } = require('./house');
const { createEther, PLACES, random } = require('./radio');

const T0 = 1_700_000_000_000;
const WARM_MS = 15 * 60_000; // a rebuild begins so long before: by then a locator that knew nothing agrees with one that ran all along
const SOON_MS = 120_000; // … and nearly so after this: it still learns the levels

/** A phone and a tag that wander about. @param {number} seed @param {number} [seconds] */
function wandering(seed, seconds = 600) {
  const ether = createEther(house(), seed);
  const rnd = random(seed + 1000);
  const rooms = Object.keys(PLACES);
  const at = { 0: 'G-a', 1: 'U-b' };
  /** @type {import('../../lib/live/readings').Batch[]} */
  const batches = [];
  for (let s = 0; s < seconds; s += 1) {
    for (const who of /** @type {const} */ ([0, 1])) if (rnd() < 1 / 30) at[who] = rooms[Math.floor(rnd() * rooms.length)];
    if (s % 3 === 0) batches.push(ether.phone(PLACES[at[0]], T0 + s * 1000 + 400));
    batches.push(...ether.gateways(PLACES[at[1]], T0 + s * 1000));
  }
  return batches.sort((a, b) => a.ts - b.ts);
}

/**
 * What a locator makes of batches that arrive in this order.
 * @param {{batch: import('../../lib/live/readings').Batch, atMs: number}[]} arriving
 */
function played(arriving) {
  const locator = createLocator(house());
  for (const id of house().gateways.keys()) locator.setGateway(id, true);
  const outcome = emptyOutcome();
  for (const { batch, atMs } of arriving) {
    locator.tick(atMs, outcome);
    locator.hear(batch, atMs, outcome);
  }
  return outcome;
}

/** The last word on each second. @param {{ts: number, staff_id: string, room: string}[]} locations @param {number} fromMs
 * @param {number} [untilMs] */
const history = (locations, fromMs, untilMs = T0 + 590_000) => new Map(locations
  .filter(({ ts }) => ts >= fromMs && ts < untilMs)
  .map(({ ts, staff_id: id, room }) => [`${id} ${ts}`, room]));

for (const seed of [1, 2, 3]) {
  const batches = wandering(seed);
  const inOrder = batches.map((batch) => ({ batch, atMs: batch.ts }));

  test(`the network's jitter leaves no trace in history (walk ${seed})`, () => {
    const rnd = random(7);
    const live = batches.map((batch) => ({ batch, atMs: batch.ts + 5 + rnd() * 120 })).sort((a, b) => a.atMs - b.atMs);
    const [late, punctual] = [played(live), played(inOrder)];
    assert.deepEqual(history(late.locations, T0), history(punctual.locations, T0));
    assert.deepEqual(late.stays, punctual.stays);
  });

  test(`a locator that starts later agrees as soon as it knows the levels, and nearly so before (walk ${seed})`, () => {
    const [fromMs, untilMs] = [T0 + WARM_MS + 60_000, T0 + WARM_MS + 360_000];
    const long = wandering(seed, (untilMs - T0) / 1000 + 10).map((batch) => ({ batch, atMs: batch.ts }));
    const before = played(long);
    /** Begun so long before. @param {number} warmMs */
    const begun = (warmMs) => played(long.filter(({ batch }) => batch.ts >= fromMs - warmMs));
    const again = begun(WARM_MS);
    const whole = history(before.locations, fromMs, untilMs);
    assert.deepEqual(history(again.locations, fromMs, untilMs), whole);
    const since = (/** @type {any} */ { enter_ms: enter }) => enter >= fromMs;
    assert.deepEqual(again.stays.filter(since), before.stays.filter(since));
    const soon = history(begun(SOON_MS).locations, fromMs, untilMs);
    const other = [...whole].filter(([second, room]) => soon.get(second) !== room).length;
    assert.ok(other <= 0.01 * whole.size, `${other} of ${whole.size}`);
  });
}

test('a locator that took over learns since when its people are where they are', () => {
  const ether = createEther(house());
  const locator = createLocator(house());
  const outcome = emptyOutcome();
  for (let s = 0; s < 20; s += 2) locator.hear(ether.phone(PLACES['G-a'], T0 + s * 1000), T0 + s * 1000, outcome);
  locator.resume({ staff_id: '0', level: 'G', room: 'G-a', since: T0 - 500_000, ts: T0, state: 'present' });
  locator.resume({ staff_id: '1', level: 'G', room: 'gone', since: T0 - 500_000, ts: T0, state: 'present' });
  assert.equal(locator.presences()[0].since, T0 - 500_000);
  assert.equal(locator.presences().length, 1);
});
