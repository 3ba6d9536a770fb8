// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createMotion } = require('../../lib/locator/motion');
const { TUNING } = require('../../lib/locator/tuning');
const { normal, random } = require('./radio');

const LEVELS = [-60, -66, -70, -75, -80];

/** A place where each source has its level, once a second for `seconds`; the last probability of standing.
 * @param {ReturnType<typeof createMotion>} motion @param {number[]} levels @param {number} seconds @param {number} slot */
function hear(motion, levels, seconds, slot = 0, rnd = random(1)) {
  let still = NaN;
  for (let s = 0; s < seconds; s += 1) {
    const rssis = levels.map((dbm) => dbm + 3 * normal(rnd));
    still = motion.update(slot, { kind: 'gateway', sources: levels.map((_, k) => 10 + k), rssis, tag: '' }, 1);
  }
  return still;
}

/** @param {number} slots */
function opened(slots = 1) {
  const motion = createMotion(TUNING);
  for (let slot = 0; slot < slots; slot += 1) motion.open(slot);
  return motion;
}

test('whoever is heard as before stands', () => {
  assert.ok(hear(opened(), LEVELS, 30) > 0.8);
});

test('whoever is heard otherwise moves, and soon stands at the new place', () => {
  const motion = opened();
  hear(motion, LEVELS, 30);
  const elsewhere = [...LEVELS].reverse();
  assert.ok(hear(motion, elsewhere, 1) < 0.1);
  assert.ok(hear(motion, elsewhere, 30) > 0.8);
});

test('a source that was not heard before says nothing, however many there are', () => {
  const motion = opened();
  hear(motion, LEVELS, 30);
  const others = Array.from({ length: 60 }, (_, k) => 100 + k);
  const rssis = others.map(() => -90);
  assert.ok(motion.update(0, { kind: 'gateway', sources: others, rssis, tag: '' }, 1) > 0.5);
  assert.ok(hear(motion, LEVELS, 30) > 0.8);
});

test('after a long silence nothing is known', () => {
  const motion = opened();
  hear(motion, LEVELS, 30);
  const heard = /** @type {const} */ ({ kind: 'gateway', sources: [10, 11, 12], rssis: [-90, -50, -90], tag: '' });
  assert.ok(motion.update(0, { ...heard, sources: [...heard.sources], rssis: [...heard.rssis] }, TUNING.forgetMs / 1000 + 1) > 0.1);
});

test('people do not share what is remembered', () => {
  const motion = opened(50);
  hear(motion, LEVELS, 30, 3);
  assert.ok(hear(motion, [...LEVELS].reverse(), 30, 49) > 0.8);
  assert.ok(hear(motion, LEVELS, 1, 3) > 0.8);
});
