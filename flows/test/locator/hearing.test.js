// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { DEFAULTS } = require('../../lib/locator/constants');
const { createHearing } = require('../../lib/locator/hearing');
const fc = require('../support/fast-check');
const { normal, random } = require('./radio');

const T0 = 1_700_000_000_000;
const BEACONS = 200; // sources below this are beacons
const LEVELS = [-60, -66, -70, -75, -80];

/** @typedef {ReturnType<typeof createHearing>} Hearing */

/** @param {number} [slots] */
function opened(slots = 1) {
  const hearing = createHearing(DEFAULTS, BEACONS);
  for (let slot = 0; slot < slots; slot += 1) hearing.open(slot);
  return hearing;
}

/** @param {Record<number, number>} levels by source, dBm @param {'phone'|'gateway'} [kind] */
function heard(levels, kind = 'gateway') {
  const pairs = Object.entries(levels).sort(([, a], [, b]) => b - a);
  return { kind, sources: pairs.map(([source]) => Number(source)), rssis: pairs.map(([, rssi]) => rssi), tag: '' };
}

/** A place for some seconds; how often it seemed that they moved.
 * @param {Hearing} hearing @param {number[]} levels @param {number} fromS @param {number} seconds @param {number} [spreadDb] */
function stay(hearing, levels, fromS, seconds, spreadDb = 0, rnd = random(1), slot = 0) {
  let moves = 0;
  for (let s = fromS; s < fromS + seconds; s += 1) {
    const noisy = Object.fromEntries(levels.map((dbm, k) => [10 + k, Math.round(dbm + spreadDb * normal(rnd))]));
    if (hearing.add(slot, heard(noisy), T0 + s * 1000)) moves += 1;
  }
  return moves;
}

/** What is remembered, by source. @param {Hearing} hearing @param {number} ms */
function recalled(hearing, ms, slot = 0) {
  const { count, sources, levels, readings, ages } = hearing.recall(slot, ms);
  return new Map(Array.from({ length: count }, (_, k) => [sources[k], { level: levels[k], readings: readings[k], ageS: ages[k] }]));
}

test('what was heard once is remembered as it was, and forgotten after some seconds', () => {
  const hearing = opened();
  hearing.add(0, heard({ 3: -70, 4: -81 }), T0);
  assert.deepEqual([...recalled(hearing, T0)], [[3, { level: -70, readings: 1, ageS: 0 }], [4, { level: -81, readings: 1, ageS: 0 }]]);
  const later = recalled(hearing, T0 + 2000).get(3);
  assert.ok(later && Math.abs(later.readings - Math.exp(-2 / DEFAULTS.hearingS)) < 0.01 && later.ageS === 2);
  assert.equal(recalled(hearing, T0 + 1000 * DEFAULTS.hearingS * DEFAULTS.fadesOut + 20).size, 0);
});

test('readings of a gateway with long windows are averaged over windows, not taken for rare ones', () => {
  /** How far it has followed somebody who goes away. @param {number[]} [windowsS] */
  const followed = (windowsS) => {
    const hearing = createHearing(DEFAULTS, BEACONS, windowsS);
    hearing.open(0);
    for (let s = 0; s < 80; s += 4) hearing.add(0, heard({ [BEACONS]: -60 }), T0 + s * 1000);
    hearing.add(0, heard({ [BEACONS]: -67 }), T0 + 80_000);
    return recalled(hearing, T0 + 80_000).get(BEACONS)?.level ?? 0;
  };
  const windowsS = [];
  windowsS[BEACONS] = 4;
  assert.ok(followed(windowsS) < followed() - 1, `${followed(windowsS)} ${followed()}`);
});

test('readings of somebody who stands are averaged, ever more of them, up to a bound', () => {
  const hearing = opened();
  const rnd = random(3);
  let [many, error] = [0, 0];
  for (let s = 0; s < 120; s += 1) {
    stay(hearing, [-60], s, 1, 1.5, rnd);
    const { level = NaN, readings = NaN } = recalled(hearing, T0 + s * 1000).get(10) ?? {};
    assert.ok(readings <= DEFAULTS.lastingAtMost + 1.5, `${readings}`);
    many = Math.max(many, readings);
    if (s > 30) error = Math.max(error, Math.abs(level + 60));
  }
  assert.ok(many > 15, `${many}`);
  assert.ok(error < 2, `a mean is nearer than its readings: ${error} dB`);
});

test('a device that is heard rarely is remembered over its gaps', () => {
  const [often, rarely] = [opened(), opened()];
  for (let s = 0; s < 60; s += 1) often.add(0, heard({ 3: -70 }), T0 + s * 1000);
  for (let s = 0; s < 60; s += 5) rarely.add(0, heard({ 3: -70 }), T0 + s * 1000);
  const silentS = 6;
  assert.equal(recalled(often, T0 + (59 + silentS) * 1000).size, 0);
  assert.equal(recalled(rarely, T0 + (55 + silentS) * 1000).size, 1);
  assert.equal(recalled(rarely, T0 + 55_000 + 4 * 60_000).size, 0, 'not for ever');
});

test('one reading far off is a mistake; a second one on the same side is a jump, and what was heard before counts less', () => {
  /** @param {number[]} rssis */
  const after = (...rssis) => {
    const hearing = opened();
    for (let s = 0; s < 3; s += 1) hearing.add(0, heard({ 3: -80 }), T0 + s * 1000);
    rssis.forEach((rssi, s) => hearing.add(0, heard({ 3: rssi }), T0 + (3 + s) * 1000));
    return recalled(hearing, T0 + (2 + rssis.length) * 1000).get(3) ?? { level: NaN, readings: NaN };
  };
  assert.ok(after(-50).level < -58, 'the readings before still count');
  const [jump, swing] = [after(-50, -50), after(-50, -100)];
  assert.ok(jump.level > -55, `${jump.level}`);
  assert.ok(swing.level < -60 && swing.readings > jump.readings, `${swing.level} ${swing.readings} ${jump.readings}`);
});

test('whoever stands has not moved, whoever goes elsewhere has, at once, and then what was before is forgotten', () => {
  const hearing = opened();
  assert.ok(stay(hearing, LEVELS, 0, 60, 2) <= 2);
  const elsewhere = [...LEVELS].reverse();
  assert.ok(stay(hearing, elsewhere, 60, 2) >= 1);
  stay(hearing, elsewhere, 62, 4);
  for (const [source, { level }] of recalled(hearing, T0 + 65_000)) assert.ok(Math.abs(level - elsewhere[source - 10]) < 4, `${source}: ${level}`);
  assert.ok(stay(hearing, elsewhere, 66, 60, 2) <= 4);
});

test('noise as strong as it is taken for looks like walking in a quarter of the seconds at most, half of it hardly ever', () => {
  /** @param {number} spreadDb share of the seconds */
  const taken = (spreadDb) => {
    let moves = 0;
    for (let seed = 1; seed <= 20; seed += 1) moves += stay(opened(), LEVELS, 0, 120, spreadDb, random(seed));
    return moves / (20 * 120);
  };
  assert.ok(taken(DEFAULTS.fadingDb) < 0.25, `${taken(DEFAULTS.fadingDb)}`);
  assert.ok(taken(DEFAULTS.fadingDb / 2) < 0.02, `${taken(DEFAULTS.fadingDb / 2)}`);
});

test('a device that appears beside known ones is no movement, however many there are', () => {
  const hearing = opened();
  stay(hearing, LEVELS, 0, 30);
  const others = Object.fromEntries(Array.from({ length: 60 }, (_, k) => [100 + k, -90 - (k % 5)]));
  assert.equal(hearing.add(0, heard(others), T0 + 30_000), false);
  const known = recalled(hearing, T0 + 30_000);
  for (let k = 0; k < LEVELS.length; k += 1) assert.ok(known.has(10 + k), 'the stronger ones stay');
  assert.equal(known.size, DEFAULTS.remembered);
});

test('what is weaker than all that is remembered is not remembered; what is stronger takes the place of the weakest', () => {
  const hearing = opened();
  hearing.add(0, heard(Object.fromEntries(Array.from({ length: DEFAULTS.remembered }, (_, k) => [k, -60 - k]))), T0);
  hearing.add(0, heard({ 50: -95 }), T0 + 100);
  assert.ok(!recalled(hearing, T0 + 100).has(50));
  hearing.add(0, heard({ 51: -55 }), T0 + 200);
  const known = recalled(hearing, T0 + 200);
  assert.ok(known.has(51) && !known.has(DEFAULTS.remembered - 1));
});

test('a full report of a phone lowers what it left out; one that is not full, or of gateways, does not', () => {
  /** @param {'phone'|'gateway'} kind @param {Record<number, number>} second @param {number} [times] */
  const levelAfter = (kind, second, times = 1) => {
    const hearing = opened();
    hearing.add(0, heard({ 1: -60, 2: -65, 3: -70, 4: -75 }, kind), T0);
    for (let n = 1; n <= times; n += 1) hearing.add(0, heard(second, kind), T0 + n * 1000);
    return recalled(hearing, T0 + times * 1000).get(1)?.level ?? -Infinity;
  };
  const full = { 2: -65, 3: -70, 4: -75, 5: -80 };
  const once = levelAfter('phone', full);
  assert.ok(once > -80 && once < -70, `${once}`);
  assert.ok(levelAfter('phone', full, 2) < once);
  assert.equal(levelAfter('phone', full, 6), -Infinity, 'left out for long, it is forgotten');
  assert.equal(levelAfter('gateway', full), -60);
  assert.equal(levelAfter('phone', { 2: -65, 3: -70 }), -60);
});

test('a phone says nothing of what gateways heard of a tag of the same person', () => {
  const hearing = opened();
  hearing.add(0, heard({ [BEACONS]: -50, [BEACONS + 1]: -60 }), T0);
  hearing.add(0, heard({ 1: -70, 2: -75, 3: -80, 4: -85 }, 'phone'), T0 + 500);
  assert.deepEqual([BEACONS, BEACONS + 1].map((source) => recalled(hearing, T0 + 500).get(source)?.level), [-50, -60]);
});

test('people do not share what is remembered, and whoever comes into a slot begins with nothing', () => {
  const hearing = opened(50);
  hearing.add(3, heard({ 7: -50 }), T0);
  assert.equal(recalled(hearing, T0, 49).size, 0);
  assert.equal(recalled(hearing, T0, 3).size, 1);
  hearing.open(3);
  assert.equal(recalled(hearing, T0, 3).size, 0);
});

test('whatever is heard, what is remembered lies within it, or as much below as a beacon may be that a phone left out', () => {
  const moment = fc.record({ waitMs: fc.integer({ min: 0, max: 30_000 }), kind: fc.constantFrom(/** @type {const} */ ('phone'), /** @type {const} */ ('gateway')),
    levels: fc.dictionary(fc.nat(20).map(String), fc.integer({ min: -105, max: -30 }), { minKeys: 1, maxKeys: 16 }) });
  fc.assert(fc.property(fc.array(moment, { minLength: 1, maxLength: 40 }), (moments) => {
    const hearing = opened();
    let ms = T0;
    let [least, most] = [0, -Infinity];
    for (const { waitMs, kind, levels } of moments) {
      ms += waitMs;
      hearing.add(0, heard(levels, kind), ms);
      least = Math.min(least, ...Object.values(levels));
      most = Math.max(most, ...Object.values(levels));
      for (const { level, readings, ageS } of recalled(hearing, ms).values()) {
        assert.ok(level >= least - 1.5 * DEFAULTS.fadingDb && level <= most + 0.5, `${level} of ${least} to ${most}`);
        assert.ok(readings > 0 && readings <= 32 && ageS >= 0, `${readings} ${ageS}`);
      }
    }
  }));
});
