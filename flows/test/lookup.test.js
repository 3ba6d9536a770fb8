'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createIntervals, WAITING } = require('../lib/past/intervals');
const { StoreUnavailable } = require('../lib/store');
const { createHistory } = require('../lib/past/history');
const { locationsOf, locationsOfSeveral } = require('../lib/past/lookup');

const T = 1_700_000_000_000;
const PEOPLE = ['0', '1', '10', 'a.b', 'Z'];

/** Memory, and a database that has what `stored` says, in pieces. */
function rig(added, { keptMs, nowMs, stored, pieceRows = 2, points = 600, people = 100 }) {
  const history = createHistory(T - 1000, {}, { keptMs, graceMs: 0, points, people });
  for (const location of added) history.add(location, nowMs);
  const asked = [];
  const store = {
    async* locations(staffIds, fromMs, toMs) {
      asked.push([staffIds, fromMs, toMs]);
      for (const id of [...PEOPLE].sort().reverse().filter((one) => staffIds?.includes(one) ?? true)) {
        const found = stored.filter(({ staff_id: who, ts }) => who === id && ts >= fromMs && ts <= toMs).sort((a, b) => b.ts - a.ts);
        for (let i = 0; i < found.length; i += pieceRows) {
          const part = found.slice(i, i + pieceRows);
          yield { staffId: id, ms: part.map(({ ts }) => ts), places: part.map(({ level, room }) => ({ level, room })) };
        }
      }
    },
  };
  return { deps: { history, store, clock: () => nowMs }, asked };
}

const flat = (pieces) => pieces.flatMap(({ staffId, ms, places }) => ms.map((one, i) => [staffId, one, places[i].room]));

/** Everything added, the last of each millisecond. */
function expected(added, staffIds, fromMs, toMs) {
  const last = new Map(added.map((one) => [`${one.staff_id} ${one.ts}`, one]));
  return [...staffIds].sort().reverse().flatMap((id) => [...last.values()]
    .filter(({ staff_id: who, ts }) => who === id && ts >= fromMs && ts <= toMs)
    .sort((a, b) => b.ts - a.ts).map(({ ts, room }) => [id, ts, room]));
}

const script = fc.array(fc.record({ staff_id: fc.constantFrom(...PEOPLE), ts: fc.integer({ min: T - 200, max: T + 100 }),
  room: fc.constantFrom('a', 'b', 'c') }), { maxLength: 60 }).map((list) => list.map((one) => ({ ...one, level: 'L1', beacon: 'X', rssi: -60 })));
const settings = fc.record({ keptMs: fc.integer({ min: 0, max: 250 }),
  points: fc.integer({ min: 1, max: 9 }), people: fc.integer({ min: 1, max: 5 }),
  pieceRows: fc.integer({ min: 1, max: 4 }), lag: fc.integer({ min: 0, max: 99 }), from: fc.integer({ min: -220, max: 100 }),
  length: fc.integer({ min: 0, max: 300 }), who: fc.option(fc.uniqueArray(fc.constantFrom(...PEOPLE), { minLength: 1 })) });

test('memory and database together neither double nor lose, wherever the seam lies', async () => {
  await fc.assert(fc.asyncProperty(script, settings, async (added, { lag, from, length, who, ...bounds }) => {
    const nowMs = T + 100;
    const [fromMs, toMs] = [T + from, T + from + length];
    const { deps, asked } = rig([], { ...bounds, nowMs, stored: [] });
    for (const location of added) deps.history.add(location, nowMs);
    // the database has at least whatever memory does not hold completely, and of the rest as much as has arrived
    const stored = [...new Map(added.map((one) => [`${one.staff_id} ${one.ts}`, one])).values()]
      .filter(({ staff_id: id, ts }) => ts < deps.history.completeFrom(id, nowMs) || ts < nowMs - lag);
    deps.store = rig([], { ...bounds, nowMs, stored }).deps.store;
    const found = flat(await Array.fromAsync(locationsOfSeveral(deps, who, fromMs, toMs)));
    assert.deepEqual(found, expected(added, who ?? PEOPLE, fromMs, toMs));
    for (const id of PEOPLE) {
      const { recent, older } = locationsOf(deps, id, fromMs, toMs);
      const pieces = older ? await Array.fromAsync(older) : [recent];
      assert.deepEqual(flat(pieces.map((piece) => ({ ...piece, staffId: id }))), expected(added, [id], fromMs, toMs));
    }
    assert.deepEqual(asked, []);
  }), { numRuns: 400 });
});

test('a window that memory holds completely never asks the database, one that it does not asks once', async () => {
  const added = PEOPLE.map((id, i) => ({ staff_id: id, ts: T + i, level: 'L1', room: 'a', beacon: 'X', rssi: -60 }));
  const { deps, asked } = rig(added, { keptMs: 50, nowMs: T + 40, stored: added });
  assert.equal(locationsOf(deps, '0', T - 10, T + 40).older, null);
  assert.equal(flat(await Array.fromAsync(locationsOfSeveral(deps, null, T - 10, T + 40))).length, PEOPLE.length);
  assert.deepEqual(asked, []);
  await Array.fromAsync(locationsOf(deps, '0', T - 11, T + 40).older);
  await Array.fromAsync(locationsOfSeveral(deps, null, T - 11, T + 40));
  await Array.fromAsync(locationsOfSeveral(deps, ['1', 'Z'], T - 11, T + 40));
  assert.deepEqual(asked, [[['0'], T - 11, T - 11], [null, T - 11, T + 40], [['Z', '1'], T - 11, T + 40]]);
});

test('nobody is answered about a time that is on its way to the database', async () => {
  const added = [{ staff_id: '0', ts: T + 30, level: 'L1', room: 'a', beacon: 'X', rssi: -60 }];
  const { deps } = rig(added, { keptMs: 50, nowMs: T + 100, stored: [] });
  const ask = (from, to) => [Array.fromAsync(locationsOfSeveral(deps, null, T + from, T + to)), (async () => {
    const { recent, older } = locationsOf(deps, '0', T + from, T + to);
    return older ? Array.fromAsync(older) : [recent];
  })()];
  let gaps = createIntervals();
  deps.refuseIncomplete = (fromMs, toMs, who) => { if (fromMs < toMs && gaps.firstGap(fromMs, toMs, who)) throw new StoreUnavailable('incomplete'); };
  const none = async (windows) => {
    for (const [from, to] of windows) for (const asked of ask(from, to)) await assert.rejects(asked, /incomplete/, `${from} ${to}`);
  };
  const all = async (windows) => { for (const [from, to] of windows) for (const asked of ask(from, to)) await asked; };
  gaps.mark(T + 21, Infinity, WAITING);
  await none([[0, 100], [0, 21], [30, 49], [49, 60]]);
  await all([[0, 20], [50, 100], [20, 20]]);
  gaps = createIntervals();
  gaps.mark(T + 20, T + 40, WAITING);
  await none([[0, 20], [39, 100], [25, 30], [0, 100]]);
  await all([[0, 19], [40, 100], [45, 49]]);
  gaps = createIntervals();
  gaps.mark(T + 20, T + 40, WAITING, ['1']);
  await all([[0, 19]]);
  const [everybody, one] = ask(0, 100);
  await assert.rejects(everybody, /incomplete/, 'somebody among them');
  await one;
});

test('only those are asked for whose memory does not reach', async () => {
  const added = Array.from({ length: 20 }, (_, i) => ({ staff_id: '1', ts: T + i, level: 'L1', room: 'a', beacon: 'X', rssi: -60 }));
  const { deps, asked } = rig([...added, { ...added[0], staff_id: '0' }], { keptMs: 50, points: 5, nowMs: T + 40, stored: added });
  assert.equal(flat(await Array.fromAsync(locationsOfSeveral(deps, null, T, T + 40))).length, 21);
  assert.deepEqual(asked, [[['1'], T, T + 40]]);
});
