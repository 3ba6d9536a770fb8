// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../support/fast-check');
const { addGatewayReading, addPhoneBatch, flush, releaseDue } = require('../../lib/locator/reorder-buffer');
const { DEFAULTS } = require('../../lib/locator');

const T0 = 1_700_000_000_000;

/** @typedef {import('../../lib/locator/reorder-buffer').Buffered} Buffered */
/** @returns {Buffered} */
const newBuffer = () => ({ ms: -Infinity, waiting: [], phoneMs: null });

/** @param {Buffered} buffered @param {number} ts @param {number} source @param {number} rssi @param {number} nowMs @param {any} take */
const gateway = (buffered, ts, source, rssi, nowMs, take) =>
  addGatewayReading(buffered, ts, { source, rssi, raw: rssi, tag: 0 }, nowMs, DEFAULTS, take);

/** @param {Buffered} buffered @param {number} ts @param {number} nowMs @param {any} take */
const phone = (buffered, ts, nowMs, take) =>
  addPhoneBatch(buffered, ts, { kind: 'phone', sources: [1], rssis: [-60], raw: [-60], tag: -1 }, nowMs, DEFAULTS, take);

/** Play batches in the order they arrive; what was taken. @param {{ts: number, atMs: number, source: number, rssi: number}[]} batches */
function played(batches) {
  const buffered = newBuffer();
  /** @type {[number, string][]} */
  const taken = [];
  /** @param {Buffered} its @param {number} ms @param {any} all */
  const take = (its, ms, all) => {
    its.ms = Math.max(its.ms, ms);
    taken.push([ms, all.sources.map((/** @type {number} */ s, /** @type {number} */ k) => `${s}:${all.rssis[k]}`).sort().join()]);
  };
  for (const { ts, atMs, source, rssi } of batches) {
    releaseDue(buffered, atMs, DEFAULTS, take);
    assert.ok(gateway(buffered, ts, source, rssi, atMs, take));
  }
  flush(buffered, take);
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
  const buffered = newBuffer();
  /** @type {string[]} */
  const taken = [];
  /** @param {Buffered} its @param {number} ms @param {any} all */
  const take = (its, ms, all) => {
    its.ms = ms;
    taken.push(all.kind);
  };
  gateway(buffered, T0, 1, -60, T0 + 10, take);
  assert.deepEqual(taken, []);
  phone(buffered, T0 + 100, T0 + 110, take);
  assert.deepEqual(taken, ['gateway', 'phone']);
});

test('old readings are late; a little older ones are not', () => {
  const buffered = newBuffer();
  const take = () => {};
  assert.ok(gateway(buffered, T0, 1, -60, T0, take));
  assert.ok(gateway(buffered, T0 - 4000, 2, -60, T0 + 50, take));
  assert.ok(!gateway(buffered, T0 - 600_000, 3, -60, T0 + 60, take));
  assert.ok(!phone(buffered, T0 - 600_000, T0 + 60, take));
});
