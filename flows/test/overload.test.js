'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createBuilding } = require('../lib/building');
const { createCoverage } = require('../lib/past/coverage');
const { createOverload, HOLD_MS } = require('../lib/health');
const { yieldToLive } = require('../lib/past/background');
const { locatesLater } = require('../lib/past/people');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');

const T = 1_700_000_000_000;
const phone = (receiver, ts, beacon = BEACONS.a) => ({ kind: 'phone', receiver, ts, readings: [{ beacon, rssi: -60 }] });
const gateway = (receiver, ts, ...tags) => ({ kind: 'gateway', receiver, ts, readings: tags.map((beacon) => ({ beacon, rssi: -60 })) });

/** A site and its record of coverage; whoever is left out goes there. */
function rig() {
  const building = createBuilding(smallBuilding());
  const site = new Site(building, T, { clock: () => T });
  const coverage = createCoverage({ startedMs: T, newestPublished: () => T, newestStored: async () => T });
  coverage.locateBeforeStart(-Infinity);
  coverage.published({ fromMs: -Infinity, toMs: T, staff: null }, T - 2000);
  coverage.caughtUp(T - 2000);
  const recorded = [];
  const later = locatesLater(site, coverage, () => T);
  site.bus.on('skipped', (batch) => {
    recorded.push(batch);
    later(batch);
  });
  return { building, site, coverage, recorded };
}

/** Whether a person's time is to be located, by the record alone. */
const lacks = (coverage, id, ts) => coverage.completeUntil(ts, ts + 1, [id], T + 10 * 60_000) === ts;

test('who is left out is to be located later, by name and time; a gateway stands for the tags that it heard', async () => {
  const { site, coverage, building } = rig();
  await coverage.tick(T + 60_000, T + 60_000);
  const [tag] = building.tagOwner.keys();
  const owner = building.tagOwner.get(tag);
  const [gatewayId] = building.gateways.keys();
  site.live.skip(phone('0', T + 5000), T + 6000);
  site.live.skip(gateway(gatewayId, T + 25_000, tag), T + 26_000);
  assert.equal(lacks(coverage, '0', T + 5000), true);
  assert.equal(lacks(coverage, owner, T + 25_000), true);
  assert.equal(lacks(coverage, 'nobody', T + 5000), false);
  assert.equal(site.live.counters().located_later, 2);
});

test('what receivers send again is not located later, nor what nobody registered', () => {
  const { site, recorded } = rig();
  site.live.locate([phone('0', T), phone('0', T + 1000), phone('0', T + 2000)], T + 2000);
  site.live.skip(phone('0', T + 1000), T + 3000);
  assert.deepEqual(recorded, []);
  site.live.skip(phone('0', T + 2100), T + 3000);
  assert.equal(recorded.length, 1, 'a window shorter than the steps in which known ones are kept');
  site.live.skip(phone('0', T + 2100), T + 3000);
  assert.equal(recorded.length, 2, 'another part of the newest one');
  site.live.skip(phone('0', T + 5000, 'FFFFFFFFFFFF'), T + 6000);
  assert.equal(recorded.length, 2);
});

test('while a start locates the past, it gets what is left out', () => {
  const { site, recorded } = rig();
  const heard = [];
  site.live.awaitRecovery();
  site.bus.on('batch', (batch, nowMs, stored) => heard.push([batch.ts, stored]));
  site.live.skip(phone('0', T + 1000), T + 2000);
  assert.deepEqual([heard, recorded], [[[T + 1000, true]], []]);
});

test('every batch is located live or is in the record', () => {
  const sent = fc.array(fc.record({ id: fc.constantFrom('0', '1', '2'), s: fc.nat(600), skipped: fc.boolean() }), { maxLength: 60 });
  fc.assert(fc.property(sent, (list) => {
    const { site, coverage } = rig();
    const located = new Set();
    for (const { id, s, skipped } of list) {
      const batch = phone(id, T - 900_000 + s * 1000);
      if (skipped) site.live.skip(batch, T);
      else {
        site.live.locate([batch], T);
        located.add(`${id} ${batch.ts}`);
      }
    }
    for (const { id, s } of list) {
      const ts = T - 900_000 + s * 1000;
      assert.ok(located.has(`${id} ${ts}`) || lacks(coverage, id, ts), `${id} at ${s}`);
    }
  }));
});

test('/health says so with both rates while it lasts, and for some seconds more', () => {
  const now = { behind: false, messages: 0, later: 0 };
  const overload = createOverload({
    queue: { isBehind: () => now.behind, waitedMs: () => 640, size: () => 70 },
    counters: () => ({ messages: now.messages, located_later: now.later }), liveLagMs: () => 900,
  });
  overload.tick(T);
  now.behind = true;
  assert.equal(overload.part(T).status, 'up', 'nothing was skipped');
  Object.assign(now, { behind: true, messages: 45_000, later: 15_000 });
  const part = overload.part(T + 5000);
  assert.equal(part.reason, 'overloaded: offered 9000/s, taken 6000/s, behind by 0.6 s; located later: 15000 batches');
  assert.deepEqual([part.status, part.overloaded, part.offered_per_s, part.taken_per_s, part.behind_by_s, part.waiting, part.located_later],
    ['degraded', true, 9000, 6000, 0.6, 70, 15_000]);
  now.behind = false;
  assert.equal(overload.part(T + 5000 + HOLD_MS - 1).status, 'degraded');
  assert.equal(overload.part(T + 5000 + HOLD_MS).status, 'up');
});

test('work in the background rests while readings wait, but not for ever', async () => {
  const slept = [];
  let waits = 3;
  const sleep = yieldToLive(async (ms) => { slept.push(ms); }, () => (waits-- > 0 ? 200 : 0));
  await sleep(8);
  assert.deepEqual(slept, [8, 50, 50, 50]);
  waits = Infinity;
  await sleep(8);
  assert.equal(slept.slice(4).reduce((sum, ms) => sum + ms, 0), 1008);
});
