'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding } = require('../lib/building');
const { Site } = require('../lib/site');
const { BEACONS, smallBuilding } = require('./support/building');

const T = 1_700_000_000_000;
const LIB = path.join(__dirname, '..', 'lib');
const batch = (ts) => ({ kind: 'phone', receiver: '0', ts, readings: [{ beacon: BEACONS.a, rssi: -60 }] });

test('whoever listens hears each batch, once, and what follows from it', () => {
  const site = new Site(createBuilding(smallBuilding()), T, { clock: () => T });
  const heard = { first: [], second: [], locations: [], buildings: [] };
  site.bus.on('batch', ({ ts }, nowMs, stored) => heard.first.push([ts, nowMs, stored]));
  site.bus.on('batch', ({ ts }) => heard.second.push(ts));
  site.bus.on('locations', (locations) => heard.locations.push(...locations.map(({ room }) => room)));
  site.bus.on('buildingChanged', ({ name }, nowMs) => heard.buildings.push([name, nowMs]));
  for (let s = 0; s < 10; s += 1) site.live.locate([batch(T + s * 1000)], T + s * 1000);
  site.flush(T + 20_000);
  assert.deepEqual(heard.second, heard.first.map(([ts]) => ts));
  assert.deepEqual(heard.first[0], [T, T, true]);
  assert.ok(heard.locations.length > 5 && heard.locations.every((room) => room === 'a'));
  site.setBuilding(createBuilding({ ...smallBuilding(), building: 'Another' }), T + 21_000);
  assert.deepEqual(heard.buildings, [['Another', T + 21_000]]);
});

test('a batch that cannot be located is an error for everybody who listens; where nobody does it is thrown', () => {
  const site = new Site(createBuilding(smallBuilding()), T, { clock: () => T });
  site.bus.on('batch', () => { throw new Error('no'); });
  site.live.put([batch(T)], T);
  assert.throws(() => site.live.drain(), /^Error: no$/);
  const errors = [[], []];
  for (const list of errors) site.bus.on('error', ({ message }) => list.push(message));
  site.live.put([batch(T + 1000)], T + 1000);
  site.live.drain();
  assert.deepEqual(errors, [['no'], ['no']]);
});

test('every event that is announced or listened to is in the list of events', () => {
  const listed = new Set([...fs.readFileSync(path.join(LIB, 'events.js'), 'utf8').matchAll(/^ \* {3}(\w+): \[/gm)].map(([, name]) => name));
  const sources = [LIB, path.join(LIB, '..', 'nodes')].flatMap((folder) => fs.globSync('**/*.js', { cwd: folder }).map((file) => path.join(folder, file)));
  const used = sources.flatMap((file) => [...fs.readFileSync(file, 'utf8').matchAll(/\bbus\??\.(?:on|off|emit)\('(\w+)'/g)].map(([, name]) => name));
  assert.ok(used.length > 20 && listed.size > 15);
  assert.deepEqual([...new Set(used)].filter((name) => !listed.has(name)), []);
});
