import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { layout } from '../../lib/building/import/layout.js';
import { changesText, clashText, differences, differenceText } from '../src/lib/setup/differences.js';
import { applyLink } from '../src/lib/setup/links.js';
import { merge, same } from '../src/lib/setup/merge.js';
import { peopleRows } from '../src/lib/setup/people.js';
import { begin, redo, step, undo } from '../src/lib/setup/steps.js';
import { add, at, called, change, everything, find, freeId, giveTag, holderOf, parts, put } from '../src/lib/setup/things.js';

const demo = JSON.parse(readFileSync(new URL('../../building/demo.json', import.meta.url), 'utf8'));
const SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10]];
const house = () => ({
  building: 'House',
  levels: [{ id: 'L1', name: 'Ground', width_m: 20, height_m: 10, rooms: [{ id: 'hall', name: 'Hall', polygon: SQUARE }, { id: 'cafe', name: 'Café', polygon: SQUARE }] }],
  beacons: [{ id: 'B1', level: 'L1', room: 'hall', x_m: 1, y_m: 2 }, { id: 'B2', level: 'L1', room: 'cafe', x_m: 3, y_m: 4 }],
  gateways: [{ id: 'gw-1', level: 'L1', room: 'hall', x_m: 5, y_m: 5 }],
  staff: [{ id: '1', name: 'Ann', tags: ['T1'] }, { id: '2', name: 'Ben' }],
});
/** Frozen to the last corner, so that any change in place throws. */
const frozen = (value) => {
  if (value !== null && typeof value === 'object') Object.values(Object.freeze(value)).forEach(frozen);
  return value;
};

test('a pointer leads to a thing and into it', () => {
  assert.deepEqual(parts('/levels/0/rooms/2/polygon/3/1'), { thing: '/levels/0/rooms/2', kind: 'room', inside: 'polygon/3/1' });
  assert.deepEqual(parts('/levels/12'), { thing: '/levels/12', kind: 'level', inside: '' });
  assert.deepEqual(parts('/staff/4/tags/0'), { thing: '/staff/4', kind: 'staff', inside: 'tags/0' });
  for (const pointer of ['', '/building', '/levels', '/nothing/3']) assert.equal(parts(pointer), null);
  for (const { pointer, thing, kind } of everything(demo)) {
    assert.equal(at(demo, pointer), thing);
    assert.equal(find(demo, kind, thing.id), pointer);
  }
});

test('fields without a form stay: the power of tags and the open edges of a room', () => {
  const file = house();
  Object.assign(file.staff[0], { tag_tx: -52 });
  Object.assign(file.levels[0].rooms[0], { open_edges: [1, 3] });
  const room = '/levels/0/rooms/0';
  const edgesOf = (polygon, from = file) => at(change(frozen(from), room, { polygon }), room).open_edges;
  assert.equal(at(change(frozen(file), '/staff/0', { name: 'Anna' }), '/staff/0').tag_tx, -52);
  assert.equal(at(giveTag(frozen(file), '/staff/0', 'T9'), '/staff/0').tag_tx, -52);
  assert.deepEqual(at(change(frozen(file), room, { name: 'Lobby', id: 'lobby', kind: undefined }), room).open_edges, [1, 3]);
  assert.deepEqual(edgesOf([[0, 0], [12, 0], [12, 10], [0, 10]]), [1, 3], 'corners that were moved');
  assert.deepEqual(edgesOf([[0, 0], [5, 0], [10, 0], [10, 10], [0, 10]]), [2, 4], 'a corner more');
  assert.deepEqual(edgesOf([[0, 0], [10, 0], [10, 10]]), [1], 'a corner less');
  assert.equal(edgesOf([[0, 0], [10, 0], [9, 9], [5, 9], [0, 9]]), undefined);
  assert.equal(edgesOf(undefined), undefined, 'drawn anew');
  assert.ok(!('open_edges' in at(change(file, '/levels/0/rooms/1', { polygon: SQUARE.slice(1) }), '/levels/0/rooms/1')));
  const mine = change(file, room, { name: 'Mine' });
  const theirs = change(file, room, { open_edges: [1] });
  assert.deepEqual(at(merge(file, mine, theirs).file, room).open_edges, [1]);
});

test('a draft is never changed in place', () => {
  const file = frozen(house());
  const { file: more, pointer } = add(file, '/beacons', { id: 'B3' });
  assert.deepEqual([pointer, at(more, pointer).id, file.beacons.length], ['/beacons/2', 'B3', 2]);
  assert.equal(put(more, pointer, undefined).beacons.length, 2);
  assert.deepEqual(change(file, '/gateways/0', { x_m: 6, room: undefined }).gateways[0], { id: 'gw-1', level: 'L1', x_m: 6, y_m: 5 });
  assert.equal(at(put(file, '/levels/0/rooms/1/polygon/2/0', 12), '/levels/0/rooms/1/polygon/2/0'), 12);
});

test('devices follow a new id of their room, unless two rooms have it', () => {
  const renamed = change(frozen(house()), '/levels/0/rooms/0', { id: 'lobby' });
  assert.deepEqual([renamed.beacons[0].room, renamed.beacons[1].room, renamed.gateways[0].room], ['lobby', 'cafe', 'lobby']);
  assert.ok(change(house(), '/levels/0', { id: 'EG' }).beacons.every(({ level }) => level === 'EG'));
  const twice = change(frozen(house()), '/levels/0/rooms/1', { id: 'hall' });
  assert.equal(change(twice, '/levels/0/rooms/1', { id: 'bar' }).beacons[0].room, 'hall');
});

test('a new id is unused, and a thing has a name', () => {
  assert.equal(freeId(demo, 'level', 'L'), 'L8');
  assert.equal(freeId(house(), 'staff', ''), '3');
  assert.equal(called('room', { id: 'hall', name: 'Hall' }), 'Room hall Hall');
  assert.equal(called('beacon', {}), 'Beacon (without an id)');
});

test('a tag has one owner', () => {
  const file = giveTag(frozen(house()), '/staff/1', 'T1');
  assert.deepEqual(file.staff.map(({ tags }) => tags), [[], ['T1']]);
  assert.equal(holderOf(file, 'T1').pointer, '/staff/1');
  assert.equal(holderOf(file, 'B2').kind, 'beacon');
  assert.equal(holderOf(file, 'T9'), null);
});

test('a link adds a missing thing to the plan, and finds an existing one', () => {
  const file = frozen(house());
  const { file: next, pointer, isNew } = applyLink(file, { add: 'beacon', id: 'AB' });
  assert.deepEqual([at(next, pointer), isNew], [{ id: 'AB' }, true]);
  assert.deepEqual(applyLink(file, { add: 'gateway', id: 'gw-1' }), { file, pointer: '/gateways/0', isNew: false });
  assert.equal(applyLink(file, { add: 'beacon', id: 'T1' }).pointer, '/staff/0');
  for (const query of [{}, { add: 'beacon' }, { id: 'X' }, { add: 'door', id: 'X' }]) assert.equal(applyLink(file, query), null);
});

test('steps are undone and redone with their chosen thing', () => {
  const [first, second, third] = [house(), house(), house()];
  let steps = step(step(begin(first), second, '/beacons/1'), second, '/beacons/0');
  steps = step(steps, third);
  assert.deepEqual([steps.now.file, steps.now.chosen, steps.past.length], [third, '/beacons/0', 2]);
  steps = undo(steps);
  assert.deepEqual([steps.now.file === second, steps.now.chosen], [true, '/beacons/0']);
  assert.equal(undo(undo(undo(steps))).now.file, first);
  assert.equal(redo(steps).now.file, third);
  assert.equal(redo(step(steps, first)).now.file, first, 'a new step ends what was undone');
});

test('differences name each thing and its fields', () => {
  const before = house();
  const after = house();
  after.building = 'Home';
  after.levels[0].rooms[1].limit = 4;
  after.levels[0].width_m = 30;
  after.gateways.pop();
  after.staff.push({ id: '3', name: 'Cem' });
  assert.deepEqual(differences(before, after).map(differenceText), ['Level L1 Ground changed: Width (east)', 'Room cafe Café changed: Crowded above',
    'Staff member 3 Cem added', 'Gateway gw-1 removed', 'The building is called “Home”']);
  assert.deepEqual(differences(before, house()), []);
  const turned = house();
  turned.staff.reverse();
  assert.deepEqual(differences(before, turned).map(differenceText), ['The order of something changed']);
});

test('changes are counted as text', () => {
  const none = { added: 0, removed: 0, changed: 0 };
  const changes = { levels: none, rooms: { ...none, changed: 1 }, beacons: { ...none, added: 2 }, gateways: none,
    staff: { ...none, removed: 3 }, other: false };
  assert.equal(changesText(changes), '1 room changed, 2 beacons added, 3 staff members removed');
  const nothing = { levels: none, rooms: none, beacons: none, gateways: none, staff: none, other: false };
  assert.equal(changesText(nothing), 'nothing');
  assert.equal(changesText({ ...nothing, other: true }), 'name or order changed');
});

test('a merge takes each change that only one side made', () => {
  const [base, mine, theirs] = [house(), house(), house()];
  mine.beacons[0].x_m = 9;
  mine.staff.push({ id: '3', name: 'Cem' });
  mine.gateways.pop();
  theirs.beacons[0].tx = -50;
  theirs.beacons.push({ id: 'B3', level: 'L1', room: 'hall', x_m: 1, y_m: 1 });
  theirs.levels[0].rooms[0].name = 'Great Hall';
  const { file, clashes } = merge(frozen(base), frozen(mine), frozen(theirs));
  assert.deepEqual(clashes, []);
  assert.deepEqual(file.beacons, [{ ...base.beacons[0], x_m: 9, tx: -50 }, base.beacons[1], theirs.beacons[2]]);
  assert.deepEqual([file.gateways, file.staff, file.levels[0].rooms[0].name], [[], mine.staff, 'Great Hall']);
});

test('where both have changed a value, mine is kept and reported', () => {
  const [base, mine, theirs] = [house(), house(), house()];
  mine.levels[0].rooms[0].name = 'Mine';
  theirs.levels[0].rooms[0].name = 'Theirs';
  mine.beacons.splice(0, 1);
  theirs.beacons[0].x_m = 7;
  mine.staff[0].tags = ['T1', 'T2'];
  theirs.staff[0].tags = ['T3'];
  const { file, clashes } = merge(base, mine, theirs);
  assert.deepEqual(clashes.map(clashText), ['Room hall: name', 'Beacon B1', 'Staff member 1: tags']);
  assert.deepEqual([file.levels[0].rooms[0].name, file.beacons.length, file.staff[0].tags], ['Mine', 1, ['T1', 'T2']]);
});

test('a merge keeps the order of the side that changed it, and merges nothing twice', () => {
  const [base, mine, theirs] = [house(), house(), house()];
  mine.staff.reverse();
  theirs.staff.push({ id: '3', name: 'Cem' });
  assert.deepEqual(merge(base, mine, theirs).file.staff.map(({ id }) => id), ['2', '1', '3']);
  assert.deepEqual(merge(base, theirs, mine).file.staff.map(({ id }) => id), ['2', '1', '3']);
  assert.equal(merge(base, house(), theirs).file, theirs);
  assert.ok(same(merge(base, mine, mine).file, mine));
});

test('the draft as text is what it was read from', () => {
  assert.deepEqual(JSON.parse(layout(demo)), demo);
});

test('people have rows of their own even with equal ids', () => {
  const file = { ...house(), staff: [{ id: '1', name: 'Ann' }, { id: '1', name: 'Ben', tags: ['T1'] }, {}] };
  const rows = peopleRows(file, [{ thing: '/staff/1', kind: 'staff', field: 'id', index: null, reason: 'twice' }]);
  assert.deepEqual(rows.map(({ id, staff_id: staff, tags, faults }) => [id, staff, tags.length, faults]),
    [['1', '1', 0, 0], ['/staff/1', '1', 1, 1], ['/staff/2', '', 0, 0]]);
});
