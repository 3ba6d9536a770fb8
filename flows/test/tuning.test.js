'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding } = require('../lib/building');
const { tuningOf } = require('../lib/building/tuning');
const { changesBetween } = require('../lib/building/editing/changes');
const { createLocator, emptyOutcome } = require('../lib/locator');
const { TUNING } = require('../lib/locator/tuning');
const { smallBuilding, BEACONS } = require('./support/building');

const SCHEMA = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'building', 'building.schema.json'), 'utf8'));
const PROPERTIES = SCHEMA.$defs.tuning.properties;
const T0 = 1_700_000_000_000;

/** What is wrong with a building of this tuning. */
function faultsOf(tuning) {
  try {
    createBuilding({ ...smallBuilding(), tuning });
    return [];
  } catch (error) {
    return error.faults;
  }
}

test('a building may set each number of the locator, and the schema has its default', () => {
  const defaults = Object.fromEntries(Object.entries(PROPERTIES).map(([key, property]) => [key, property.default]));
  assert.deepEqual(tuningOf(defaults), TUNING);
  assert.deepEqual(faultsOf(defaults), []);
});

test('the locator works at both ends of each range', () => {
  for (const [key, { minimum, maximum }] of Object.entries(PROPERTIES)) {
    for (const value of [minimum, maximum]) {
      const locator = createLocator(createBuilding({ ...smallBuilding(), tuning: { [key]: value } }));
      const outcome = emptyOutcome();
      for (let s = 0; s < 10; s += 1) {
        const readings = [{ beacon: BEACONS.a, rssi: -60 }, { beacon: BEACONS.b, rssi: -75 }];
        locator.hear({ kind: 'phone', receiver: '0', ts: T0 + s * 1000, readings }, T0 + s * 1000, outcome);
      }
      assert.ok(outcome.locations.every(({ room }) => typeof room === 'string') && outcome.locations.length > 0, `${key} ${value}`);
    }
  }
});

test('unknown names, values out of range and non-numbers are refused with name, pointer and reason', () => {
  const faults = faultsOf({ wall_dB: 5, wall_db: -1, stale_ms: 5000, looks: null, spread_db: '5' });
  for (const part of ['/tuning must NOT have additional properties: wall_dB', '/tuning/wall_db must be >= 0, not -1',
    '/tuning must NOT have additional properties: stale_ms',
    '/tuning/looks must be number, not null', '/tuning/spread_db must be number, not "5"']) {
    assert.ok(faults.some((fault) => fault.startsWith(part)), `${part} in\n${faults.join('\n')}`);
  }
  assert.deepEqual(faultsOf([]).length > 0, true);
});

test('there are a dozen numbers at most, all finite and above 0', () => {
  const numbers = Object.entries(TUNING);
  assert.ok(numbers.length <= 12, `${numbers.length}`);
  for (const [key, value] of numbers) assert.ok(Number.isFinite(value) && value > 0, key);
});

test('a locator applies another tuning with the building', () => {
  const building = (tuning) => createBuilding({ ...smallBuilding(), tuning });
  const changedAfter = (tuning) => {
    const locator = createLocator(building({}));
    const outcome = emptyOutcome();
    const hear = (s, a, b) => locator.hear({ kind: 'phone', receiver: '0', ts: T0 + s * 1000,
      readings: [{ beacon: BEACONS.a, rssi: a }, { beacon: BEACONS.b, rssi: b }] }, T0 + s * 1000, outcome);
    for (let s = 0; s < 20; s += 1) hear(s, -55, -75);
    locator.setBuilding(building(tuning), T0 + 20_000, outcome);
    for (let s = 20; s < 60; s += 1) hear(s, -75, -55);
    return locator.presences()[0].room;
  };
  assert.equal(changedAfter({}), 'b');
  assert.equal(changedAfter({ change_nats: 20, settled_nats: 10 }), 'a', 'nothing is so likely');
});

test('another tuning is a change of the building', () => {
  const file = smallBuilding();
  assert.equal(changesBetween(file, { ...file, tuning: { wall_db: 5 } }).other, true);
  assert.equal(changesBetween({ ...file, tuning: { wall_db: 5 } }, { ...file, tuning: { wall_db: 5 } }).other, false);
});
