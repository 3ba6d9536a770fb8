// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createLocator, emptyOutcome, DEFAULTS } = require('../../lib/locator');
const { beaconOf, house } = require('./house');
const { createEther, PLACES } = require('./radio');

const T0 = 1_700_000_000_000;

/** A locator, and somebody with a tag who stands in rooms. */
function scene() {
  const ether = createEther(house());
  const locator = createLocator(house());
  for (const id of house().gateways.keys()) locator.setGateway(id, true);
  const outcome = emptyOutcome();
  let nowMs = T0;
  const places = { ...PLACES, 'by the wall': { room: 'G-a', x: 9.4, y: 7 } };
  /** @param {string} room @param {number} seconds @param {() => void} [each] */
  const stand = (room, seconds, each = () => {}) => {
    for (let s = 0; s < seconds; s += 1, nowMs += 1000) {
      for (const batch of ether.gateways(places[room], nowMs)) locator.hear(batch, batch.ts + 20, outcome);
      locator.tick(nowMs + 999, outcome);
      each();
    }
  };
  return { locator, outcome, stand, wait: (/** @type {number} */ ms) => locator.tick(nowMs += ms, outcome) };
}

/** What must hold of any. @param {import('../../lib/locator').Trace|null} trace */
function check(trace) {
  assert.ok(trace);
  const { rooms, heard, change } = trace;
  const sum = rooms.reduce((total, { probability }) => total + probability, 0);
  assert.ok(sum <= 1 + 0.0005 * rooms.length, `probabilities sum to ${sum}, each of them rounded`);
  assert.ok(rooms.every(({ probability }) => probability >= 0 && probability <= 1));
  assert.deepEqual(rooms, [...rooms].sort((a, b) => b.probability - a.probability));
  assert.deepEqual(heard, [...heard].sort((a, b) => b.rssi - a.rssi));
  assert.ok(heard.every(({ expected }) => expected.length === rooms.length));
  assert.ok(heard.every(({ readings, age_s: age }) => readings >= 0 && age >= 0));
  assert.ok(trace.level_sd_db === null ? trace.level_db === null : trace.level_sd_db > 0 && trace.level_sd_db <= DEFAULTS.levelDb);
  if (change) {
    assert.notEqual(change.room, trace.room);
    assert.ok(change.needed_nats === 0 && change.lead_nats <= 0);
  }
  assert.deepEqual(JSON.parse(JSON.stringify(trace)), trace, 'all of it can be sent');
  return trace;
}

test('who stands in a room: it is the likeliest, what is near is heard as expected there, and others are behind', () => {
  const { locator, stand } = scene();
  stand('G-a', 60);
  const trace = check(locator.trace('1'));
  assert.deepEqual([trace.staff_id, trace.room, trace.rooms[0].room, trace.rooms[0].level], ['1', 'G-a', 'G-a', 'G']);
  assert.ok(trace.rooms[0].probability > 0.8);
  assert.equal(trace.heard[0].id, 'gw-G-a');
  assert.equal(trace.heard[0].room, 'G-a');
  assert.ok(Math.abs(trace.heard[0].rssi - (trace.heard[0].expected[0] ?? NaN)) < 8, JSON.stringify(trace.heard[0]));
  assert.ok(trace.change === null || trace.change.lead_nats < 0);
});

test('at any time of a walk it adds up, and nobody else leads', () => {
  const { locator, stand } = scene();
  let looked = 0;
  for (const room of ['G-a', 'G-hall', 'G-c', 'G-lift', 'U-lift', 'U-hall', 'U-b']) {
    stand(room, 20, () => {
      const trace = locator.trace('1');
      if (!trace) return;
      check(trace);
      looked += 1;
    });
  }
  assert.ok(looked > 130);
});

test('nothing is known of who was never heard, nor of those with a first reading that still waits; who is lost is in no room', () => {
  const { locator, stand, outcome, wait } = scene();
  assert.equal(locator.trace('1'), null);
  locator.hear({ kind: 'gateway', receiver: 'gw-G-a', ts: T0, readings: [{ beacon: 'C0FFEE000001', rssi: -60 }] }, T0 + 10, outcome);
  assert.equal(locator.trace('1'), null);
  assert.deepEqual(locator.learnedStrengths().map(({ staff_id: id, level_db: db }) => [id, db]), [['1', null]]);
  stand('G-a', 10);
  wait(DEFAULTS.lostMs + 1000);
  assert.equal(check(locator.trace('1')).room, 'G-a', 'the last one');
  wait(DEFAULTS.goneMs);
  assert.equal(locator.trace('1'), null);
});

test('looking changes nothing', () => {
  const [looked, not] = [scene(), scene()];
  for (const room of ['G-a', 'G-hall', 'U-c']) {
    looked.stand(room, 20, () => { looked.locator.trace('1'); looked.locator.learnedStrengths(); });
    not.stand(room, 20);
  }
  assert.deepEqual(looked.outcome, not.outcome);
});

test('somebody with only where they were known has an empty trace', () => {
  const locator = createLocator(house());
  locator.resume({ staff_id: '9', level: 'G', room: 'G-a', since: T0 - 1000, ts: T0, state: 'present' });
  const trace = check(locator.trace('9'));
  assert.deepEqual([trace.room, trace.rooms.map(({ room }) => room), trace.heard, trace.change], ['G-a', ['G-a'], [], null]);
  locator.hear({ kind: 'phone', receiver: '9', ts: T0 + 1000, readings: [{ beacon: beaconOf('G-a'), rssi: -60 }] }, T0 + 1000, emptyOutcome());
  assert.equal(check(locator.trace('9')).rooms[0].room, 'G-a');
});
