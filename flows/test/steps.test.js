'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding, loadBuilding } = require('../lib/building');
const { stepsDone } = require('../lib/dashboard/topics');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS, TAG } = require('./support/building');
const { receive } = require('./support/receive');

const T = 1_700_000_000_000;
const DEMO = loadBuilding(path.join(__dirname, '..', 'building', 'demo.json'));
const batch = (beacon, more = {}) => Buffer.from(JSON.stringify({ ts: T, readings: [{ beacon, rssi: -50 }], ...more }));
const done = (site, keys = []) => Object.entries(stepsDone(site, keys, T)).filter(([, yes]) => yes).map(([step]) => step);

test('no step of a fresh demo is done, whatever its staff and people', () => {
  const site = new Site(DEMO, T);
  receive(site, 'sda/v1/phone/0/readings', batch('F088331FB84A', { simulated: true }), T);
  assert.deepEqual(done(site), []);
});

test('each step is done when its condition holds', () => {
  const site = new Site(createBuilding({ ...smallBuilding(), staff: [] }), T);
  assert.deepEqual(done(site), ['building']);
  receive(site, 'sda/v1/phone/0/readings', batch(BEACONS.a), T);
  assert.deepEqual(done(site), ['building', 'receivers']);
  site.setBuilding(createBuilding(smallBuilding()), T);
  assert.deepEqual(done(site), ['building', 'receivers', 'staff']);
  const key = (rights, ends) => [{ rights, expires_ms: ends }];
  assert.ok(!done(site, key(['presence'], null)).includes('hacs'));
  assert.ok(!done(site, key(['history'], T - 1)).includes('hacs'));
  assert.equal(done(site, key(['history'], T + 1)).length, 4);
});

test('simulated people are counted while they are here, and no longer after a real reading', () => {
  const site = new Site(createBuilding(smallBuilding()), T);
  const { simulated } = site.live;
  const here = [{ staff_id: '0', state: 'present' }, { staff_id: '1', state: 'present' }, { staff_id: '2', state: 'present' }];
  receive(site, 'sda/v1/phone/1/readings', batch(BEACONS.a), T);
  assert.equal(simulated.count(here, T), 0);
  receive(site, 'sda/v1/phone/1/readings', batch(BEACONS.a, { simulated: true }), T);
  receive(site, 'sda/v1/gateway/gw-a/readings', batch(TAG, { simulated: true }), T);
  assert.equal(simulated.count(here, T), 2);
  assert.equal(simulated.count(here.map((one) => ({ ...one, state: 'lost' })), T), 0);
  receive(site, 'sda/v1/phone/1/readings', batch(BEACONS.a), T + 1000);
  assert.equal(simulated.count(here, T + 1000), 1);
  assert.equal(simulated.count(here, T + 61_000), 0);
});
