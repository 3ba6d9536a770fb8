// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { DEFAULTS } = require('../../lib/locator/constants');
const { createLearnedStrengths } = require('../../lib/locator/learned-strengths');
const fc = require('../support/fast-check');

const READING_VARIANCE = 12; // of four devices, dB²

/** @param {number} [slots] */
function opened(slots = 1) {
  const strengths = createLearnedStrengths(DEFAULTS);
  for (let slot = 0; slot < slots; slot += 1) strengths.open(slot);
  return strengths;
}

/**
 * What evidence would hand over of a tag that is so much stronger: shrunk by what is known of its strength.
 * @param {ReturnType<typeof opened>} strengths @param {number} trueDb @param {number} seconds
 * @param {{slot?: number, place?: number, everyS?: number}} [how]
 */
function hear(strengths, trueDb, seconds, { slot = 0, place = 4, everyS = 1 } = {}) {
  for (let s = 0; s < seconds; s += everyS) {
    const common = strengths.commonOf(slot);
    const offDb = ((trueDb - strengths.meanOf(slot)) * common) / (common + READING_VARIANCE);
    strengths.learn(slot, everyS, offDb, READING_VARIANCE, place);
  }
}

test('at first nothing is known: none, give or take `levelDb`', () => {
  const { meanDb, variance } = opened().of(0);
  assert.deepEqual([meanDb, variance], [0, DEFAULTS.levelDb ** 2]);
});

test('a tag 15 dB stronger or weaker is learned within a minute, and known ever better', () => {
  for (const trueDb of [-15, 15]) {
    const strengths = opened();
    hear(strengths, trueDb, 60);
    const soon = strengths.of(0);
    assert.ok(Math.abs(soon.meanDb - trueDb) < 4, `${soon.meanDb}`);
    hear(strengths, trueDb, 600);
    const later = strengths.of(0);
    assert.ok(Math.abs(later.meanDb - trueDb) < 0.8, `${later.meanDb}`);
    assert.ok(later.variance < soon.variance && soon.variance < DEFAULTS.levelDb ** 2);
  }
});

test('a strength that changes is followed', () => {
  const strengths = opened();
  hear(strengths, 5, 1800);
  hear(strengths, -5, 3600);
  assert.ok(Math.abs(strengths.meanOf(0) + 5) < 1, `${strengths.meanOf(0)}`);
});

test('who may be anywhere teaches little; readings nearer in time than `levelS` teach no more for being many', () => {
  const [sure, unsure] = [opened(), opened()];
  hear(sure, 15, 8, { place: 1 });
  hear(unsure, 15, 8, { place: 400 });
  assert.ok(unsure.meanOf(0) < sure.meanOf(0) / 2);
  const [often, rarely] = [opened(), opened()];
  hear(often, 15, 40, { everyS: 1 });
  hear(rarely, 15, 40, { everyS: DEFAULTS.levelS });
  assert.ok(Math.abs(often.of(0).variance - rarely.of(0).variance) < 1);
});

test('whatever is heard, what is known stays within its bounds', () => {
  const moment = fc.record({ seconds: fc.double({ min: 0, max: 1e6, noNaN: true }), offDb: fc.double({ min: -60, max: 60, noNaN: true }),
    reading: fc.double({ min: 0.1, max: 1000, noNaN: true }), place: fc.double({ min: 0, max: 1000, noNaN: true }) });
  fc.assert(fc.property(fc.array(moment, { maxLength: 100 }), (moments) => {
    const strengths = opened();
    let largest = 0;
    for (const { seconds, offDb, reading, place } of moments) {
      const common = strengths.commonOf(0);
      const offBy = Math.max(-60, Math.min(60, offDb * (1 + reading / common)));
      largest = Math.max(largest, Math.abs(strengths.meanOf(0) + offBy));
      strengths.learn(0, seconds, offBy / (1 + reading / common), reading, place);
      const { meanDb, variance } = strengths.of(0);
      assert.ok(variance > 0 && variance <= DEFAULTS.levelDb ** 2 + 1e-3);
      assert.ok(Number.isFinite(meanDb) && Math.abs(meanDb) <= largest + 1e-3, `never beyond what was heard: ${meanDb}`);
      assert.ok(strengths.commonOf(0) >= DEFAULTS.carriedDb ** 2);
    }
  }));
});

test('people do not share strengths, and a strength that was learned before is taken over', () => {
  const strengths = opened(50);
  hear(strengths, 10, 300, { slot: 3 });
  assert.deepEqual(strengths.of(49), { meanDb: 0, variance: DEFAULTS.levelDb ** 2 });
  const known = strengths.of(3);
  strengths.open(200, known);
  assert.deepEqual(strengths.of(200), known);
  strengths.open(3);
  assert.equal(strengths.meanOf(3), 0);
});
