'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { Grouping } = require('../lib/live/batches');
const { createStore } = require('../lib/store');

/** Plays InfluxDB with points of both kinds. `size`: rows of a piece. */
function rig({ batches = [], single = [], size = 3 }) {
  const answers = { batch: batches, reading: single };
  return createStore({
    async* pieces(_bucket, statement) {
      const rows = answers[/FROM "(\w+)"/.exec(statement)[1]];
      for (let at = 0; at < rows.length; at += size) yield [{ tags: {}, columns: [], rows: rows.slice(at, at + size) }];
    },
    async query(_bucket, statement) {
      const rows = answers[/FROM "(\w+)"/.exec(statement)[1]] ?? [];
      return rows.length > 0 ? [{ tags: { beacon: 'A' }, columns: [], rows: rows.slice(0, 1) }] : [];
    },
  });
}

async function all(store) {
  const found = [];
  await store.readings(0, 1000, async (rows) => {
    assert.ok(rows.length > 0);
    found.push(...rows);
  });
  return found;
}

test('batches and the single readings of earlier versions come in one order of time, none lost, none twice', async () => {
  const reading = fc.record({ ts: fc.integer({ min: 0, max: 30 }), receiver: fc.constantFrom('a', 'b'), kind: fc.constantFrom('phone', 'gateway'),
    beacons: fc.uniqueArray(fc.constantFrom('A0', 'B0-1-2', 'C0'), { minLength: 1 }) });
  await fc.assert(fc.asyncProperty(fc.array(reading), fc.array(reading), fc.integer({ min: 1, max: 4 }), async (fresh, old, size) => {
    const rowsOf = (list) => list.toSorted((a, b) => a.ts - b.ts)
      .flatMap(({ ts, kind, receiver, beacons }) => beacons.map((beacon, i) => [ts, -60 - i, kind, receiver, beacon]));
    const batches = fresh.toSorted((a, b) => a.ts - b.ts)
      .map(({ ts, kind, receiver, beacons }) => [ts, beacons.map((beacon, i) => `${beacon} ${-60 - i}`).join(','), kind, receiver]);
    const found = await all(rig({ batches, single: rowsOf(old), size }));
    const text = (rows) => rows.map((row) => row.join(' ')).sort();
    assert.deepEqual(text(found), text([...rowsOf(fresh), ...rowsOf(old)]));
    assert.deepEqual(found.map(([ts]) => ts), found.map(([ts]) => ts).sort((a, b) => a - b));
  }));
});

test('a batch without readings, of a person who was deleted, is none', async () => {
  const store = rig({ batches: [[1, '', 'gateway', 'g'], [2, 'A0 -127', 'gateway', 'g']] });
  assert.deepEqual(await all(store), [[2, -127, 'gateway', 'g', 'A0']]);
});

test('of two texts of one batch the readings are one batch, and a beacon in both is one reading', () => {
  const grouping = new Grouping();
  grouping.push([[5, -60, 'phone', '0', 'B'], [5, -70, 'phone', '0', 'A'], [5, -61, 'phone', '0', 'B']]);
  assert.deepEqual(grouping.finish(), [{ kind: 'phone', receiver: '0', ts: 5, readings: [{ beacon: 'A', rssi: -70 }, { beacon: 'B', rssi: -61 }] }]);
});

test('the first reading is the first of either kind', async () => {
  assert.equal(await rig({ batches: [[7, 'A0 -60']], single: [[3, -60]] }).firstReading(0, 10), 3);
  assert.equal(await rig({ batches: [[7, 'A0 -60']] }).firstReading(0, 10), 7);
  assert.equal(await rig({}).firstReading(0, 10), null);
});

test('what versions before stored without a measured RSSI is not located again', () => {
  const grouping = new Grouping();
  const done = grouping.push([[1, 0, 'phone', '7', 'A0'], [1, -61, 'phone', '7', 'B0'], [1, 20, 'phone', '8', 'A0'], [2, -127, 'gateway', 'g', 'A0'],
    [3, -126, 'gateway', 'g', 'A0']]);
  const readings = [...done, ...grouping.finish()].map(({ ts, receiver, readings: found }) => [ts, receiver, found]);
  assert.deepEqual(readings, [[1, '7', [{ beacon: 'B0', rssi: -61 }]], [3, 'g', [{ beacon: 'A0', rssi: -126 }]]]);
});
