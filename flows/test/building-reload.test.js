'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding, BuildingError } = require('../lib/building');
const { createReloader } = require('../lib/building/reload');
const { createRoomNames, mergeNames } = require('../lib/building/room-names');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');
const { receive } = require('./support/receive');

const T = 1_700_000_000_000;
const NEW = 'A0B1C2D3E4F5';

/** A reloader over a real file, with a record of its calls. */
function rig(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reload-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'building.json');
  const all = { file, current: createBuilding(smallBuilding()), faults: [], logs: [], warnings: [], applied: 0, onApply: () => {} };
  all.write = (data) => fs.writeFileSync(file, typeof data === 'string' ? data : JSON.stringify(data));
  all.write(smallBuilding());
  all.reloader = createReloader({
    source: file,
    read: () => fs.promises.readFile(file, 'utf8'),
    current: () => all.current,
    apply: (next) => {
      all.onApply();
      all.current = next;
      all.applied += 1;
    },
    refuse: (faults) => { all.faults = faults; },
    logger: { log: (text) => all.logs.push(text), warn: (text) => all.warnings.push(text) },
  });
  all.check = async (count = 3) => {
    for (let i = 0; i < count; i += 1) await all.reloader.check();
  };
  return all;
}
const changed = (change) => {
  const data = smallBuilding();
  change(data);
  return data;
};
const withNew = () => changed((data) => data.beacons.push({ id: NEW, level: 'L1', room: 'a', x_m: 2, y_m: 2 }));

test('an unchanged file changes nothing, nor does other white space', async (t) => {
  const all = rig(t);
  await all.check();
  all.write(JSON.stringify(smallBuilding(), null, 2));
  await all.check();
  assert.deepEqual([all.applied, all.logs, all.warnings], [0, [], []]);
});

for (const [how, put] of [
  ['in place', (file, text) => fs.writeFileSync(file, text)],
  ['by rename', (file, text) => { fs.writeFileSync(`${file}.new`, text); fs.renameSync(`${file}.new`, file); }],
  ['with the old size and time', (file, text) => {
    const { atime, mtime, size } = fs.statSync(file);
    assert.equal(Buffer.byteLength(text), size);
    fs.writeFileSync(file, text);
    fs.utimesSync(file, atime, mtime);
  }],
]) {
  test(`a good file written ${how} is in use at the next check`, async (t) => {
    const all = rig(t);
    await all.check();
    put(all.file, JSON.stringify(changed((data) => { data.beacons[0].id = NEW; })));
    await all.check(1);
    assert.ok(all.current.isRegistered(NEW) && !all.current.isRegistered(BEACONS.a));
    assert.equal(all.logs.length, 1);
    await all.check();
    assert.equal(all.applied, 1);
  });
}

test('a bad file is refused with all faults, logged once, and the old building stays', async (t) => {
  const all = rig(t);
  const before = all.current;
  all.write(changed((data) => {
    data.levels[0].rooms[0].limit = 0;
    data.levels[0].colour = 'red';
    data.beacons[0].id = 'c2';
    data.beacons[0].room = 'attic';
    data.beacons[1].id = BEACONS.c;
    data.gateways[1].x_m = 2;
    data.staff[1].name = '';
  }));
  await all.check(1);
  assert.deepEqual(all.faults, [], 'it may be half written');
  await all.check(5);
  assert.deepEqual(all.faults.map((fault) => fault.split(' ')[0]).sort(), ['/beacons/0/id', '/beacons/0/room', '/beacons/2', '/gateways/1',
    '/levels/0', '/levels/0/rooms/0/limit', '/staff/1/name']);
  assert.match(all.faults.join('\n'), /must NOT have additional properties: colour/);
  assert.match(all.faults.join('\n'), /not "c2"/);
  assert.equal(all.warnings.length, 1);
  assert.equal(all.current, before);
  all.write(withNew());
  await all.check(1);
  assert.deepEqual([all.faults, all.applied], [[], 1]);
});

test('restoring the old content ends the fault without applying it', async (t) => {
  const all = rig(t);
  await all.check();
  all.write('{"building": ');
  await all.check();
  assert.match(all.faults[0], /^\/ is not JSON/);
  all.write(smallBuilding());
  await all.check(1);
  assert.deepEqual([all.faults, all.applied], [[], 0]);
  assert.match(all.logs[0], /good again/);
});

test('half a file and then the whole is never refused', async (t) => {
  const all = rig(t);
  const text = JSON.stringify(withNew());
  for (const part of [0.1, 0.5, 0.99, 1]) {
    all.write(text.slice(0, text.length * part));
    await all.check(1);
  }
  assert.deepEqual([all.warnings, all.faults, all.applied], [[], [], 1]);
});

test('a missing file is a fault until it is back', async (t) => {
  const all = rig(t);
  fs.renameSync(all.file, `${all.file}.away`);
  await all.check();
  assert.match(all.faults[0], /cannot be read: ENOENT/);
  fs.renameSync(`${all.file}.away`, all.file);
  await all.check(1);
  assert.deepEqual(all.faults, []);
});

test('a building that cannot be applied is logged once and retried', async (t) => {
  const all = rig(t);
  all.onApply = () => { throw new Error('no space left'); };
  all.write(withNew());
  await all.check(4);
  assert.deepEqual(all.faults, ['/ cannot be taken over: no space left']);
  assert.equal(all.warnings.length, 1);
  all.onApply = () => {};
  await all.check(1);
  assert.deepEqual([all.faults, all.applied], [[], 1]);
});

test('property: faults of any content are returned, never thrown', () => {
  const levels = [null, 1, { rooms: 'x' }, { rooms: [null, { polygon: [1, [2]] }] }];
  for (const data of [null, 1, 'x', [], {}, { levels, beacons: [null, 3, {}], gateways: {}, staff: [{ tags: 3 }, { tags: [null] }] }]) {
    assert.throws(() => createBuilding(data), (error) => error instanceof BuildingError && error.faults.length > 0);
  }
});

test('a room without area is refused', () => {
  const flat = changed((data) => { data.levels[0].rooms[0].polygon = [[0, 0], [1, 0], [2, 0]]; });
  assert.throws(() => createBuilding(flat), /polygon is no area/);
});

test('former rooms keep their last name, also over restarts', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'names-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'user', 'rooms.json');
  const warnings = [];
  const start = (data, nowMs) => {
    const building = createBuilding(data);
    createRoomNames(file, (text) => warnings.push(text)).update(building, nowMs);
    return building;
  };
  start(smallBuilding(), T);
  start(changed((data) => { data.levels[1].rooms[1].name = 'Chapel'; }), T + 1);
  const without = changed((data) => {
    data.levels[1].rooms.pop();
    data.beacons.pop();
    data.levels[0].rooms[0].name = 'Hall';
  });
  assert.equal(start(without, T + 2).roomName('d'), 'Chapel');
  const later = start(without, T + 3);
  assert.deepEqual([later.roomName('d'), later.roomName('a'), later.roomName('x')], ['Chapel', 'Hall', 'x']);
  assert.equal(JSON.parse(fs.readFileSync(file, 'utf8')).d.until_ms, T + 2);
  assert.equal(start(smallBuilding(), T + 4).formerRooms.size, 0, 'it is back');
  for (const damage of ['{"a":', 'null', '[1]', '{"a": 1}']) {
    fs.writeFileSync(file, damage);
    assert.equal(start(smallBuilding(), T + 5).roomName('d'), 'Room D');
  }
  assert.equal(warnings.length, 1);
});

test('the latest former rooms are kept', () => {
  const known = Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`r${i}`, { name: `R ${i}`, until_ms: i }]));
  const names = mergeNames(known, createBuilding(smallBuilding()), T);
  assert.equal(Object.keys(names).length, 5004);
  assert.ok(names.r5999 && names.r1000 && !names.r999);
});

test('a new building applies from the next reading on, locations stay, and unregistered beacons may become registered', () => {
  const site = new Site(createBuilding(smallBuilding()), T);
  const hear = (kind, receiver, s, beacon) => receive(site, `sda/v1/${kind}/${receiver}/readings`,
    Buffer.from(JSON.stringify({ ts: T + s * 1000, readings: [{ beacon, rssi: -50 }] })), T + s * 1000);
  hear('phone', '1', 0, BEACONS.d);
  hear('phone', '1', 1, NEW);
  hear('gateway', 'gw-new', 1, NEW);
  assert.deepEqual([site.devices.beacons.unregistered().map(({ beacon }) => beacon), site.devices.gateways.unlisted()], [[NEW], ['gw-new']]);
  const version = site.live.version();
  const next = changed((data) => {
    data.levels[1].rooms.pop();
    data.beacons.pop();
    data.beacons.push({ id: NEW, level: 'L1', room: 'a', x_m: 2, y_m: 2 });
    data.gateways.push({ id: 'gw-new', level: 'L1', room: 'a', x_m: 2, y_m: 2 });
  });
  site.setBuilding(createBuilding(next), T + 2000);
  assert.ok(site.live.version() > version);
  assert.deepEqual([site.devices.beacons.unregistered().map(({ beacon }) => beacon), site.devices.gateways.unlisted()], [[BEACONS.d], []]);
  for (let s = 10; s < 20; s += 1) hear('phone', '1', s, NEW);
  site.tick(T + 20_000);
  const rooms = site.memory.history.between('1', T, T + 30_000).map(({ room }) => room);
  assert.equal(rooms[0], 'd');
  assert.equal(rooms.at(-1), 'a');
});
