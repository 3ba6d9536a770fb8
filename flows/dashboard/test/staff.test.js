import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csv, stamp } from '../src/lib/csv.js';
import { lastPatrols, addSeen } from '../src/lib/patrols.js';
import { AWAY, COLUMNS, bars as strength, staffRows } from '../src/lib/staff.js';
import { nextOrder, search, sortState, sorted } from '../src/lib/table.js';
import { bars, path, span, ticks } from '../src/lib/timeline.js';
import { dayOf, hourOf } from '../src/lib/times.js';

const NOW = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;
const building = {
  levels: [{ id: 'L1', name: 'Level 1', rooms: [{ id: 'cafe', name: 'Café' }] }, { id: 'L2', name: 'Level 2', rooms: [{ id: 'hall', name: 'Hall' }] }],
  staff: { 1: 'Aisha Rahman', 2: 'Ben Lim', 10: 'Cheryl Low' },
};
const heard = (id, room, more = {}) => ({ id, level: room === 'hall' ? 'L2' : 'L1', room, since: NOW - 5 * MINUTE, ts: NOW - 1000, state: 'present',
  rssi: -60, battery_mv: null, ...more });
const rows = staffRows(building, [heard('2', 'cafe', { rssi: -80 }), heard('10', 'hall', { ts: NOW - 40_000, state: 'stale' }), heard('guest', 'gone')]);
const ids = (list) => list.map(({ id }) => id);
const searchTexts = ({ id, name, roomName, levelName }) => [id, name, roomName, levelName];

test('the table has everybody of the building file, and other located people', () => {
  assert.deepEqual(ids(rows), ['2', '10', 'guest', '1']);
  const [ben, , guest, aisha] = rows;
  assert.deepEqual([ben.name, ben.roomName, ben.levelName], ['Ben Lim', 'Café', 'Level 1']);
  assert.deepEqual([guest.name, guest.roomName], ['', 'gone']);
  assert.deepEqual([aisha.state, aisha.room, aisha.ts], [AWAY, null, null]);
});

test('search: every word, in any column, without case and accents', () => {
  const found = (text) => ids(search(rows, text, searchTexts));
  assert.deepEqual(found('  '), ids(rows));
  assert.deepEqual(found('cafe'), ['2']);
  assert.deepEqual(found('LEVEL low'), ['10']);
  assert.deepEqual(found('nobody'), []);
});

test('sorting: numbers as numbers, unknown last either way', () => {
  const by = (order) => ids(sorted(rows, COLUMNS, order));
  assert.deepEqual(by('id'), ['1', '2', '10', 'guest']);
  assert.deepEqual(by('-id'), ['guest', '10', '2', '1']);
  assert.deepEqual(by('room'), ['2', 'guest', '10', '1']);
  assert.deepEqual(by('signal'), ['2', '10', 'guest', '1']);
  assert.deepEqual(by('-signal'), ['10', 'guest', '2', '1']);
  assert.deepEqual(by('-seen').at(-1), '1');
  assert.deepEqual(by('state'), ['2', 'guest', '10', '1']);
  assert.equal(sorted(rows, COLUMNS, 'nonsense'), rows);
});

test('a click sorts, another one the other way round; times and figures begin with the highest', () => {
  assert.equal(nextOrder('id', { key: 'room' }), 'room');
  assert.equal(nextOrder('room', { key: 'room' }), '-room');
  assert.equal(nextOrder('id', { key: 'seen', numeric: true }), '-seen');
  assert.equal(nextOrder('-seen', { key: 'seen', numeric: true }), 'seen');
  assert.deepEqual(['id', '-id', 'room'].map((order) => sortState(order, 'id')), ['ascending', 'descending', 'none']);
});

test('strength of a signal', () => {
  assert.deepEqual([null, -40, -70, -80, -95].map(strength), [0, 4, 3, 2, 1]);
});

test('CSV: quoted where needed, and no formula in it', () => {
  assert.equal(csv(['a', 'b'], [['x,y', null], ['say "hi"', 5], ['=1+1', -3], ['two\nlines', '-x']]),
    '\ufeffa,b\r\n"x,y",\r\n"say ""hi""",5\r\n\'=1+1,-3\r\n"two\nlines",\'-x\r\n');
  assert.equal(stamp(NOW), '2026-03-01T12:00:00.000Z');
});

test('CSV: a spreadsheet shows umlauts, and texts that look like numbers as they are; formulas stay texts', () => {
  const lines = (texts) => csv(['id'], texts.map((one) => [one])).split('\r\n');
  assert.equal(lines([])[0], '\ufeffid', 'the byte order mark tells Excel that it is UTF-8');
  const asText = ['003', '1.10', '12E5', '1-2', '10:30', 'MAR1', '1-MAR', '123456789012', 'TRUE', '5 %'];
  assert.deepEqual(lines(asText).slice(1, -1), asText.map((one) => `"=""${one}"""`));
  const plain = ['0', '42', 'Büro 2', 'May', 'Mary', 'L1', 'l1-lobby', '2026-03-01T12:00:00.000Z'];
  assert.deepEqual(lines(plain).slice(1, -1), plain);
  const formulas = ['=cmd|x', '+1', '-2', '@x', '\t=1', ' =1', '\ufeff=1', '\uff1d1', '|x', '%x'];
  assert.deepEqual(lines(formulas).slice(1, -1), formulas.map((one) => `'${one}`));
  assert.equal(lines(['=HYPERLINK("x")'])[1], '"\'=HYPERLINK(""x"")"');
  assert.equal(csv(['share'], [[{ figure: '0.5000' }], [7], [-3]]), '\ufeffshare\r\n0.5000\r\n7\r\n-3\r\n');
});

const stay = (room, from, to, level = 'L1') => ({ level, room, enter_ms: NOW + from * MINUTE, leave_ms: NOW + to * MINUTE, ongoing: false });
const DAY = { fromMs: NOW - 720 * MINUTE, toMs: NOW + 720 * MINUTE };

test('the line spans the stays, within the day', () => {
  assert.deepEqual(span([], DAY), DAY);
  const { fromMs, toMs } = span([stay('a', 0, 50), stay('b', 50, 100)], DAY);
  assert.deepEqual([(fromMs - NOW) / MINUTE, (toMs - NOW) / MINUTE], [-2, 102]);
  assert.equal(span([stay('a', -2000, 800)], DAY).fromMs, DAY.fromMs);
});

test('stays as shares of the line, cut to it', () => {
  const shares = bars([stay('a', -10, 50), stay('b', 50, 100), stay('c', 200, 300)], { fromMs: NOW, toMs: NOW + 100 * MINUTE });
  assert.deepEqual(shares.map(({ room, left, width }) => [room, left, width]), [['a', 0, 0.5], ['b', 0.5, 0.5]]);
});

test('marks at full hours of local time, not too many', () => {
  const times = (fromMin, toMin, zoneMs) => ticks({ fromMs: NOW + fromMin * MINUTE, toMs: NOW + toMin * MINUTE }, zoneMs).map(({ ms }) => hourOf(ms, 'UTC'));
  assert.deepEqual(times(10, 130, 0), ['12:10', '12:20', '12:30', '12:40', '12:50', '13:00', '13:10', '13:20', '13:30', '13:40', '13:50', '14:00', '14:10']);
  assert.deepEqual(times(0, 600, 0), ['12:00', '13:00', '14:00', '15:00', '16:00', '17:00', '18:00', '19:00', '20:00', '21:00', '22:00']);
  assert.deepEqual(times(0, 600, 30 * MINUTE)[0], '12:30');
  assert.ok(times(-720, 720, 0).length <= 15);
});

test('the path through a level: legs end at stays on other levels', () => {
  const centres = new Map([['a', [1, 1]], ['b', [5, 1]], ['c', [5, 9]]]);
  const { legs, stops } = path([stay('a', 0, 5), stay('b', 5, 6), stay('x', 6, 9, 'L2'), stay('c', 9, 10), stay('b', 10, 20), stay('gone', 20, 21)],
    'L1', centres);
  assert.deepEqual(legs, [[[1, 1], [5, 1]], [[5, 9], [5, 1]]]);
  assert.deepEqual(stops.map(({ room, visits, ms }) => [room, visits, ms / MINUTE]), [['a', 1, 5], ['b', 2, 11], ['c', 1, 1]]);
});

test('the last patrol is the later of stored and live visits', () => {
  const seen = new Map();
  addSeen(seen, [{ room: 'a', ts: 5 }, { room: 'a', ts: 3 }, { room: 'b', ts: 2 }]);
  const known = lastPatrols([{ room: 'a', last_ms: 1 }, { room: 'b', last_ms: 9 }, { room: 'c', last_ms: null }], seen);
  assert.deepEqual([...known], [['a', 5], ['b', 9]]);
});

test('a day of the calendar', () => {
  assert.equal(dayOf(new Date(2026, 2, 1, 23, 59).getTime()), '2026-03-01');
});
