'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding } = require('../lib/building');
const { tuningOf } = require('../lib/building-tuning');
const { changesBetween } = require('../lib/editing/changes');
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

test('a building may set each number of the locator, and the schema knows its default', () => {
  const defaults = Object.fromEntries(Object.entries(PROPERTIES).map(([key, property]) => [key, property.default]));
  assert.deepEqual(tuningOf(defaults), TUNING);
  assert.deepEqual(faultsOf(defaults), []);
});

test('either end of each range makes a locator that works', () => {
  for (const [key, { minimum, maximum }] of Object.entries(PROPERTIES)) {
    for (const value of [minimum, maximum]) {
      const times = { stale_ms: 1000, lost_ms: 86_400_000, gone_ms: 604_800_000, window_ms: 100, window_at_most_ms: 60_000 };
      const tuning = key in times ? { ...times, [key]: value } : { [key]: value };
      if (faultsOf(tuning).length > 0) continue; // against the order of times, below
      const locator = createLocator(createBuilding({ ...smallBuilding(), tuning }));
      const outcome = emptyOutcome();
      for (let s = 0; s < 10; s += 1) {
        const readings = [{ beacon: BEACONS.a, rssi: -60 }, { beacon: BEACONS.b, rssi: -75 }];
        locator.hear({ kind: 'phone', receiver: '0', ts: T0 + s * 1000, readings }, T0 + s * 1000, outcome);
      }
      assert.ok(outcome.locations.every(({ room }) => typeof room === 'string') && outcome.locations.length > 0, `${key} ${value}`);
    }
  }
});

test('what is unknown, out of range or no number is refused by name, place and reason', () => {
  const faults = faultsOf({ wall_dB: 5, wall_db: -1, kept_cells: 2.5, spread_db: '5' });
  for (const part of ['/tuning must NOT have additional properties: wall_dB', '/tuning/wall_db must be >= 0, not -1',
    '/tuning/kept_cells must be integer, not 2.5', '/tuning/spread_db must be number, not "5"']) {
    assert.ok(faults.some((fault) => fault.startsWith(part)), `${part} in\n${faults.join('\n')}`);
  }
  assert.deepEqual(faultsOf([]).length > 0, true);
});

test('times that follow one another are held to their order, the defaults included', () => {
  assert.deepEqual(faultsOf({ stale_ms: 90_000 }), ['/tuning/stale_ms lost_ms (60000) must not be less than stale_ms (90000)']);
  assert.deepEqual(faultsOf({ lost_ms: 20_000, gone_ms: 60_000 }), ['/tuning/lost_ms lost_ms (20000) must not be less than stale_ms (30000)']);
  assert.deepEqual(faultsOf({ stale_ms: 90_000, lost_ms: 120_000 }), []);
});

test('a locator takes another tuning over with the building', () => {
  const building = (tuning) => createBuilding({ ...smallBuilding(), tuning });
  const locator = createLocator(building({}));
  const outcome = emptyOutcome();
  const hear = (ms) => locator.hear({ kind: 'phone', receiver: '0', ts: ms, readings: [{ beacon: BEACONS.a, rssi: -60 }] }, ms, outcome);
  hear(T0);
  locator.setBuilding(building({ stale_ms: 2000 }), T0 + 100, outcome);
  hear(T0 + 1000);
  locator.tick(T0 + 2900, outcome);
  assert.equal(locator.presences()[0].state, 'present');
  locator.tick(T0 + 3100, outcome);
  assert.equal(locator.presences()[0].state, 'stale');
});

test('another tuning is a change of the building', () => {
  const file = smallBuilding();
  assert.equal(changesBetween(file, { ...file, tuning: { wall_db: 5 } }).other, true);
  assert.equal(changesBetween({ ...file, tuning: { wall_db: 5 } }, { ...file, tuning: { wall_db: 5 } }).other, false);
});
