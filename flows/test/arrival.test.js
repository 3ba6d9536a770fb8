'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { ALIVE_MS, createArrival, INTERRUPTED_MS } = require('../lib/history/arrival');
const { refuseHalves } = require('../lib/history/completeness');

const T = 1_700_000_000_000;

/** Locations told and stored up to these times. */
function rig() {
  const now = { told: T, stored: T, away: false };
  const arrival = createArrival({ newestTold: () => now.told, newestStored: async () => {
    if (now.away) throw new Error('away');
    return now.stored;
  } }, T);
  return { now, arrival };
}

test('as long as heartbeats come back the database counts as complete', async () => {
  const { arrival } = rig();
  for (let ms = T; ms < T + 3_600_000; ms += 60_000) {
    arrival.beat(ms - 1000, ms);
    await arrival.look(ms);
    assert.equal(arrival.storedUntilMs(ms), Infinity);
  }
});

test('after a long interruption it is complete when what was told by then is stored', async () => {
  const { now, arrival } = rig();
  arrival.beat(T + 5000, T + 6000);
  const back = T + 5000 + 2 * INTERRUPTED_MS;
  assert.equal(arrival.storedUntilMs(back), T + 5000);
  Object.assign(now, { told: back, stored: T + 5000 });
  await arrival.look(back);
  arrival.beat(back, back + 1000);
  assert.equal(arrival.storedUntilMs(back + 1000), T + 5000, 'heartbeats are faster than locations');
  await arrival.look(back + 1000);
  Object.assign(now, { told: back + 60_000, stored: back - 1 });
  await arrival.look(back + 2000);
  assert.equal(arrival.storedUntilMs(back + 2000), T + 5000);
  Object.assign(now, { stored: back, away: true });
  await arrival.look(back + 3000);
  assert.equal(arrival.storedUntilMs(back + 3000), T + 5000);
  now.away = false;
  await arrival.look(back + 4000);
  assert.equal(arrival.storedUntilMs(back + 4000), Infinity);
});

test('when the first heartbeat comes late, it is noticed all the same; nothing told means nothing is on its way', async () => {
  const { now, arrival } = rig();
  now.told = 0;
  const back = T + 2 * INTERRUPTED_MS;
  arrival.beat(back, back);
  assert.equal(arrival.storedUntilMs(back), T);
  await arrival.look(back);
  assert.equal(arrival.storedUntilMs(back), Infinity);
});

test('what never arrives is not waited for without end', async () => {
  const { now, arrival } = rig();
  const back = T + 2 * INTERRUPTED_MS;
  now.told = back;
  for (let ms = back; ms < back + 15 * 60_000; ms += 5000) {
    arrival.beat(ms, ms);
    await arrival.look(ms);
    assert.equal(arrival.storedUntilMs(ms), T);
  }
  arrival.beat(back + 15 * 60_000, back + 15 * 60_000);
  await arrival.look(back + 15 * 60_000);
  assert.equal(arrival.storedUntilMs(back + 15 * 60_000), Infinity);
});

test('a second interruption while the first is not over yet', async () => {
  const { now, arrival } = rig();
  const back = T + 2 * INTERRUPTED_MS;
  now.told = back;
  arrival.beat(back, back);
  await arrival.look(back);
  await arrival.look(back + INTERRUPTED_MS);
  Object.assign(now, { told: back + 2 * INTERRUPTED_MS, stored: back });
  arrival.beat(now.told, now.told);
  await arrival.look(now.told);
  assert.equal(arrival.storedUntilMs(now.told), T);
});

test('stays that may have begun a day before what is lacking are refused with it', () => {
  const DAY = 24 * 3_600_000;
  const stored = { storedUntilMs: () => Infinity };
  let missing = { fromMs: T, toMs: T + 60_000 };
  const { refuseIncomplete, refuseIncompleteStays, refuseIncompleteEvents } = refuseHalves(
    { arrival: stored, stayArrival: stored, rebuild: { missing: () => missing } });
  for (const [fromMs, toMs, locations, stays] of [[T - 2 * DAY, T - DAY - 1, true, true], [T - 2 * DAY, T - DAY, true, false],
    [T - 2 * DAY, T, false, false], [T + 60_000, T + 70_000, true, true]]) {
    for (const [refuse, complete] of [[refuseIncomplete, locations], [refuseIncompleteStays, stays], [refuseIncompleteEvents, true]]) {
      if (complete) refuse(fromMs, toMs, T + DAY);
      else assert.throws(() => refuse(fromMs, toMs, T + DAY), /is being located again/);
    }
  }
  missing = null;
  refuseIncompleteStays(T - DAY, T, T + DAY);
});

test('what memory does not bridge is incomplete as soon as heartbeats fail', () => {
  const arrival = createArrival({ newestTold: () => T, newestStored: async () => T }, T, ALIVE_MS);
  assert.equal(arrival.storedUntilMs(T + ALIVE_MS), Infinity);
  assert.equal(arrival.storedUntilMs(T + ALIVE_MS + 1), T);
});
