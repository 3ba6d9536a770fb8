import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, pageStatus } from '../src/lib/classic.js';

test('a row of the classic view, its time in the zone of the browser', () => {
  const record = { staff_id: '003', level: 'L1', location: 'Lobby', timestamp: Date.UTC(2026, 2, 1, 23, 30, 5) / 1000, rssi: -61, mac: 'C2A628384B08' };
  assert.deepEqual(cells(record, 'UTC'), ['003', 'L1', 'Lobby', '2026-03-01 23:30:05', '-61', 'C2A628384B08']);
  assert.equal(cells(record, 'Asia/Singapore')[3], '2026-03-02 07:30:05');
});

test('the status reports parts that are down, and missing readings', () => {
  const NOW = 1_800_000_000_000;
  const rows = [{ timestamp: NOW / 1000 - 3 }, { timestamp: NOW / 1000 - 300 }];
  const health = (broken) => ({ parts: Object.fromEntries(['broker', 'influxdb'].map((id) => [id, { status: id === broken ? 'degraded' : 'up' }])) });
  assert.deepEqual(pageStatus(health(), rows, NOW), { level: 'live', text: 'Live. 2 staff in the last 15 minutes' });
  assert.deepEqual(pageStatus(health('broker'), rows, NOW), { level: 'down', text: 'Not live: the message broker is away' });
  assert.match(pageStatus(health('influxdb'), rows, NOW).text, /^Live; history is not available: the database is away\. 2 staff/);
  assert.match(pageStatus(health('influxdb'), [], NOW).text, /^Live; history .* away; no readings are coming in\. 0 staff/);
  for (const old of [[], rows.slice(1)]) assert.match(pageStatus(health(), old, NOW).text, /^Live; no readings are coming in\./);
});
