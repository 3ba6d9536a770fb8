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
    still = motion.update(slot, { kind: 'gateway', sources: levels.map((_, k) => 10 + k), rssis, tag: '' }, 1, 0);
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

test('a faint source that was not heard before says nothing, however many there are', () => {
  const motion = opened();
  hear(motion, LEVELS, 30);
  const others = Array.from({ length: 60 }, (_, k) => 100 + k);
  const rssis = others.map(() => -90);
  assert.ok(motion.update(0, { kind: 'gateway', sources: others, rssis, tag: '' }, 1, 0) > 0.5);
  assert.ok(hear(motion, LEVELS, 30) > 0.8);
});

test('after a long silence nothing is known', () => {
  const motion = opened();
  hear(motion, LEVELS, 30);
  const heard = /** @type {const} */ ({ kind: 'gateway', sources: [10, 11, 12], rssis: [-90, -50, -90], tag: '' });
  assert.ok(motion.update(0, { ...heard, sources: [...heard.sources], rssis: [...heard.rssis] }, TUNING.forgetMs / 1000 + 1, 0) > 0.1);
});

test('people do not share what is remembered', () => {
  const motion = opened(50);
  hear(motion, LEVELS, 30, 3);
  assert.ok(hear(motion, [...LEVELS].reverse(), 30, 49) > 0.8);
  assert.ok(hear(motion, LEVELS, 1, 3) > 0.8);
});

const SOURCES = LEVELS.map((_, k) => 10 + k);

/**
 * Half a minute at one place, and then this.
 * @param {Partial<import('../../lib/locator/sightings').Heard>} heard @param {number} [stayedS]
 */
function then(heard, stayedS = 0) {
  const motion = opened();
  hear(motion, LEVELS, 30);
  return motion.update(0, { kind: 'phone', sources: SOURCES, rssis: LEVELS, tag: '', ...heard }, 1, stayedS);
}

test('what is loud and was not heard before speaks for a movement', () => {
  const louder = { sources: [20, ...SOURCES], rssis: [-50, ...LEVELS] };
  assert.ok(then(louder) < then({}) / 2);
});

test('what is missing of a phone speaks for a movement as far as it was loud; of gateways it does not', () => {
  const [loud, faint] = [{ sources: [13, 14], rssis: [-75, -80] }, { sources: [10, 11, 12, 13], rssis: [-60, -66, -70, -75] }];
  assert.ok(then(loud) < 0.8 * then(faint));
  assert.ok(then({ kind: 'gateway', ...loud }) > then(loud));
});

test('who stayed long is taken to stand on; a clear change frees them at once', () => {
  const turned = { rssis: LEVELS.map((dbm, k) => dbm + (k % 2 ? 6 : -6)) };
  assert.ok(then(turned, 600) > then(turned, 10));
  assert.ok(then({ rssis: [...LEVELS].reverse() }, 600) < 0.1);
});

test('what is weighed of somebody who stands are the means, and they know what they heard before; of a walker the readings', () => {
  const motion = opened();
  hear(motion, LEVELS, 30);
  const one = { kind: /** @type {const} */ ('phone'), sources: [10, 11, 12, 13], rssis: [-66, -66, -70, -75], tag: '' };
  motion.update(0, one, 1, 0);
  const { rssis, known } = motion.steady(0, one);
  assert.ok(rssis[0] > -64 && rssis[0] < -58, `${rssis[0]}`);
  assert.deepEqual(known, [10, 11, 12, 13, 14]);
  const away = { ...one, sources: SOURCES, rssis: [...LEVELS].reverse() };
  motion.update(0, away, 1, 0);
  assert.deepEqual(motion.steady(0, away), { rssis: away.rssis, known: SOURCES });
});

test('whoever walked remains a walker for some seconds; whoever has just appeared is not taken for one', () => {
  const motion = opened();
  assert.equal(motion.stood(0, 'phone'), 1);
  hear(motion, LEVELS, 60);
  const before = motion.stood(0, 'gateway');
  assert.ok(before > 0.7, `${before}`);
  hear(motion, [...LEVELS].reverse(), 1);
  hear(motion, LEVELS, 1);
  const walked = motion.stood(0, 'gateway');
  assert.ok(walked < before - 0.2, `${walked}`);
  hear(motion, LEVELS, 60);
  assert.ok(motion.stood(0, 'gateway') > 0.7);
});
