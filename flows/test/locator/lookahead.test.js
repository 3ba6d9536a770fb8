// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { DEFAULTS } = require('../../lib/locator/constants');
const { createLookahead } = require('../../lib/locator/lookahead');
const fc = require('../support/fast-check');

const ROOMS = 9;
const START_S = 1_700_000_000;

/**
 * One person's lookahead, one second after the other.
 * @param {{settings?: any, slot?: number, lookahead?: any}} [how]
 */
function scene({ settings = DEFAULTS, slot = 0, lookahead = createLookahead(settings) } = {}) {
  lookahead.open(slot);
  let second = START_S;
  /** @type {any[]} */
  const decided = [];
  const take = (/** @type {any} */ one) => decided.push(one);
  return {
    lookahead,
    decided,
    /** The room of each second decided, by the second's number. */
    rooms: () => decided.map(({ room }) => room),
    /** @param {Record<number, number>} chances of rooms, for so many seconds @param {number} [seconds] @param {number} [gapS] */
    hear(chances, seconds = 1, gapS = 1) {
      const all = new Float64Array(ROOMS);
      for (const [room, chance] of Object.entries(chances)) all[Number(room)] = chance;
      const rooms = Int32Array.from(Object.keys(chances), Number);
      for (let n = 0; n < seconds; n += 1) {
        const best = rooms.reduce((a, b) => (all[b] > all[a] ? b : a));
        lookahead.add(slot, { second, beacon: `B${second % 3}`, rssi: -50 - (second % 40), room: best }, second * 1000, take);
        lookahead.note(slot, { rooms, count: rooms.length }, all);
        second += gapS;
      }
    },
    finish: () => lookahead.finish(slot, take),
  };
}

test('a second is decided when `lookaheadS` more are known, each once and in order, with what was heard then', () => {
  const step = fc.tuple(fc.integer({ min: 0, max: ROOMS - 1 }), fc.integer({ min: 1, max: 12 }));
  fc.assert(fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (heard) => {
    const one = scene();
    /** @type {number[]} */
    const seconds = [];
    let at = START_S;
    for (const [room, gapS] of heard) {
      one.hear({ [room]: 1 }, 1, gapS);
      seconds.push(at);
      assert.deepEqual(one.decided.map(({ second }) => second), seconds.filter((second) => second + DEFAULTS.lookaheadS < at));
      assert.equal(one.lookahead.openFromMs(0), seconds[one.decided.length] * 1000);
      at += gapS;
    }
    one.finish();
    assert.deepEqual(one.decided.map(({ second }) => second), seconds);
    assert.ok(one.decided.every(({ second, beacon, rssi }) => beacon === `B${second % 3}` && rssi === -50 - (second % 40)));
    assert.equal(one.lookahead.openFromMs(0), Infinity);
  }));
});

test('a room that is likelier for two seconds only was never entered', () => {
  const one = scene();
  one.hear({ 1: 0.9, 2: 0.1 }, 20);
  one.hear({ 1: 0.2, 2: 0.8 }, 2);
  one.hear({ 1: 0.9, 2: 0.1 }, 20);
  one.finish();
  assert.deepEqual([...new Set(one.rooms())], [1]);
  assert.deepEqual(one.decided.filter(({ reported }) => reported === 2).map(({ second }) => second - START_S), [20, 21], 'live said so');
});

test('a change lies where the room became likelier, and ends the stay of before there', () => {
  const one = scene();
  one.hear({ 1: 0.95, 2: 0.05 }, 30);
  one.hear({ 1: 0.05, 2: 0.95 }, 30);
  one.finish();
  const [change, ...more] = one.decided.filter(({ before }) => before >= 0);
  assert.equal(more.length, 0);
  assert.ok(Math.abs(change.second - START_S - 30) <= DEFAULTS.lookaheadS / 2 + 1, `${change.second - START_S}`);
  assert.deepEqual([change.before, change.beforeMs, change.sinceMs], [1, START_S * 1000, change.second * 1000]);
  assert.deepEqual([one.lookahead.roomOf(0), one.lookahead.sinceOf(0)], [2, change.sinceMs]);
});

test('a room that is likelier for four seconds only was never entered, nor one that somebody rarely heard was in once', () => {
  for (const [seconds, gapS] of [[4, 1], [1, 3], [1, 7]]) {
    const one = scene();
    one.hear({ 1: 0.95, 2: 0.05 }, 20, gapS);
    one.hear({ 1: 0.1, 2: 0.9 }, seconds, gapS);
    one.hear({ 1: 0.95, 2: 0.05 }, 20, gapS);
    one.finish();
    assert.deepEqual([...new Set(one.rooms())], [1], `${seconds} times, each ${gapS} s`);
  }
});

test('nobody leaves a room before the second in front of that in which the new one leads', () => {
  const one = scene();
  one.hear({ 1: 0.99, 2: 0.01 }, 30);
  one.hear({ 1: 0.001, 2: 0.999 }, 30);
  one.finish();
  const [change] = one.decided.filter(({ before }) => before >= 0);
  assert.equal(change.second - START_S, 29, 'the mean lead alone would have said so seconds earlier');
});

test('the gap is the mean time between the seconds that are open, whether the last one is among them or not', () => {
  for (const gapS of [1, 2, 3, 7]) {
    const one = scene();
    assert.equal(one.lookahead.gapOf(0, START_S), 1, 'nothing is open');
    one.hear({ 1: 1 }, 10, gapS);
    const last = START_S + 9 * gapS;
    assert.deepEqual([last, last + gapS].map((second) => one.lookahead.gapOf(0, second)), [gapS, gapS]);
  }
  const one = scene();
  one.hear({ 1: 1 }, 1);
  assert.equal(one.lookahead.gapOf(0, START_S + 20), 20);
});

test('of more beacons than 16 bits can number each keeps its name', () => {
  const lookahead = createLookahead(DEFAULTS);
  /** @type {any[]} */
  const decided = [];
  const take = (/** @type {any} */ one) => decided.push(one);
  const chances = Float64Array.of(1);
  lookahead.open(0);
  for (let n = 0; n < 66_000; n += 1) {
    lookahead.add(0, { second: START_S + n, beacon: `B${n}`, rssi: -50, room: 0 }, (START_S + n) * 1000, take);
    lookahead.note(0, { rooms: Int32Array.of(0), count: 1 }, chances);
    if (n === 65_990) lookahead.open(1); // others come when the numbers are wide already
  }
  lookahead.finish(0, take);
  assert.ok(decided.every(({ beacon, second }, n) => beacon === `B${n}` && second === START_S + n));
});

test('what follows `finish` says nothing about before', () => {
  const one = scene();
  one.hear({ 1: 0.6, 2: 0.4 }, 4);
  one.finish();
  one.hear({ 2: 1 }, 10);
  one.finish();
  assert.deepEqual(one.rooms(), [1, 1, 1, 1, ...new Array(10).fill(2)]);
});

test('of more possible rooms than are kept the likeliest count, whatever their order', () => {
  const chances = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { minLength: ROOMS, maxLength: ROOMS });
  fc.assert(fc.property(chances, (shares) => {
    const one = scene();
    one.hear(Object.fromEntries(shares.map((share, room) => [room, share / 5000])), 3);
    one.finish();
    const ranks = [...shares].sort((a, b) => b - a);
    // a quantum apart is all the same
    const found = one.rooms().map((room) => shares[room]);
    assert.ok(found.every((share) => Math.log(ranks[0] / share) < 0.1), `${found} of ${ranks}`);
  }));
});

test('people do not share a lookahead, however many there are', () => {
  const lookahead = createLookahead(DEFAULTS);
  const people = Array.from({ length: 40 }, (_, slot) => scene({ lookahead, slot }));
  people.forEach((one, slot) => one.hear({ [slot % ROOMS]: 1 }, 12));
  people.forEach((one, slot) => {
    one.finish();
    assert.deepEqual([...new Set(one.rooms())], [slot % ROOMS]);
  });
});

test('somebody known to be in a room has been there since', () => {
  const lookahead = createLookahead(DEFAULTS);
  const one = scene({ lookahead });
  lookahead.open(0, 3, 5000);
  one.hear({ 3: 1 }, 8);
  one.finish();
  assert.deepEqual([...new Set(one.decided.map(({ room, sinceMs, before }) => `${room} ${sinceMs} ${before}`))], ['3 5000 -1']);
});
