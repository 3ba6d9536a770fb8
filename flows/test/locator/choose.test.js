// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { choose, delayOf, leadOf, neededLiveOf, neededOf } = require('../../lib/locator/choose');
const { DEFAULTS } = require('../../lib/locator/constants');
const fc = require('../support/fast-check');

const DELAY_MS = delayOf(DEFAULTS);
const MINUTE = 60_000;

/** Somebody who is in room 0 since then. @param {number} [sinceMs] @param {Partial<import('../../lib/locator/choose').Choice>} [more] */
const somebody = (sinceMs = 0, more = {}) => ({
  room: 0, sinceMs, guess: false, last: -1, lastStayMs: 0, rival: 0, rivalAfterMs: 0, ...more,
});

/** One decision. @param {ReturnType<typeof somebody>} choice @param {number[]} chances @param {number} ms @param {boolean} [touched]
 * @param {number} [gapS] */
const decide = (choice, chances, ms, touched = false, gapS = 1) =>
  choose(choice, Float64Array.from(chances), chances.indexOf(Math.max(...chances)), { ms, touched, gapS }, DEFAULTS);

/** Chances of three rooms where room 1 leads room 0 by so much. @param {number} nats */
const leading = (nats) => {
  const odds = Math.exp(nats);
  return [0.9 / (1 + odds), (0.9 * odds) / (1 + odds), 0.1];
};

const [HERE, THERE] = [[0.98, 0.01, 0.01], [0.01, 0.98, 0.01]];

test('the first room is taken as it is', () => {
  const choice = somebody(0, { room: -1 });
  assert.equal(decide(choice, [0.2, 0.5, 0.3], 5000), 'moved');
  assert.deepEqual([choice.room, choice.sinceMs, choice.guess], [1, 5000, true]);
});

test('a clear challenger wins at once, one that leads by less than it takes never', () => {
  assert.equal(decide(somebody(), THERE, 1000), 'moved');
  const choice = somebody();
  for (let s = 1; s <= 1000; s += 1) assert.equal(decide(choice, [0.4, 0.6, 0], s * 1000), 'none');
  assert.equal(choice.room, 0);
});

test('it takes exactly the lead that is asked for, and more of who is settled or heard rarely', () => {
  for (const minutes of [0, 1, 10]) {
    for (const gapS of minutes < 10 ? [0.5, 1, 3, 30] : [1]) { // leads are bounded
      const ms = minutes * MINUTE;
      const needed = neededLiveOf(somebody(), ms, gapS, DEFAULTS);
      assert.equal(decide(somebody(), leading(needed - 0.02), ms, false, gapS), 'none', `${minutes} min, ${gapS} s`);
      assert.equal(decide(somebody(), leading(needed + 0.02), ms, false, gapS), 'moved', `${minutes} min, ${gapS} s`);
    }
  }
});

test('live asks for as much more as windows lie between two readings, `liveGaps` at most', () => {
  const live = DEFAULTS.liveShare * DEFAULTS.changeNats;
  const gaps = [0.2, 1, 1.5, 3, 4, 20].map((gapS) => neededLiveOf(somebody(), 0, gapS, DEFAULTS) / live);
  gaps.forEach((gap, k) => assert.ok(Math.abs(gap - [1, 1, 1.5, 3, 4, 4][k]) < 1e-9, `${gap}`));
});

test('history asks for more of a lead that is the mean of few seconds', () => {
  const needed = [1, 2, 9].map((seconds) => neededOf(somebody(), 0, seconds, DEFAULTS) / DEFAULTS.changeNats);
  needed.forEach((one, k) => assert.ok(Math.abs(one - [2, 1.5, 10 / 9][k]) < 1e-9, `${one}`));
});

test('history and live ask for a lead of their own, who is settled for as much more in both', () => {
  /** @param {{sinceMs: number}} stay @param {number} ms */
  const history = (stay, ms) => neededOf(stay, ms, 9, DEFAULTS);
  /** @param {{sinceMs: number}} stay @param {number} ms */
  const live = (stay, ms) => neededLiveOf(stay, ms, 1, DEFAULTS);
  assert.equal(live(somebody(), 0), DEFAULTS.liveShare * DEFAULTS.changeNats);
  const apart = history(somebody(), 0) - live(somebody(), 0);
  assert.ok(apart > 0);
  for (const needed of [history, live]) {
    const [none, one, ten] = [0, MINUTE, 10 * MINUTE].map((ms) => needed(somebody(), ms));
    assert.ok(ten > one + DEFAULTS.settledNats && one > none);
    assert.equal(needed(somebody(5000), 0), none, 'a clock that went back settles nobody');
    assert.ok(Math.abs(history(somebody(), MINUTE) - live(somebody(), MINUTE) - apart) < 1e-9);
  }
});

test('a lead is bounded: a room that is nearly impossible is not infinitely far behind', () => {
  fc.assert(fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (chance) => {
    const lead = leadOf(Float64Array.of(chance, 1 - chance), 1, 0, DEFAULTS);
    assert.ok(Number.isFinite(lead) && Math.abs(lead) <= Math.log(1 / DEFAULTS.least + 1));
    assert.ok(Math.abs(lead + leadOf(Float64Array.of(chance, 1 - chance), 0, 1, DEFAULTS)) < 1e-9);
  }));
});

test('what a beacon on purpose says moves at once, as of now', () => {
  const choice = somebody();
  assert.equal(decide(choice, [0.4, 0.6, 0], 100 * MINUTE, true), 'moved');
  assert.deepEqual([choice.room, choice.sinceMs], [1, 100 * MINUTE]);
});

test('a change dates from a delay before the new room began to lead, two delays at most, and not from before they came', () => {
  const choice = somebody();
  decide(choice, leading(0.5), 50_000);
  decide(choice, leading(0.6), 50_500);
  assert.equal(decide(choice, THERE, 51_000), 'moved');
  assert.equal(choice.sinceMs, 50_000 - DELAY_MS);
  const late = somebody();
  decide(late, leading(0.5), 50_000);
  assert.equal(decide(late, THERE, 55_000), 'moved');
  assert.equal(late.sinceMs, 55_000 - 2 * DELAY_MS, 'locations of before then are not corrected');
  const soon = somebody(20_000);
  assert.equal(decide(soon, THERE, 20_500), 'moved');
  assert.equal(soon.sinceMs, 20_000);
});

test('a challenger that falls back begins anew, and so does one after another', () => {
  const choice = somebody();
  decide(choice, leading(0.5), 50_000);
  decide(choice, HERE, 52_000);
  decide(choice, leading(0.5), 60_000);
  decide(choice, [0.2, 0.2, 0.6], 62_000);
  decide(choice, leading(0.5), 64_000);
  assert.equal(decide(choice, THERE, 65_000), 'moved');
  assert.equal(choice.sinceMs, 64_000 - DELAY_MS);
});

test('whoever has just appeared was in the room found now all along; later on that is a change', () => {
  const appeared = () => {
    const choice = somebody(0, { room: -1 });
    decide(choice, [0.6, 0.4, 0], 50_000);
    return choice;
  };
  const soon = appeared();
  assert.equal(decide(soon, THERE, 52_000), 'moved');
  assert.deepEqual([soon.room, soon.sinceMs, soon.last], [1, 50_000, -1]);
  const late = appeared();
  assert.equal(decide(late, THERE, 50_000 + 2 * DELAY_MS + 4000), 'moved');
  assert.deepEqual([late.room, late.last, late.guess], [1, 0, false]);
  assert.ok(late.sinceMs > 52_000);
});

test('who is back before they can have been away was never away: the earlier stay goes on', () => {
  const choice = somebody();
  decide(choice, HERE, 100_000);
  assert.equal(decide(choice, THERE, 102_000), 'moved');
  const leftMs = choice.sinceMs;
  assert.equal(decide(choice, HERE, leftMs + 2 * DELAY_MS), 'returned');
  assert.deepEqual([choice.room, choice.sinceMs, choice.last], [0, 0, 1]);
  assert.equal(decide(choice, THERE, leftMs + 2 * DELAY_MS + 100), 'moved', 'what was a mistake is no room to return to');
  assert.notEqual(choice.sinceMs, leftMs);
});

test('who is back later was away, and a third room is no return', () => {
  const away = somebody();
  decide(away, THERE, 100_000);
  assert.equal(decide(away, HERE, away.sinceMs + 2 * DELAY_MS + 1), 'moved');
  assert.ok(away.sinceMs > 90_000);
  const on = somebody();
  decide(on, THERE, 100_000);
  assert.equal(decide(on, [0.01, 0.01, 0.98], 101_000), 'moved');
  assert.equal(on.room, 2);
});

test('two rooms that are hard to distinguish do not alternate: leads below what it takes change nothing', () => {
  const choice = somebody();
  for (let s = 0; s < 3600; s += 1) { // in turn for ten seconds each, as when standing at a thin wall
    const nats = Math.floor(s / 10) % 2 ? DEFAULTS.liveShare * DEFAULTS.changeNats - 0.1 : -2;
    assert.equal(decide(choice, leading(nats), s * 1000), 'none');
  }
});

test('whatever the chances, no stay begins in the future or before the last one', () => {
  const step = fc.record({ wait: fc.integer({ min: 0, max: 60_000 }), best: fc.nat(2),
    nats: fc.double({ min: 0, max: 8, noNaN: true }), touched: fc.boolean() });
  fc.assert(fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
    const choice = somebody(0, { room: -1 });
    let ms = 1000;
    for (const { wait, best, nats, touched } of steps) {
      ms += wait;
      const before = { ...choice };
      const odds = Math.exp(nats);
      const change = decide(choice, [0, 1, 2].map((room) => (room === best ? odds : 1) / (odds + 2)), ms, touched);
      assert.ok(choice.sinceMs <= ms && choice.room >= 0 && choice.room < 3);
      if (change === 'none') assert.deepEqual([choice.room, choice.sinceMs], [before.room, before.sinceMs]);
      if (change === 'moved' && before.room >= 0) assert.ok(choice.sinceMs >= before.sinceMs && choice.room !== before.room);
      if (change === 'returned') assert.ok(choice.room === before.last && choice.sinceMs === before.sinceMs - before.lastStayMs);
    }
  }));
});
