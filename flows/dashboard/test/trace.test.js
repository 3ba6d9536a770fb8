import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beliefBars, biasHint, biasText, changeText, correctionText, heardRows, levelHint, levelText, strengthRows } from '../src/lib/trace.js';

const trace = {
  staff_id: '7', ts: 5, room: 'hall', level_db: 7.2, level_sd_db: 1.8,
  rooms: [{ room: 'cafe', level: 'L1', probability: 0.604 }, { room: 'hall', level: 'L1', probability: 0.396 }],
  heard: [{ id: 'gw-1', room: 'cafe', rssi: -61.4, readings: 3.2, age_s: 0.24, expected: [-60.2, -70.6] },
    { id: 'gw-2', room: '', rssi: -80, readings: 1, age_s: 14.4, expected: [-85, -79] }],
  change: { room: 'cafe', lead_nats: 0.42, needed_nats: 1.64 },
};
const names = { hall: 'Hall', cafe: 'Café' };
const nameOf = (room) => names[room] ?? room;

test('probabilities by room, with the current one marked', () => {
  assert.deepEqual(beliefBars(trace, nameOf), [
    { room: 'cafe', name: 'Café', percent: 60, isCurrent: false, isProbable: false }, { room: 'hall', name: 'Hall', percent: 40, isCurrent: true, isProbable: true }]);
});

test('each receiver with its expected RSSI in both rooms', () => {
  assert.deepEqual(heardRows(trace, nameOf, 2005), [
    { id: 'gw-1', place: 'Café', rssi: -61, here: -71, there: -60, age: '2 s' },
    { id: 'gw-2', place: '', rssi: -80, here: -79, there: -85, age: '16 s' }]);
  const withoutRoom = heardRows({ ...trace, room: 'attic', change: null }, nameOf, 5);
  assert.deepEqual(withoutRoom.map(({ here, there }) => [here, there]), [[null, null], [null, null]]);
});

test('how far the next room is behind', () => {
  assert.equal(changeText(trace, nameOf), 'Café is behind by 0.4');
  assert.equal(changeText({ ...trace, change: { ...trace.change, lead_nats: -2.31 } }, nameOf), 'Café is behind by 2.3');
  assert.equal(changeText({ ...trace, change: null }, nameOf), '');
  assert.equal(changeText({ ...trace, room: null }, nameOf), '');
});

test('texts of strengths, with advice for large deviations', () => {
  assert.equal(levelText(7.2, 1.8), '7 dB stronger than calibrated (±2)');
  assert.equal(levelText(-12.4, 0.3), '12 dB weaker than calibrated (±1)');
  assert.equal(levelText(0.4, 8), 'as strong as calibrated (±8)');
  assert.equal(levelText(null, null), null);
  assert.equal(levelHint({ level_db: 7.2, tags: ['A'] }), 'set tag_tx 7 dB higher in the building file');
  assert.equal(levelHint({ level_db: -9, tags: ['A'] }), 'set tag_tx 9 dB lower in the building file');
  for (const quiet of [{ level_db: 6, tags: ['A'] }, { level_db: null, tags: ['A'] }, { level_db: 15, tags: [] }]) assert.equal(levelHint(quiet), '');
  assert.equal(biasText(-5.2), '5 dB weaker than expected');
  assert.equal(biasText(null), null);
  assert.deepEqual([correctionText({ db: 6 }), correctionText({ db: -4 })], ['6 dB taken off', '4 dB added']);
  assert.match(biasHint('gateway', -5), /antenna, or set rssi_offset/);
  assert.match(biasHint('beacon', 5), /battery, or set tx/);
  assert.equal(biasHint('gateway', 3.9), '');
});

test('people without a tag carry a phone', () => {
  const staff = [{ staff_id: '1', name: null, tags: [], level_db: null, level_sd_db: null },
    { staff_id: '2', name: 'Ann', tags: ['A', 'B'], level_db: 1, level_sd_db: 1 }];
  assert.deepEqual(strengthRows(staff).map(({ id, carries }) => [id, carries]), [['1', 'phone'], ['2', 'A, B']]);
  const clock = { receiver: '1', ahead_ms: 90_000, since: 5, corrected: true };
  assert.deepEqual(strengthRows(staff, [clock]).map((row) => row.clock), [clock, null]);
});
