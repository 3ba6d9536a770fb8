// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../support/fast-check');
const { Heard } = require('../../lib/locator/hearing');
const { ReorderBuffer, renumbered } = require('../../lib/locator/reorder-buffer');
const { DEFAULTS } = require('../../lib/locator');

const T0 = 1_700_000_000_000;
const SLOT = 3;

/** @typedef {(slot: number, ms: number, heard: import('../../lib/locator/hearing').Heard) => void} Take */

/** A buffer of somebody. */
function newBuffer() {
  const buffer = new ReorderBuffer(DEFAULTS);
  buffer.begin(SLOT);
  return buffer;
}

/** @param {ReorderBuffer} buffer @param {number} ts @param {number} source @param {number} rssi @param {number} nowMs @param {Take} take */
const gateway = (buffer, ts, source, rssi, nowMs, take) => buffer.addGatewayReading(SLOT, ts, source, rssi, rssi, 0, { nowMs, take });

/** @param {ReorderBuffer} buffer @param {number} ts @param {number} nowMs @param {Take} take */
function phone(buffer, ts, nowMs, take) {
  const heard = new Heard('phone');
  heard.add(1, -60, -60, -1);
  return buffer.addPhoneBatch(SLOT, ts, heard, { nowMs, take });
}

/** Play batches in the order they arrive; what was taken. @param {{ts: number, atMs: number, source: number, rssi: number}[]} batches */
function played(batches) {
  const buffer = newBuffer();
  /** @type {[number, string][]} */
  const taken = [];
  /** @type {Take} */
  const take = (slot, ms, { size, sources, rssis }) => {
    assert.equal(slot, SLOT);
    taken.push([ms, [...sources.subarray(0, size)].map((source, k) => `${source}:${rssis[k]}`).sort().join()]);
  };
  for (const { ts, atMs, source, rssi } of batches) {
    buffer.releaseDue(SLOT, { nowMs: atMs, take });
    assert.ok(gateway(buffer, ts, source, rssi, atMs, take));
  }
  buffer.flush(SLOT, { nowMs: 0, take });
  return taken;
}

test('the order in which gateways arrive does not matter, as long as they arrive within the wait', () => {
  const batch = fc.record({
    ts: fc.integer({ min: 0, max: 20_000 }),
    delay: fc.integer({ min: 1, max: DEFAULTS.holdMs - 1 }),
    source: fc.nat(11),
    rssi: fc.integer({ min: -90, max: -50 }),
  });
  fc.assert(fc.property(fc.array(batch, { minLength: 1, maxLength: 80 }), (list) => {
    const all = list.map(({ ts, delay, source, rssi }) => ({ ts: T0 + ts, atMs: T0 + ts + delay, source, rssi }));
    const inTime = [...all].sort((a, b) => a.ts - b.ts).map((one) => ({ ...one, atMs: one.ts }));
    const asArrived = [...all].sort((a, b) => a.atMs - b.atMs);
    assert.deepEqual(played(asArrived), played(inTime));
  }));
});

test('a replay faster than time gathers the same steps', () => {
  const all = Array.from({ length: 60 }, (_, k) => ({ ts: T0 + Math.floor(k / 3) * 1000, source: k % 3, rssi: -60 - k % 7 }));
  const live = played(all.map((one) => ({ ...one, atMs: one.ts + 20 })));
  const fast = played(all.map((one, k) => ({ ...one, atMs: T0 + 100_000 + k })));
  assert.deepEqual(fast, live);
});

test('a phone is taken at once, gateways before it first', () => {
  const buffer = newBuffer();
  /** @type {string[]} */
  const taken = [];
  /** @type {Take} */
  const take = (_, ms, { kind }) => { taken.push(kind); };
  gateway(buffer, T0, 1, -60, T0 + 10, take);
  assert.deepEqual(taken, []);
  phone(buffer, T0 + 100, T0 + 110, take);
  assert.deepEqual(taken, ['gateway', 'phone']);
});

test('old readings are late; a little older ones are not', () => {
  const buffer = newBuffer();
  const take = () => {};
  assert.ok(gateway(buffer, T0, 1, -60, T0, take));
  assert.ok(gateway(buffer, T0 - 4000, 2, -60, T0 + 50, take));
  assert.ok(!gateway(buffer, T0 - 600_000, 3, -60, T0 + 60, take));
  assert.ok(!phone(buffer, T0 - 600_000, T0 + 60, take));
});

test('what waits of many people is kept apart, saved, and gone on with elsewhere under other numbers', () => {
  const buffer = newBuffer();
  const PEOPLE = 3000; // more than the first place for them holds
  for (let slot = 0; slot < PEOPLE; slot += 1) {
    buffer.begin(slot);
    const now = { nowMs: T0 + 200, take: () => assert.fail() };
    for (const source of [1, 2]) buffer.addGatewayReading(slot, T0 + slot % 200, source, -60 - slot % 30, -50, 7, now);
  }
  const other = new ReorderBuffer(DEFAULTS);
  for (let slot = 0; slot < PEOPLE; slot += 1) {
    other.begin(slot, renumbered(buffer.save(slot), (source) => source + 10, (tag) => tag + 1));
    /** @type {unknown[]} */
    const taken = [];
    /** @type {Take} */
    const take = (its, ms, { size, sources, rssis, tag }) => {
      taken.push(its, ms, [...sources.subarray(0, size)], [...rssis.subarray(0, size)], tag);
    };
    other.releaseDue(slot, { nowMs: T0 + 10_000, take });
    assert.deepEqual(taken, [slot, T0 + slot % 200, [11, 12], [-60 - slot % 30, -60 - slot % 30], 8]);
  }
});

test('whoever has more that waits than all others before does not disturb them', () => {
  const buffer = new ReorderBuffer(DEFAULTS);
  const [PEOPLE, WIDE, MANY] = [50, 20, 40];
  for (let slot = 0; slot < PEOPLE; slot += 1) buffer.begin(slot);
  const now = { nowMs: T0, take: () => assert.fail() };
  const manyOf = (/** @type {number} */ slot) => (slot === WIDE ? MANY : 1 + slot % 3);
  for (let n = 0; n < MANY; n += 1) {
    for (let slot = 0; slot < PEOPLE; slot += 1) if (n < manyOf(slot)) buffer.addGatewayReading(slot, T0, n, -slot, -slot, 0, now);
  }
  for (let slot = 0; slot < PEOPLE; slot += 1) {
    /** @type {unknown[]} */
    const taken = [];
    /** @type {Take} */
    const take = (its, _, { size, sources, rssis }) => {
      taken.push(its, [...sources.subarray(0, size)], new Set(rssis.subarray(0, size)));
    };
    buffer.flush(slot, { nowMs: T0, take });
    assert.deepEqual(taken, [slot, Array.from({ length: manyOf(slot) }, (_, n) => n), new Set([-slot])]);
  }
});
