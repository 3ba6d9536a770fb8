import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import checks from '../../lib/building/checks.js';
import decoding from '../../lib/building/import/decode.js';
import faults from '../../lib/building/editor.js';
import { layout } from '../../lib/building/import/layout.js';
import { isBuilding, summary } from '../src/lib/setup/beacon-list.js';
import { faultsOf, placeFaults, sentence } from '../src/lib/setup/faults.js';
import { FIELDS, shown, valueOf } from '../src/lib/setup/fields.js';
import { faultLines, readJson } from '../src/lib/setup/lines.js';
import { clicked, corners, deviceCounts, devicesOn, drawable, withoutLevel, inRoom, nudge, placedAt, toStep, typedPlace } from '../src/lib/setup/place.js';
import { change } from '../src/lib/setup/things.js';

const demo = JSON.parse(readFileSync(new URL('../../building/demo.json', import.meta.url), 'utf8'));
/** The faults that the server would return. */
const faultsIn = (file) => faults.faultDetails(checks.buildingFaults(file));
const field = (kind, key) => FIELDS[kind].find((one) => one.key === key);

test('every fault is at its field, with a readable text', () => {
  const file = structuredClone(demo);
  file.beacons.push({ id: 'AB' });
  file.beacons[0].id = demo.beacons[1].id;
  file.gateways[0].x_m = 500;
  file.staff[0].name = 7;
  file.staff[1].tags = [demo.beacons[3].id];
  file.levels[0].rooms[3].polygon[1][0] = 'x';
  delete file.building;
  const placed = placeFaults(file, faultsIn(file));
  const last = `/beacons/${file.beacons.length - 1}`;
  const fields = faultsOf(placed, last);
  assert.deepEqual([...fields.keys()].sort(), ['id', 'room', 'x_m', 'y_m']);
  assert.deepEqual(fields.get('room').map(({ reason }) => reason), ['is missing']);
  assert.match(fields.get('id')[0].reason, /12 hex digits/);
  assert.match(faultsOf(placed, '/beacons/1').get('id')[0].reason, /is already at Beacon E7EC8415A795$/);
  assert.match(faultsOf(placed, '/gateways/0').get('')[0].reason, /stands outside room/);
  assert.deepEqual(faultsOf(placed, '/staff/0').get('name').map(({ reason }) => reason), ['must be string, not 7']);
  const [tag] = faultsOf(placed, '/staff/1').get('tags');
  assert.deepEqual([tag.index, tag.kind], [0, 'staff']);
  assert.match(faultsOf(placed, '/levels/0/rooms/3').get('polygon')[0].reason, /^corner 2: must be number/);
  const whole = placed.find(({ kind }) => kind === null);
  assert.match(sentence(file, whole), /building/);
  assert.match(sentence(file, placed.find(({ thing }) => thing === '/staff/0')), /^Staff member 0 7: Name must be/);
});

test('a text shows its faults on the lines where they are', () => {
  const file = structuredClone(demo);
  file.staff[4].name = '';
  delete file.gateways[2].x_m;
  const text = layout(file);
  const lines = text.split('\n');
  const found = faultLines(text, faultsIn(file));
  assert.equal(found.length, 2);
  assert.match(lines[found[0].line - 1], new RegExp(file.gateways[2].id));
  assert.match(lines[found[1].line - 1], /"name": ""/);
  assert.deepEqual(faultLines('{}', [{ pointer: '/levels/3/rooms', reason: 'r' }, { pointer: '', reason: 's' }]).map(({ line }) => line), [1, 1]);
});

test('a text that is not JSON has a fault on its line', () => {
  assert.deepEqual(readJson('{"a": 1}'), { data: { a: 1 }, fault: null });
  for (const [text, line] of [['{\n"a": 1,\n"b" 2\n}', 3], ['', 1], ['{\n"a": [1,\n', 3], ['{\n// no\n}', 2]]) {
    const { fault } = readJson(text);
    assert.deepEqual([fault.line, /^is not JSON: /.test(fault.reason)], [line, true], text);
  }
});

test('typed text becomes a value and is shown again', () => {
  const cases = [['beacon', 'id', ' c2:a6:28:38:4b:08 ', 'C2A628384B08'], ['beacon', 'id', 'oops', 'oops'], ['gateway', 'min_rssi', '-85', -85],
    ['gateway', 'min_rssi', '', undefined], ['level', 'width_m', '12.5', 12.5], ['level', 'width_m', 'wide', 'wide'], ['staff', 'name', '  ', undefined],
    ['beacon', 'approximate', true, true], ['beacon', 'approximate', false, undefined],
    ['room', 'polygon', '0, 0\n10 0\n\n10;8.5', [[0, 0], [10, 0], [10, 8.5]]], ['room', 'polygon', '1, b', [[1, 'b']]]];
  for (const [kind, key, typed, value] of cases) assert.deepEqual(valueOf(field(kind, key), typed), value);
  assert.equal(shown(field('room', 'polygon'), [[0, 0], [10, 8.5]]), '0, 0\n10, 8.5');
  assert.equal(shown(field('staff', 'name'), undefined), '');
});

test('edges without a wall are typed by their numbers', () => {
  const edges = field('room', 'open_edges');
  assert.deepEqual([valueOf(edges, '1, 3'), valueOf(edges, ' '), valueOf(edges, 'x')], [[1, 3], undefined, ['x']]);
  assert.deepEqual([shown(edges, [1, 3]), shown(edges, undefined)], ['1, 3', '']);
  assert.equal(valueOf(field('staff', 'tag_tx'), '-52'), -52);
});

test('every field that the schema knows has a form', () => {
  const { $defs } = JSON.parse(readFileSync(new URL('../../building/building.schema.json', import.meta.url), 'utf8'));
  const elsewhere = new Set(['rooms', 'tags']);
  for (const [kind, definition] of Object.entries({ level: 'level', room: 'room', beacon: 'beacon', gateway: 'gateway', staff: 'staff_member' })) {
    const keys = Object.keys($defs[definition].properties).filter((key) => !elsewhere.has(key) && !(key === 'level' && kind !== 'level'));
    assert.deepEqual(FIELDS[kind].map(({ key }) => key).sort(), keys.sort(), kind);
  }
});

test('a device is in the room of its point', () => {
  const [level] = demo.levels;
  assert.deepEqual(clicked(demo, '/beacons/0', level, 5.04, 3.96), { level: 'L1', room: 'l1-cafe', x_m: 5, y_m: 4, approximate: undefined });
  assert.equal(placedAt(level, { level: 'L1', room: 'l1-cafe' }, -3, -3).room, 'l1-cafe', 'outside of all rooms it is in the one of before');
  assert.equal(placedAt(level, { level: 'L2', room: 'l2-foyer' }, -3, -3).room, undefined);
  assert.deepEqual(typedPlace(demo, 'L1', { id: 'new' }, { x_m: 5 }), { x_m: 5 });
  assert.equal(typedPlace(demo, 'L1', { id: 'new', y_m: 4 }, { x_m: 5 }).room, 'l1-cafe');
  assert.deepEqual(typedPlace(demo, 'L1', { id: 'new', y_m: 4 }, { x_m: undefined }), { x_m: undefined });
});

test('a device moves to the middle of a chosen room unless it is there', () => {
  const room = demo.beacons[0].room;
  assert.deepEqual(inRoom(demo, demo.beacons[0], room), { room });
  const moved = inRoom(demo, { id: 'new' }, 'l2-hall-a');
  assert.deepEqual([moved.level, moved.room, moved.approximate], ['L2', 'l2-hall-a', true]);
  const file = change({ ...demo, beacons: [{ id: 'A0B1C2D3E4F5' }] }, '/beacons/0', moved);
  assert.deepEqual(faultsIn(file), []);
  assert.deepEqual(inRoom(demo, { id: 'new' }, 'attic'), { level: undefined, room: undefined });
});

test('a click adds a corner, snapped to a near one of a neighbour', () => {
  const [level] = demo.levels;
  const file = { ...demo, levels: [{ ...level, rooms: [...level.rooms, { id: 'r', name: 'R' }] }] };
  const pointer = `/levels/0/rooms/${level.rooms.length}`;
  assert.deepEqual(clicked(file, pointer, file.levels[0], 18.3, 11.9), { polygon: [[18, 12]] });
  assert.deepEqual(clicked(file, pointer, file.levels[0], 52.04, 30.01), { polygon: [[52, 30]] });
});

test('arrows move by half a metre, or finely', () => {
  assert.deepEqual([nudge('ArrowUp', false), nudge('ArrowLeft', true), nudge('a', false)], [[0, 0.5], [-0.1, 0], null]);
  assert.equal(toStep(0.1 + 0.2), 0.3);
});

test('unfinished things are drawn as far as possible', () => {
  const rooms = [{ id: 'a', polygon: [[0, 0], [1, 0]] }, { id: 'b', polygon: [[0, 0], [1, 0], ['x', 1]] }, { polygon: [[0, 0], [1, 0], [1, 1]] },
    { id: 'd', polygon: [[0, 0], [1, 0], [1, 1]] }];
  const drawing = drawable({ id: 'L9', rooms, width_m: 'wide' });
  assert.deepEqual([drawing.width_m > 0, drawing.rooms.map(({ id }) => id)], [true, ['d']]);
  assert.deepEqual(corners(rooms[1], 10), [[0, 10], [1, 10]]);
  assert.deepEqual(corners({}, 10), []);
});

test('devices are counted by level, and those without one are found', () => {
  const file = { ...demo, beacons: [...demo.beacons, { id: 'AB' }], gateways: [...demo.gateways, { id: 'gw', level: 'L99' }] };
  assert.deepEqual(withoutLevel(file), [`/beacons/${demo.beacons.length}`, `/gateways/${demo.gateways.length}`]);
  const onFirst = devicesOn(file, 'L1', 36);
  assert.equal(onFirst.length, deviceCounts(file).L1);
  assert.deepEqual([onFirst[0].x, onFirst[0].y], [23, 20]);
});

test('a list is decoded as spreadsheets save it, and has a summary', () => {
  assert.equal(decoding.decodeText(new TextEncoder().encode('a,é')), 'a,é');
  assert.equal(decoding.decodeText(new Uint8Array([0xff, 0xfe, 0x61, 0, 0x2c, 0])), 'a,');
  assert.equal(decoding.decodeText(new Uint8Array([0xc3, 0x28])), null);
  assert.deepEqual([isBuilding('a.json', ''), isBuilding('a.csv', '{'), isBuilding('a', ' {'), isBuilding('a', 'mac')], [true, false, true, false]);
  assert.equal(summary({ added: ['a'], unchanged: [], refused_count: 0, refused: [] }), '1 beacon is new');
  assert.equal(summary({ added: [], unchanged: ['a', 'b'], refused_count: 3, refused: [] }), '0 beacons are new, 2 are there already, 3 lines cannot be taken');
});
