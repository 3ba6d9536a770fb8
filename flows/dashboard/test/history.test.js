import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../test/support/fast-check.js';
import { choiceOf, faultOf, idsOf, momentOf, queryOf } from '../src/lib/choice.js';
import { LEGENDS, byGap, byPresence, heatScale } from '../src/lib/colours.js';
import { fileName, roomsCsv, staysCsv } from '../src/lib/exports.js';
import { SPEEDS, advance, busiest, clamp, countLevels, peopleAt, stayAt, stepOf, staysByStaff, usualSpeed } from '../src/lib/playback.js';
import { COLUMNS, covered, roomFigures, summary } from '../src/lib/presence.js';
import { fieldMs, fieldOf } from '../src/lib/times.js';

const NOW = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;
const stay = (staff, room, from, to, more = {}) => ({ staff_id: staff, level: room.startsWith('up') ? 'L2' : 'L1', room,
  enter_ms: NOW + from, leave_ms: NOW + to, duration_s: (to - from) / 1000, ongoing: false, ...more });
const WINDOW = { fromMs: NOW, toMs: NOW + 100 };
const building = { levels: [
  { id: 'L1', name: 'Level 1', rooms: [{ id: 'cafe', name: 'Café' }, { id: 'mail', name: 'Mail' }] },
  { id: 'L2', name: 'Level 2', rooms: [{ id: 'up', name: 'Upper hall' }] },
] };

test('people at an instant: in the next room at the instant of a change, nowhere in a gap', () => {
  const stays = staysByStaff([stay('b', 'mail', 20, 30), stay('a', 'cafe', 10, 20), stay('a', 'mail', 20, 30), stay('a', 'up', 50, 60)]);
  assert.deepEqual([...stays.keys()], ['a', 'b']);
  const where = (ms) => peopleAt(stays, NOW + ms).map(({ id, room, since }) => [id, room, since - NOW]);
  assert.deepEqual(where(9), []);
  assert.deepEqual(where(10), [['a', 'cafe', 10]]);
  assert.deepEqual(where(20), [['a', 'mail', 20], ['b', 'mail', 20]]);
  assert.deepEqual(where(30), [['a', 'mail', 20], ['b', 'mail', 20]]);
  assert.deepEqual(where(31), []);
  assert.deepEqual(where(55), [['a', 'up', 50]]);
  assert.deepEqual(where(99), []);
});

test('property: the stay at an instant equals a linear search', () => {
  const lengths = fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 6 })), { maxLength: 12 });
  fc.assert(fc.property(lengths, fc.nat(60), (parts, ms) => {
    let at = 0;
    const trail = parts.map(([gap, length], i) => {
      const enter = at + gap;
      at = enter + length;
      return stay('a', `r${i}`, enter, at);
    });
    const expected = trail.findLast(({ enter_ms: enter, leave_ms: leave }) => enter <= NOW + ms && NOW + ms <= leave) ?? null;
    assert.equal(stayAt(trail, NOW + ms), expected);
  }));
});

test('people by level, and the level to show', () => {
  const counts = countLevels([{ level: 'L1' }, { level: 'L2' }, { level: 'L2' }]);
  assert.deepEqual(counts, { L1: 1, L2: 2 });
  assert.equal(busiest(counts, ['L1', 'L2'], 'L1'), 'L2');
  assert.equal(busiest({ L1: 1, L2: 1 }, ['L1', 'L2'], 'L2'), 'L2');
  assert.equal(busiest({}, ['L1', 'L2'], 'gone'), 'L1');
});

test('playback advances at its speed and ends with the window', () => {
  assert.deepEqual(advance(NOW, 5, 10, WINDOW), { atMs: NOW + 50, ended: false });
  assert.deepEqual(advance(NOW + 60, 5, 10, WINDOW), { atMs: NOW + 100, ended: true });
  assert.equal(clamp(NOW - 5, WINDOW), NOW);
  const speed = (minutes) => usualSpeed({ fromMs: NOW, toMs: NOW + minutes * MINUTE });
  assert.deepEqual([1, 15, 30, 8 * 60, 31 * 24 * 60].map(speed), [1, 10, 30, 1800, 1800]);
  const step = (minutes) => stepOf({ fromMs: NOW, toMs: NOW + minutes * MINUTE }) / 1000;
  assert.deepEqual([5, 30, 60, 8 * 60, 31 * 24 * 60].map(step), [10, 30, 60, 900, 86_400]);
  assert.deepEqual([...SPEEDS].sort((a, b) => a - b), SPEEDS);
});

test('figures of rooms: cut to the window, gaps between and around, rooms that are gone behind', () => {
  const stays = [stay('a', 'cafe', -50, 20), stay('b', 'cafe', 10, 30), stay('a', 'cafe', 60, 70), stay('a', 'gone', 70, 90), stay('b', 'mail', 200, 300)];
  const [cafe, mail, up, gone, ...more] = roomFigures(building, stays, WINDOW, null);
  assert.deepEqual(more, []);
  assert.deepEqual({ ...cafe, lastMs: cafe.lastMs - NOW }, { id: 'cafe', name: 'Café', level: 'L1', levelName: 'Level 1', visits: 3, staff: 2,
    ms: 50, coveredMs: 40, longestGapMs: 30, lastMs: 70 });
  assert.equal(covered(cafe, WINDOW), 0.4);
  for (const one of [mail, up]) assert.deepEqual([one.visits, one.ms, one.longestGapMs, one.lastMs], [0, 0, 100, null]);
  assert.deepEqual([gone.id, gone.name, gone.level, gone.longestGapMs], ['gone', 'gone', 'L1', 70]);
  assert.deepEqual(roomFigures(building, [], WINDOW, 'L2').map(({ id }) => id), ['up']);
  assert.deepEqual(summary([cafe, mail, up, gone]), { rooms: 4, visited: 2, visits: 4, ms: 70 });
});

test('property: covered time and longest gap equal a count of each instant', () => {
  const parts = fc.array(fc.tuple(fc.integer({ min: -20, max: 120 }), fc.integer({ min: 1, max: 40 })), { maxLength: 8 });
  fc.assert(fc.property(parts, (list) => {
    const stays = list.map(([enter, length], i) => stay(String(i), 'cafe', enter, enter + length));
    const [cafe] = roomFigures(building, stays, WINDOW, 'L1');
    let [time, longest, gap] = [0, 0, 0];
    for (let t = 0; t < 100; t += 1) {
      const there = stays.some(({ enter_ms: enter, leave_ms: leave }) => enter <= NOW + t && NOW + t < leave);
      gap = there ? 0 : gap + 1;
      time += Number(there);
      longest = Math.max(longest, gap);
    }
    assert.deepEqual([cafe.coveredMs, cafe.longestGapMs], [time, longest]);
  }));
});

test('columns have the values of their titles, and sort by them', () => {
  const [cafe] = roomFigures(building, [stay('a', 'cafe', 10, 20)], WINDOW, null);
  for (const columns of Object.values(COLUMNS)) assert.equal(columns.map(({ value }) => value(cafe)).includes(undefined), false);
});

test('colours: time by the largest of all rooms, and longest gap', () => {
  assert.deepEqual([0, 1, 20, 21, 40, 60, 80, 81, 100].map((ms) => byPresence(ms, 100).step.at(-1)), ['0', '1', '1', '2', '2', '3', '4', '5', '5']);
  assert.equal(byPresence(0, 0).step, 'heat-0');
  assert.deepEqual(heatScale(100 * MINUTE).map(({ text }) => text), ['nobody', 'up to 20 min', 'up to 40 min', 'up to 1 h', 'up to 1 h 20 min', 'up to 1 h 40 min']);
  const gaps = [[0, true], [16, true], [31, true], [61, true], [100, false]];
  assert.deepEqual(gaps.map(([minutes, visited]) => byGap(minutes * MINUTE, visited).step.at(-1)), ['1', '2', '3', '4', '5']);
  assert.ok(LEGENDS.gap.some(({ text }) => text === byGap(0, false).text));
});

test('a choice survives the address', () => {
  const byStaff = { staff: ['7', 'walk-1'], level: '', fromMs: NOW, toMs: NOW + 30 * MINUTE };
  assert.deepEqual(queryOf(byStaff), { staff: '7,walk-1', from: '2026-03-01T12:00:00Z', to: '2026-03-01T12:30:00Z' });
  const byLevel = { staff: [], level: 'L2', fromMs: NOW + 1, toMs: NOW + MINUTE };
  for (const choice of [byStaff, byLevel]) assert.deepEqual(choiceOf(queryOf(choice), ['L1', 'L2']), choice);
});

test('an invalid address chooses nothing', () => {
  const good = { level: 'L1', from: '2026-03-01T12:00:00Z', to: '2026-03-01T12:30:00Z' };
  assert.notEqual(choiceOf(good, ['L1']), null);
  for (const change of [{ level: 'L9' }, { from: 'x' }, { to: undefined }, { to: good.from }, { from: '2026-01-01T12:00:00Z' }]) {
    assert.equal(choiceOf({ ...good, ...change }, ['L1']), null, JSON.stringify(change));
  }
  assert.deepEqual(idsOf("1,2,1,,x y,'"), ['1', '2']);
  assert.equal(momentOf('2026-02-30T99:00:00Z'), null);
  assert.match(faultOf({ staff: [], level: '', fromMs: 1, toMs: 2 }, 'staff'), /staff member/);
  assert.match(faultOf({ staff: [], level: 'L1', fromMs: NaN, toMs: 2 }, 'level'), /times/);
});

test('CSV of stays and of rooms', () => {
  const names = { staff: { a: 'Aisha, R.' }, roomName: (room) => ({ cafe: 'Café' })[room] ?? room };
  assert.equal(staysCsv([stay('a', 'cafe', 0, 1500, { ongoing: true })], names),
    '\ufeffstaff_id,name,level,room,room_name,enter,leave,duration_s,ongoing\r\n'
    + 'a,"Aisha, R.",L1,cafe,Café,2026-03-01T12:00:00.000Z,2026-03-01T12:00:01.500Z,2,1\r\n');
  const window = { fromMs: NOW, toMs: NOW + 10 * MINUTE };
  const rows = roomsCsv(roomFigures(building, [stay('a', 'cafe', 0, 5 * MINUTE)], window, 'L1'), window).split('\r\n');
  assert.equal(rows[1], 'L1,cafe,Café,2026-03-01T12:00:00.000Z,2026-03-01T12:10:00.000Z,1,1,300,300,0.5000,300,2026-03-01T12:05:00.000Z');
  assert.equal(rows[2], 'L1,mail,Mail,2026-03-01T12:00:00.000Z,2026-03-01T12:10:00.000Z,0,0,0,0,0.0000,600,');
  assert.equal(fileName('stays', 'L1', window), 'stays-L1-20260301T120000Z-20260301T121000Z');
});

test('times of input fields are this browser\'s, to the second', () => {
  assert.equal(fieldMs(fieldOf(NOW + 5000)), NOW + 5000);
  assert.match(fieldOf(NOW), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  assert.ok(Number.isNaN(fieldMs('')));
});
