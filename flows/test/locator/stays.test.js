'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../support/fast-check');
const { createBuilding } = require('../../lib/building');
const { createLocator, emptyOutcome } = require('../../lib/locator');
const { houseFile } = require('./house');

const START_MS = 1_800_000_000_000;
const file = houseFile();
const building = createBuilding(file);
const beacons = file.beacons.filter(({ level }) => level === 'G');
/** A phone that is nearest to one beacon after the other, each for some seconds, and then silent. */
const leg = fc.record({ at: fc.nat(beacons.length - 1), seconds: fc.integer({ min: 1, max: 12 }) });
const walks = fc.array(leg, { minLength: 2, maxLength: 12 });
const noise = fc.infiniteStream(fc.integer({ min: -6, max: 6 }));

/** @param {{at: number, seconds: number}[]} walk @param {Iterator<number>} noiseDb @returns {any[]} the newest of each beginning */
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
  return [...new Map(outcome.stays.map((stay) => [stay.enter_ms, stay])).values()].sort((a, b) => a.enter_ms - b.enter_ms);
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
