import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BEACON_COLUMNS, GATEWAY_COLUMNS, beaconRows, clockOf, gatewayRows, countOf, isSingle, spread } from '../src/lib/devices.js';
import { sorted } from '../src/lib/table.js';

const building = { levels: [{ id: 'L1', name: 'Level 1', rooms: [{ id: 'hall', name: 'Hall' }] }], staff: { 7: 'Ann' } };
const gateway = (id, more = {}) => ({ id, listed: true, level: 'L1', room: 'hall', state: 'online', since: 1, version: '1', reading_ms: 5, readings_per_s: 1,
  health_ms: 5, queued: 0, dropped: 0, scan_restarts: 0, clock_offset_ms: 2, clock_synchronised: 1, ...more });

test('gateways have room names, and those with a problem come first', () => {
  const rows = gatewayRows(building, [gateway('a'), gateway('b', { state: 'unknown' }), gateway('c', { state: 'offline' }),
    gateway('d', { listed: false, level: null, room: null, state: 'silent' })]);
  assert.deepEqual(rows.map(({ place }) => place), ['Hall', 'Hall', 'Hall', null]);
  assert.deepEqual(sorted(rows, GATEWAY_COLUMNS, 'state').map(({ id }) => id), ['c', 'd', 'b', 'a']);
});

test('a clock is in step, off, or not set', () => {
  const cases = [[{}, '+2 ms', false], [{ clock_offset_ms: -1800 }, '−1.8 s', true], [{ clock_offset_ms: 900.4 }, '+900 ms', false],
    [{ clock_synchronised: 0 }, 'not set', true], [{ clock_offset_ms: null }, 'in step', false]];
  for (const [change, text, bad] of cases) assert.deepEqual(clockOf(gateway('a', change)), { text, bad });
  assert.equal(clockOf(gateway('a', { clock_offset_ms: null, clock_synchronised: null })), null);
});

test('what arrives counts more than what a gateway says of its clock', () => {
  const wrong = (aheadS, corrected = true) => gateway('a', { clock_synchronised: 1, clock_wrong: { ahead_ms: aheadS * 1000, since: 5, corrected } });
  assert.deepEqual(clockOf(wrong(90.4)), { text: '90 s ahead', bad: true, hint: 'corrected' });
  assert.deepEqual(clockOf(wrong(-150)), { text: '150 s behind', bad: true, hint: 'corrected' });
  assert.deepEqual(clockOf(wrong(-8 * 3600, false)), { text: '8 h behind', bad: true, hint: 'too far to be corrected' });
  const rows = gatewayRows(building, [gateway('a'), { ...wrong(90), id: 'b' }]);
  assert.deepEqual(sorted(rows, GATEWAY_COLUMNS, '-clock').map(({ id }) => id), ['b', 'a']);
});

test('beacons have a room, tags a person; those without a reading come last', () => {
  const rows = beaconRows(building, [
    { beacon: 'B1', kind: 'fixed', level: 'L1', room: 'hall', staff_id: null, heard: null, measured: null },
    { beacon: 'B2', kind: 'tag', level: null, room: null, staff_id: '7', heard: { ts: 9, receiver: 'gw', rssi: -60 }, measured: { ts: 9, battery_mv: 2900 } },
    { beacon: 'B3', kind: 'tag', level: null, room: null, staff_id: '8', heard: { ts: 4, receiver: 'gw', rssi: -60 }, measured: null }]);
  assert.deepEqual(rows.map(({ place, heard_ms, battery_mv }) => [place, heard_ms, battery_mv]),
    [['Hall, Level 1', null, null], ['Ann', 9, 2900], ['8', 4, null]]);
  for (const order of ['heard', '-heard']) assert.equal(sorted(rows, BEACON_COLUMNS, order).at(-1).id, 'B1');
});

test('a group of alerts says on which levels and in which rooms most of them are', () => {
  const group = { count: 1007, levels_count: 4, levels: [{ level: 'L1', count: 1000 }, { level: 'L9', count: 4 }], rooms_count: 3,
    rooms: [{ level: 'L1', room: 'hall', count: 998 }, { level: 'L9', room: 'gone', count: 4 }], alerts: [{}, {}] };
  assert.deepEqual(spread(building, group), ['On Level 1 (1,000), L9 (4) and 2 more levels', 'Most in Hall (998), gone (4) and 1 more room']);
  assert.deepEqual(spread(building, { ...group, rooms_count: 1007, levels_count: 2 }), ['On Level 1 (1,000), L9 (4)'], 'a room each says nothing');
  assert.deepEqual(spread(building, { ...group, levels: [], levels_count: 0, rooms: [], rooms_count: 0 }), []);
  assert.deepEqual([isSingle(group), isSingle({ ...group, count: 2 }), countOf([group, group])], [false, true, 2014]);
});
