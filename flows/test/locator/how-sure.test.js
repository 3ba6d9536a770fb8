// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createLocator, emptyOutcome } = require('../../lib/locator');
const { isProbable } = require('../../lib/shared/probable');
const { beaconOf, house } = require('./house');
const { createEther, PLACES } = require('./radio');

const T0 = 1_700_000_000_000;
const building = house();
const ROOMS = new Set(building.rooms.keys());

/**
 * Who is heard once a second, and what is found of them.
 * @param {(s: number) => {beacon: string, rssi: number}[]} heard @param {number} seconds
 */
function located(heard, seconds) {
  const locator = createLocator(building);
  const outcome = emptyOutcome();
  for (let s = 0; s < seconds; s += 1) {
    const ts = T0 + s * 1000;
    locator.hear({ kind: 'phone', receiver: '0', ts, readings: heard(s) }, ts + 20, outcome);
    for (let ms = 100; ms < 1000; ms += 100) locator.tick(ts + ms, outcome);
  }
  return { locator, outcome };
}

/** @param {import('../../lib/locator').Sureness & {room: string}} one */
function isSound({ room, probability, runner_up: other }) {
  assert.ok(probability !== null && probability >= 0 && probability <= 1, `${probability}`);
  assert.equal(probability, Math.round(probability * 100) / 100, 'two decimals');
  if (other !== null) assert.ok(ROOMS.has(other) && other !== room, other);
  if (probability === 1) assert.equal(other, null);
}

test('each location and presence has a probability and another room as runner-up; a walk is corrected, and only what replaces something is', () => {
  const ether = createEther(building, 5, 6);
  const way = ['G-a', 'G-hall', 'G-c', 'G-hall', 'G-lift', 'U-lift'];
  const { locator, outcome } = located((s) => ether.phone(PLACES[way[Math.floor(s / 20)]], 0).readings, 20 * way.length);
  [...outcome.locations, ...outcome.presences, ...locator.presences()].forEach(isSound);
  const said = new Map();
  let corrections = 0;
  for (const one of outcome.locations) {
    const before = said.get(one.ts);
    if (one.corrected) {
      corrections += 1;
      assert.ok(before && before.room !== one.room, 'a correction replaces another room');
    }
    said.set(one.ts, one);
  }
  assert.ok(corrections > 0, 'live guesses');
});

/** At the wall between two rooms, now on this side of it, now on that. @param {ReturnType<typeof createEther>} ether @param {number} s */
const atTheWall = (ether, s) => ether.phone({ room: s % 2 ? 'G-a' : 'G-b', x: s % 2 ? 9.5 : 10.5, y: 11 }, 0).readings;

test('who is at the wall between two rooms is less sure than who is in the middle of one, and the other room is the runner-up', () => {
  const [noisy, clear] = [createEther(building, 5, 6), createEther(building, 3, 1)];
  const wall = located((s) => atTheWall(noisy, s), 120).outcome.locations;
  const middle = located(() => clear.phone(PLACES['G-a'], 0).readings, 120).outcome.locations.slice(10);
  const share = (/** @type {typeof wall} */ list) => list.filter(({ probability }) => isProbable(probability)).length / list.length;
  assert.ok(share(wall) > 0.05, `${share(wall)}`);
  assert.equal(share(middle), 0);
  const doubtful = wall.filter(({ probability }) => isProbable(probability));
  assert.ok(doubtful.filter(({ room, runner_up: other }) => [room, other].sort().join() === 'G-a,G-b').length > doubtful.length / 2);
});

test('a presence is reported when it becomes probable or sure, not more often than each 5 s for that alone', () => {
  const ether = createEther(building, 5, 6);
  const { outcome } = located((s) => atTheWall(ether, s), 300);
  const crossings = outcome.presences.filter((one, n) => {
    const before = outcome.presences[n - 1];
    return before && before.room === one.room && before.state === one.state && before.since === one.since
      && isProbable(before.probability) !== isProbable(one.probability);
  });
  assert.ok(crossings.length >= 2, `${crossings.length}`);
  const words = crossings.map(({ probability }) => isProbable(probability));
  assert.ok(words.includes(true) && words.includes(false));
  crossings.forEach(({ ts }, n) => assert.ok(n === 0 || ts - crossings[n - 1].ts >= 5000));
});

test('what is known goes on with a copy', () => {
  const ether = createEther(building, 3, 6);
  const { locator, outcome } = located(() => ether.phone(PLACES['G-b'], 0).readings, 10);
  const copy = createLocator(building);
  copy.restore(structuredClone(locator.save(T0 + 10_000, outcome)));
  assert.deepEqual(copy.presences(), locator.presences());
});

test('a beacon that is touched says as surely where somebody is who was never heard before', () => {
  const touch = [{ beacon: beaconOf('G-a'), rssi: -28 }, { beacon: beaconOf('G-b'), rssi: -62 }];
  const [heardBefore, never] = [6, 1].map((seconds) => located((s) => (
    s === seconds - 1 ? touch : [{ beacon: beaconOf('G-b'), rssi: -60 }]), seconds).locator.presences()[0]);
  assert.equal(never.room, 'G-a');
  assert.equal(never.probability, heardBefore.probability);
});
