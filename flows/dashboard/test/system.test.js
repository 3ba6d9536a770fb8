import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, countRows, gatewayText, lag, partRows, perSecond } from '../src/lib/system.js';
import { ceiling, latest, pathOf, pointsOf, WINDOW_MS } from '../src/lib/trend.js';

const NOW = 1_800_000_000_000;
const FIELD = { toMs: NOW, max: 10, width: 300, height: 100 };

test('unknown values are no points, and an old value is not current', () => {
  const points = pointsOf([NOW - 40_000, NOW - 35_000, NOW - 30_000], [1, null, 3]);
  assert.deepEqual(points, [[NOW - 40_000, 1], [NOW - 30_000, 3]]);
  assert.equal(latest(points, NOW), 3);
  assert.equal(latest(points, NOW + 1), null);
  assert.equal(latest([], NOW), null);
});

test('the upper edge is a round number that holds everything', () => {
  const cases = [[0, 1], [0.4, 1], [1, 1], [1.1, 2], [4, 5], [5, 5], [7, 10], [10, 10], [11, 20], [480, 500], [501, 1000]];
  for (const [value, edge] of cases) assert.equal(ceiling(value), edge, String(value));
});

test('a line is drawn from left to right over a quarter of an hour, with gaps where nothing is known', () => {
  const at = (ms, value) => [NOW - ms, value];
  assert.equal(pathOf([at(WINDOW_MS, 0), at(WINDOW_MS - 5000, 10)], FIELD), 'M0.0 100.0h0L1.7 0.0');
  assert.equal(pathOf([at(60_000, 5), at(0, 20)], FIELD), 'M280.0 50.0h0M300.0 0.0h0', 'a minute apart, and beyond the edge');
  assert.equal(pathOf([], FIELD), '');
});

const UP = ['broker', 'influxdb', 'ingest', 'rebuild', 'new-one'].map((id) => ({ id, status: 'up' }));
const words = (rows) => Object.fromEntries(rows.map(({ id, word }) => [id, word]));

test('parts are in the order of the data flow with their memory, then the parts of the flows', () => {
  const rows = partRows(UP, { flows: 91_000_000, ingest: 60_400_000, influxdb: 8_250_000 }, true);
  assert.deepEqual(rows.map(({ id, memory }) => [id, memory]),
    [['broker', 'not known'], ['ingest', '60 MB'], ['influxdb', '8.3 MB'], ['flows', '91 MB'], ['rebuild', null], ['new-one', null]]);
  assert.ok(rows.every(({ word, tone }) => word === 'up' && tone === 'good'));
});

test('a degraded part has reason and remedy; without a server other parts are unknown', () => {
  const parts = UP.map((part) => (part.id === 'influxdb' ? { ...part, status: 'degraded', reason: 'refused', remedy: 'look' } : part));
  const [, , database] = partRows(parts, {}, true);
  assert.deepEqual([database.word, database.tone, database.reason, database.remedy], ['degraded', 'bad', 'refused', 'look']);
  const rows = partRows(parts, { flows: 1 }, false);
  assert.deepEqual(words(rows), { broker: 'not known', ingest: 'not known', influxdb: 'not known', flows: 'does not answer', rebuild: 'not known',
    'new-one': 'not known' });
  assert.ok(rows.every(({ memory, reason }) => reason === '' && (memory === null || memory === 'not known')));
  assert.equal(words(partRows([], {}, true)).broker, 'not known');
});

test('refusals and losses by reason: recent ones first, without those that never happened', () => {
  const { refused, lost, unknown } = countRows([
    { name: 'refused_not_json', total: 3, lately: 0 }, { name: 'refused_ts_ahead', total: 1, lately: 1 }, { name: 'refused_version', total: 0, lately: 0 },
    { name: 'outbox_dropped', total: 7, lately: 0 }, { name: 'broker_dropped', total: 0, lately: 0 }, { name: 'constructor', total: 9, lately: 9 }]);
  assert.deepEqual(refused.map(({ id, total, lately }) => [id, total, lately]), [['refused_ts_ahead', 1, 1], ['refused_not_json', 3, 0]]);
  assert.deepEqual([refused[1].what, refused[1].why], ['Readings refused', 'not JSON']);
  assert.deepEqual(lost.map(({ id }) => id), ['outbox_dropped']);
  assert.deepEqual(unknown, ['ingest']);
});

test('figures for people', () => {
  assert.deepEqual([null, 0, 3.14, 12.6, 12_345].map(perSecond), ['–', '0.0', '3.1', '13', '12,345']);
  assert.deepEqual([null, 0.4, 239.6, 1250, 90_000].map(lag), ['–', '0 ms', '240 ms', '1.3 s', '1 min']);
  assert.deepEqual([bytes(null), bytes(369_352), bytes(290e6)], ['not known', '0.4 MB', '290 MB']);
  assert.equal(gatewayText({ online: 3, offline: 0, silent: 1, unknown: 2 }), '3 online, 1 silent, 2 not heard');
  assert.equal(gatewayText({ online: null }), 'there is none');
});
