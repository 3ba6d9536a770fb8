import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verdict } from '../src/lib/liveness.js';

const NOW = 1_800_000_000_000;
const UP = ['broker', 'influxdb', 'ingest', 'rebuild', 'building'].map((id) => ({ id, status: 'up' }));
const good = { connected: true, loggedOut: false, heardAtMs: NOW - 900, nowMs: NOW, aheadMs: 0,
  status: { parts: UP, heard_ms: NOW - 5000 } };
const without = (...ids) => ({ ...good.status, parts: UP.map((part) => (ids.includes(part.id) ? { ...part, status: 'degraded', reason: 'why' } : part)) });

const cases = [
  ['all is well', {}, 'live', 'Live'],
  ['the login has ended', { loggedOut: true, connected: false }, 'down', 'Not live: the login has ended'],
  ['no connection', { connected: false }, 'down', 'Not live: no connection to the server'],
  ['silence', { heardAtMs: NOW - 3600 }, 'down', 'Not live: the server does not answer'],
  ['nothing received yet', { status: null }, 'warn', 'Connecting'],
  ['no broker', { status: without('broker', 'influxdb') }, 'down', 'Not live: the message broker is away'],
  ['no database', { status: without('influxdb', 'ingest') }, 'warn', 'Live, but history is not available: the database is away'],
  ['a part nobody knows', { status: { ...good.status, parts: [{ id: 'x', status: 'degraded' }] } }, 'warn', 'Live, but x does not work'],
  ['no readings', { status: { ...good.status, heard_ms: NOW - 21_000 } }, 'warn', 'Live, but no readings are coming in'],
  ['no readings and no database', { status: { ...without('influxdb'), heard_ms: NOW - 21_000 } }, 'warn',
    'Live, but history is not available: the database is away'],
  ['none since the start', { status: { ...good.status, heard_ms: null } }, 'warn', 'Live, but no readings are coming in'],
  ['the server\'s clock counts', { aheadMs: 60_000, status: { ...good.status, heard_ms: NOW + 58_000 } }, 'live', 'Live'],
];
for (const [name, change, level, text] of cases) {
  test(name, () => {
    const found = verdict({ ...good, ...change });
    assert.deepEqual([found.level, found.text], [level, text]);
  });
}

test('details have all problems', () => {
  assert.equal(verdict({ ...good, status: without('influxdb', 'building') }).details.length, 2);
});

test('without a server its parts are unknown; without a broker they are known', () => {
  for (const change of [{ loggedOut: true }, { connected: false }, { heardAtMs: NOW - 3600 }, { status: null }]) {
    assert.equal(verdict({ ...good, ...change }).reached, false);
  }
  for (const change of [{}, { status: without('broker') }, { status: without('influxdb') }]) assert.equal(verdict({ ...good, ...change }).reached, true);
});
