'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../support/fast-check');
const { createBuilding } = require('../../lib/building');
const { createLocator, emptyOutcome, DEFAULTS } = require('../../lib/locator');
const { houseFile } = require('./house');
const { createEther, random, PLACES } = require('./radio');

const START_MS = 1_800_000_000_000;
const file = houseFile();
const building = createBuilding(file);
const beacons = file.beacons.filter(({ level }) => level === 'G');
/** A phone that is nearest to one beacon after the other, each for some seconds, and then silent. */
const leg = fc.record({ at: fc.nat(beacons.length - 1), seconds: fc.integer({ min: 1, max: 12 }) });
const walks = fc.array(leg, { minLength: 2, maxLength: 12 });
const noise = fc.infiniteStream(fc.integer({ min: -6, max: 6 }));

/** @param {any[]} stays @returns {any[]} the newest of each beginning */
const newest = (stays) => [...new Map(stays.map((stay) => [stay.enter_ms, stay])).values()].sort((a, b) => a.enter_ms - b.enter_ms);

/** @param {{at: number, seconds: number}[]} walk @param {Iterator<number>} noiseDb @returns {any[]} */
function staysOf(walk, noiseDb) {
  const locator = createLocator(building);
  const outcome = emptyOutcome();
  let ms = START_MS + 254; // phones do not send at whole seconds
  for (const { at, seconds } of walk) {
    for (let second = 0; second < seconds; second += 1, ms += 1000) {
      const { x_m: x, y_m: y } = beacons[at];
      const readings = beacons.map((beacon) => {
        const metres = Math.max(1, Math.hypot(beacon.x_m - x, beacon.y_m - y));
        return { beacon: beacon.id, rssi: Math.round(-55 - 20 * Math.log10(metres)) + noiseDb.next().value };
      });
      locator.hear({ kind: 'phone', receiver: '0', ts: ms, readings }, ms, outcome);
      locator.tick(ms, outcome);
    }
  }
  for (const endMs = ms + 120_000; ms < endMs; ms += 250) locator.tick(ms, outcome);
  return newest(outcome.stays);
}

test('nobody stays in two rooms at once, also where several seconds are decided in one go', () => {
  let changes = 0;
  fc.assert(fc.property(walks, noise, (walk, noiseDb) => {
    const stays = staysOf(walk, noiseDb);
    stays.slice(1).forEach((stay, n) => assert.ok(stays[n].leave_ms <= stay.enter_ms, JSON.stringify([stays[n], stay])));
    changes += stays.length - 1;
  }), { numRuns: 150 });
  assert.ok(changes > 100, `only ${changes} changes of room`);
});

const ROOMS = Object.keys(PLACES);
const TAGS = { 1: ['C0FFEE000001'], 2: ['C0FFEE000002', 'C0FFEE000003'] };
const step = fc.record({ at: fc.nat(ROOMS.length - 1), other: fc.nat(ROOMS.length - 1), seconds: fc.integer({ min: 1, max: 12 }) });
const ways = fc.array(step, { minLength: 2, maxLength: 8 });
/** Short of the time that a step waits for slower gateways. */
const DELAY_MS = DEFAULTS.holdMs - 1;

/** What all gateways report of two people, one of them with two tags. @param {any[]} way @param {number} seed */
function reported(way, seed) {
  const ether = createEther(building, seed, 4);
  let ms = START_MS;
  return way.flatMap(({ at, other, seconds }) => Array.from({ length: seconds }, () => {
    const startMs = ms;
    ms += 1000;
    return [...TAGS[1].map((tag) => [at, tag]), ...TAGS[2].map((tag) => [other, tag])]
      .flatMap(([room, tag]) => ether.gateways(PLACES[ROOMS[room]], startMs, tag));
  }).flat());
}

/** @param {any[]} batches @param {() => number} delayMs of each on its way */
function found(batches, delayMs) {
  const locator = createLocator(building);
  for (const id of building.gateways.keys()) locator.setGateway(id, true);
  const outcome = emptyOutcome();
  const arriving = batches.map((batch) => ({ batch, atMs: batch.ts + delayMs() })).sort((a, b) => a.atMs - b.atMs);
  for (const { batch, atMs } of arriving) {
    locator.tick(atMs, outcome);
    locator.hear(batch, atMs, outcome);
  }
  for (let ms = arriving.at(-1).atMs, endMs = ms + 120_000; ms < endMs; ms += 250) locator.tick(ms, outcome);
  assert.deepEqual(outcome.late, []);
  return Object.keys(TAGS).map((id) => ({
    stays: newest(outcome.stays.filter(({ staff_id: its }) => its === id)),
    seconds: [...new Map(outcome.locations.filter(({ staff_id: its }) => its === id)
      .map(({ ts, room, beacon, rssi }) => [ts, [room, beacon, rssi]]))].sort(([a], [b]) => a - b),
  }));
}

test('history is the same however batches of many gateways are shuffled within the time they are waited for, and no stays overlap', () => {
  let changes = 0;
  fc.assert(fc.property(ways, fc.nat(1e6), (way, seed) => {
    const batches = reported(way, seed);
    const rnd = random(seed + 1);
    const inOrder = found(batches, () => 0);
    assert.deepEqual(found(batches, () => rnd() * DELAY_MS), inOrder);
    assert.deepEqual(found(batches.toReversed(), () => (rnd() < 0.5 ? 0 : DELAY_MS)), inOrder);
    for (const { stays } of inOrder) {
      stays.slice(1).forEach((stay, n) => assert.ok(stays[n].leave_ms <= stay.enter_ms, JSON.stringify([stays[n], stay])));
      changes += Math.max(0, stays.length - 1);
    }
  }), { numRuns: 60 });
  assert.ok(changes > 100, `only ${changes} changes of room`);
});
