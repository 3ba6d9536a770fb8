'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createBuilding, loadBuilding } = require('../lib/building');
const { emptyBuilding, fromListWork } = require('../lib/building/import/from-list');
const { inOrder, storeyOf } = require('../lib/building/import/storeys');
const { inOneGo } = require('../lib/shared/pieces');
const { smallBuilding, TAG } = require('./support/building');

const make = (text, base = emptyBuilding('House')) => inOneGo(fromListWork(Buffer.from(text), base));
const mac = (i) => `C2A6${String(i).padStart(8, '0')}`;
const names = ({ levels }) => levels.map((level) => [level.name, level.rooms.map(({ name }) => name)]);

for (const [name, storey] of [['B2', -2], ['Basement 1', -1], ['basement', -1], ['LG', -0.5], ['G', 0], ['0', 0], ['Ground floor', 0], ['GF', 0],
  ['M', 0.5], ['1', 1], ['L1', 1], ['Level 12', 12], ['3rd floor', 3], ['2F', 2], ['-1', -1], ['Roof', 1000], ['Gym', null], ['Main', null],
  ['Lobby', null], ['Block 3', null]]) {
  test(`the storey of "${name}"`, () => assert.equal(storeyOf(name), storey));
}

test('levels are in storey order, whatever the order of rows', () => {
  const order = (...all) => inOrder(all.map((name) => ({ name }))).map(({ name }) => name).join(' ');
  assert.equal(order('10', '2', 'G', 'B1', 'Roof', '1', 'B2', 'Annexe'), 'B2 B1 G 1 2 10 Roof Annexe');
  assert.equal(order('L3', 'L1', 'L2'), 'L1 L2 L3');
});

test('rows create levels and rooms, and each beacon is in its room', () => {
  const made = make(`${mac(1)}:Main Lobby:1\n${mac(2)}:Café:1\n${mac(3)}:Main  lobby:1\n${mac(4)}:Car Park:B1\n`);
  assert.deepEqual(names(made), [['B1', ['Car Park']], ['1', ['Main Lobby', 'Café']]]);
  assert.deepEqual(made.faults, []);
  const { levels, rooms, beacons } = createBuilding(made.file);
  assert.deepEqual(levels.map(({ id, schematic }) => [id, schematic]), [['B1', true], ['1', true]]);
  assert.deepEqual([...rooms.keys()], ['b1-car-park', '1-main-lobby', '1-cafe']);
  assert.deepEqual([...beacons.values()].map(({ room, approximate }) => [room, approximate]),
    [['1-main-lobby', true], ['1-cafe', true], ['1-main-lobby', true], ['b1-car-park', true]]);
  assert.notDeepEqual(made.file.beacons[0].x_m, made.file.beacons[2].x_m, 'two in a room are both seen');
});

test('a refused row is reported by line, and makes no room', () => {
  const made = make(`MAC,Location,Level\n${mac(1)},Lobby,G\nC2A60000002,Pantry,G\nC2A60000000G,Lobby,G\n${mac(1)},Store,G\n${mac(5)},,G\n${mac(6)},Hall,`);
  assert.deepEqual(made.faults.map(({ line, kind }) => [line, kind]),
    [[3, 'mac_length'], [4, 'mac_digit'], [5, 'duplicate'], [6, 'location_missing'], [7, 'level_missing']]);
  assert.deepEqual(names(made), [['G', ['Lobby']]]);
  assert.deepEqual(made.notes, []);
});

test('lines may have MACs with colons, valid and invalid ones', () => {
  const made = make('C2:A6:28:38:4B:08:Lobby:G\nC2:A6:28:38:4B:8:Lobby:G\nC2:A6:28:38:4B:G8:Lobby:G\nC2:A6:28:38:4B:G9,Lobby,G\nC2:A6:28:38:4B:Lobby:G');
  assert.deepEqual(made.added, ['C2A628384B08']);
  assert.deepEqual(made.faults.map(({ line, kind }) => [line, kind]), [[2, 'mac_length'], [3, 'mac_digit'], [4, 'mac_digit'], [5, 'mac_length']]);
  assert.deepEqual(names(made), [['G', ['Lobby']]]);
});

test('importing the corrected list adds the missing rows only', () => {
  const first = make(`${mac(1)}:Lobby:G\nC2A60000002:Pantry:G\n`);
  const again = make(`${mac(1)}:Lobby:G\n${mac(2)}:Pantry:G\n${mac(3)}:Roof Garden:2\n`, first.file);
  assert.deepEqual([again.added, again.unchanged, again.faults], [[mac(2), mac(3)], [mac(1)], []]);
  assert.deepEqual(names(again), [['G', ['Lobby', 'Pantry']], ['2', ['Roof Garden']]]);
  assert.deepEqual(again.levels.map(({ fresh }) => fresh), [false, true]);
  createBuilding(again.file);
  assert.deepEqual(make(`${mac(1)}:Lobby:G`, again.file).file, again.file);
});

test('a drawn level gets no tiles; missing rooms are reported', () => {
  const made = make(`${mac(1)}:Room A:L1\n${mac(2)}:Attic:L1\n${mac(3)}:Lab:L3\n${TAG}:Room A:L1`, smallBuilding());
  assert.deepEqual(made.faults.map(({ line, kind }) => [line, kind]), [[2, 'location_unknown'], [4, 'registered']]);
  assert.deepEqual(made.levels.map(({ id, schematic, fresh }) => [id, schematic, fresh]), [['L1', false, false], ['L2', false, false], ['L3', true, true]]);
  assert.deepEqual(made.file.levels.slice(0, 2), smallBuilding().levels);
  createBuilding(made.file);
});

test('possible typing errors are noted, and imported unchanged', () => {
  const rooms = ['Lobby', 'Hall', 'Meeting Room 1', 'Store', 'Gym'].map((name, i) => `${mac(i)}:${name}:L1`);
  const made = make([...rooms, `${mac(7)}:Meeting-Room 1:L1`, `${mac(8)}:Hall:Level 1`].join('\n'));
  assert.deepEqual(made.faults, []);
  assert.match(made.notes.join('\n'), /"Meeting Room 1" and "Meeting-Room 1" on L1 may be the same room/);
  assert.match(made.notes.join('\n'), /"L1" and "Level 1" may be the same level/);
});

test('names without valid characters get generated ids', () => {
  const { file } = make(`${mac(1)}:大堂:一楼\n${mac(2)}:会议室:一楼\n${mac(3)}:大堂:二楼\n${mac(4)}:${'x'.repeat(120)}:一楼\n${mac(5)}:${'x'.repeat(119)}y:一楼`);
  createBuilding(file);
  assert.deepEqual(file.levels.map(({ id, name }) => [id, name]), [['level-1', '一楼'], ['level-2', '二楼']]);
});

test('property: each row is imported or reported, and a building with a level is valid', () => {
  const cell = fc.oneof(fc.constantFrom(mac(1), mac(2), 'Lobby', 'lobby', 'G', 'B1', '', '"', 'é', ' '), fc.string({ maxLength: 130 }));
  const row = fc.tuple(cell, cell, cell).chain((cells) => fc.constantFrom(cells.join(','), cells.join(':')));
  fc.assert(fc.property(fc.array(row), (rows) => {
    let made;
    try {
      made = make(rows.join('\n'));
    } catch (error) {
      assert.equal(error.name, 'ImportError');
      return;
    }
    if (made.file.levels.length > 0) createBuilding(made.file);
  }), { numRuns: 300 });
});

test('seven thousand rows, each with its own room, take seconds', () => {
  const made = make(Array.from({ length: 7000 }, (_, i) => `${mac(i)}:Room ${i}:L${i % 20}`).join('\n'));
  assert.equal(made.added.length, 7000);
});

test('the command shows a preview, writes after a confirmation only, and lists refused rows', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'from-list-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const [list, building] = ['list.csv', 'building.json'].map((name) => path.join(folder, name));
  const demo = fs.readFileSync(path.join(__dirname, '..', 'building', 'demo.json'), 'utf8');
  fs.writeFileSync(building, demo);
  fs.writeFileSync(list, `${mac(1)}:Lobby:G\nC2A60000002:Pantry:G\n${mac(3)}:Car Park:B1\n`);
  const tool = path.join(__dirname, '..', 'bin', 'building.js');
  const run = (...args) => spawnSync(process.execPath, [tool, 'from-list', list, ...args],
    { encoding: 'utf8', env: { ...process.env, SDA_BUILDING: building } });

  const asked = run();
  assert.deepEqual([asked.status, fs.readFileSync(building, 'utf8')], [1, demo]);
  assert.match(asked.stdout, /in place of "Harbour House":\n {2}B1: 1 room, 1 beacon\n {6}Car Park\n {2}G: 1 room, 1 beacon\n/);
  assert.match(asked.stdout, /1 row refused:\n.*list\.csv:2: the MAC has 11 digits, not 12\n {6}C2A60000002:Pantry:G\n/);
  assert.match(asked.stderr, /nobody is there to be asked. Say --yes/);
  assert.equal(run('--dry-run').status, 0);
  assert.equal(fs.readFileSync(building, 'utf8'), demo);

  assert.equal(run('--yes', '--name', 'Mine').status, 0);
  const made = loadBuilding(building);
  assert.deepEqual([made.name, made.rooms.size, made.beacons.size, made.staff.size], ['Mine', 2, 2, 0]);
  fs.writeFileSync(list, `${mac(1)}:Lobby:G\n${mac(2)}:Pantry:G\n`);
  assert.match(run('--yes').stdout, /^Mine, with what .* adds:/);
  assert.equal(loadBuilding(building).beacons.size, 3);
  fs.writeFileSync(list, 'no list');
  assert.deepEqual([run('--yes', '--new').status, loadBuilding(building).beacons.size], [2, 3]);
  assert.equal(run('--new', '--add').status, 2);
});

test('a basement by number is not the storey above, and a line for Excel alone is no row', () => {
  const made = make(`sep=;\nlevel;location;mac\n1;Lobby;${mac(1)}\n-1;Store;${mac(2)}\n`);
  assert.deepEqual([made.levels.map(({ id, name }) => [id, name]), made.faults], [[['minus-1', '-1'], ['1', '1']], []]);
});
