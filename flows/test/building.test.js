'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding, loadBuilding, BuildingError } = require('../lib/building');
const { smallBuilding, BEACONS, TAG } = require('./support/building');

const DEMO = path.join(__dirname, '..', 'building', 'demo.json');

test('the demo building is good', () => {
  const building = loadBuilding(DEMO);
  assert.equal(building.levels.length, 7);
  assert.ok(building.beacons.size >= 100);
});

test('every thing is found by its id', () => {
  const building = createBuilding(smallBuilding());
  assert.equal(building.rooms.get('c').level, 'L2');
  assert.equal(building.beacons.get(BEACONS.b).room, 'b');
  assert.equal(building.tagOwner.get(TAG), '0');
  assert.ok(building.isRegistered(TAG) && building.isRegistered(BEACONS.a));
  assert.ok(!building.isRegistered('000000000000'));
});

test('every fault has its JSON pointer', () => {
  const data = smallBuilding();
  data.levels[1].rooms[1].id = 'a';
  data.beacons[1].id = BEACONS.a;
  data.beacons[2].room = 'attic';
  data.beacons[3].level = 'L1';
  data.staff[1].id = 'gw-a';
  data.staff[1].tags = [TAG];
  assert.throws(() => createBuilding(data, 'x.json'), (error) => {
    assert.ok(error instanceof BuildingError);
    for (const part of ['/levels/1/rooms/1 room id "a"', `/beacons/1 beacon id "${BEACONS.a}"`, '/beacons/2/room there is no room "attic"',
      '/beacons/3/', '/staff/1 receiver id "gw-a"', `/staff/1/tags/0 beacon id "${TAG}"`]) {
      assert.ok(error.message.includes(part), `${part} in\n${error.message}`);
    }
    return true;
  });
});

test('an impossible plan is refused: overlapping rooms, rooms off the level, beacons outside their room', () => {
  const data = smallBuilding();
  data.levels[0].rooms[1].polygon = [[9, 0], [20, 0], [20, 10], [9, 10]];
  data.levels[1].rooms[0].polygon[0] = [-1, 0];
  data.beacons[3].x_m = 5;
  data.gateways[0].y_m = 10.4; // in the wall
  data.gateways[1].y_m = 10.6;
  assert.throws(() => createBuilding(data), ({ faults }) => {
    assert.deepEqual(faults.map((fault) => fault.split(' ')[0]), ['/levels/0/rooms/1/polygon', '/levels/1/rooms/0/polygon', '/beacons/3', '/gateways/1']);
    return true;
  });
});

test('violations of the schema are refused', () => {
  for (const break_ of [
    (data) => { data.beacons[0].id = 'c2:a6:28:38:4b:08'; },
    (data) => { delete data.levels; },
    (data) => { data.levels[0].rooms[0].polygon = [[0, 0]]; },
    (data) => { data.staff[0].id = 'no/slash'; },
  ]) {
    const data = smallBuilding();
    break_(data);
    assert.throws(() => createBuilding(data), BuildingError);
  }
});

test('a missing file, or one without JSON, is refused by name', () => {
  assert.throws(() => loadBuilding('/nowhere/x.json'), (error) => error instanceof BuildingError && error.message.includes('/nowhere/x.json'));
});

test('the registry tool writes once, and again only after a change', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'registry-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'building.json');
  const out = path.join(folder, 'out');
  const run = () => spawnSync(process.execPath, [path.join(__dirname, '..', 'bin', 'registry.js'), file, out], { encoding: 'utf8' });
  const data = smallBuilding();
  fs.writeFileSync(file, JSON.stringify(data));

  assert.equal(run().status, 0);
  const conf = fs.readFileSync(path.join(out, 'registry.conf'), 'utf8');
  assert.deepEqual(conf.match(/(?<=^ +")[0-9A-F-]+(?=",$)/gm), [...Object.values(BEACONS), TAG].sort());
  assert.match(conf, /^\[\[processors\.starlark\]\]$/m);

  const before = fs.statSync(path.join(out, 'registry.conf')).mtimeMs;
  assert.match(run().stdout, /unchanged/);
  assert.equal(fs.statSync(path.join(out, 'registry.conf')).mtimeMs, before);

  data.beacons.pop();
  fs.writeFileSync(file, JSON.stringify(data));
  assert.match(run().stdout, /wrote registry.conf/);
  assert.notEqual(fs.readFileSync(path.join(out, 'registry.conf'), 'utf8'), conf);

  fs.writeFileSync(file, '{}');
  const refused = run();
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /is refused/);
});
