import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells } from '../src/lib/classic.js';

test('a row of the classic view, its time in the zone of the browser', () => {
  const record = { staff_id: '003', level: 'L1', location: 'Lobby', timestamp: Date.UTC(2026, 2, 1, 23, 30, 5) / 1000, rssi: -61, mac: 'C2A628384B08' };
  assert.deepEqual(cells(record, 'UTC'), ['003', 'L1', 'Lobby', '2026-03-01 23:30:05', '-61', 'C2A628384B08']);
  assert.equal(cells(record, 'Asia/Singapore')[3], '2026-03-02 07:30:05');
});
