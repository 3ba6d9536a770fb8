'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { RecentBatches, STEP_MS, STEPS } = require('../lib/live/batches');

const T = 1_700_000_000_000;
const batch = (ts, receiver = '1', kind = 'phone') => ({ kind, receiver, ts, readings: [] });

test('a batch that came in already is known by its receiver', () => {
  const recentBatches = new RecentBatches();
  assert.equal(recentBatches.isRepeated(batch(T)), false);
  assert.equal(recentBatches.isRepeated(batch(T)), true);
  assert.equal(recentBatches.isRepeated(batch(T, '2')), false);
  assert.equal(recentBatches.isRepeated(batch(T, '1', 'gateway')), false);
});

test('for a quarter of an hour of its clock, in any order; what is older counts as new', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 3 * STEPS }), { maxLength: 60 });
  fc.assert(fc.property(steps, (order) => {
    const recentBatches = new RecentBatches();
    const passed = new Set();
    let newest = -Infinity;
    for (const step of order) {
      newest = Math.max(newest, step);
      assert.equal(recentBatches.isRepeated(batch(T + step * STEP_MS)), passed.has(step) && step > newest - STEPS);
      passed.add(step);
    }
  }));
});

test('receivers that are gone are forgotten', () => {
  const recentBatches = new RecentBatches();
  recentBatches.isRepeated(batch(T));
  recentBatches.sweep(T + 60_000);
  assert.equal(recentBatches.isRepeated(batch(T)), true);
  recentBatches.sweep(T + STEPS * STEP_MS + STEP_MS);
  assert.equal(recentBatches.isRepeated(batch(T)), false);
});
