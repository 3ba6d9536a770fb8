// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { choose } = require('../../lib/locator/choose');
const { TUNING } = require('../../lib/locator/tuning');

const ROOMS = [{ storey: 0, open: false }, { storey: 0, open: false }, { storey: 1, open: false }];
const somebody = (sinceMs = 0) => ({
  room: 0, sinceMs, guess: false, sureMs: sinceMs, rival: -1, nats: 0, rivalMs: 0, last: -1, doubts: 0,
});
const STANDING = { touched: false, stood: 1, windowMs: 1000 };
const WALKING = { ...STANDING, stood: 0 };

/**
 * How many decisions with the same chances it takes to move.
 * @param {number[]} chances @param {number} ms @param {ReturnType<typeof somebody>} [choice]
 * @param {import('../../lib/locator/choose').Signs} [signs]
 */
function decisions(chances, ms, choice = somebody(), signs = STANDING, rooms = ROOMS) {
  const best = chances.indexOf(Math.max(...chances));
  for (let n = 1; n <= 1000; n += 1) if (choose(choice, Float64Array.from(chances), best, ms + n * 1000, signs, rooms, TUNING)) return n;
  return Infinity;
}

test('the first room is taken as it is', () => {
  const choice = { ...somebody(), room: -1 };
  assert.ok(choose(choice, Float64Array.of(0.2, 0.5, 0.3), 1, 5000, STANDING, ROOMS, TUNING));
  assert.deepEqual([choice.room, choice.sinceMs, choice.guess], [1, 5000, true]);
});

test('a clear challenger wins at once, a fair one after repeated wins, a doubtful one never', () => {
  assert.equal(decisions([0.0001, 0.9998, 0.0001], 1000), 1);
  const fair = decisions([0.08, 0.9, 0.02], 1000);
  assert.ok(fair > 1 && fair < 20, `${fair}`);
  assert.equal(decisions([0.4, 0.6, 0], 1000), Infinity);
});

test('the longer the stay, and on another level, the more it takes', () => {
  const chances = [0.08, 0.9, 0.02];
  assert.ok(decisions(chances, 600_000) > decisions(chances, 1000));
  assert.ok(decisions([0.08, 0.02, 0.9], 1000) > decisions(chances, 1000));
});

test('the longer the stay, the more it takes while somebody stands; who walks changes the room as easily as ever', () => {
  const fair = [0.08, 0.9, 0.02];
  assert.ok(decisions(fair, 600_000, somebody(), STANDING) > 2 * decisions(fair, 600_000, somebody(), WALKING));
  assert.equal(decisions(fair, 600_000, somebody(), WALKING), decisions(fair, 1000, somebody(), WALKING));
});

test('a challenger that falls back starts anew, and the change dates from a little before it began to lead', () => {
  const choice = somebody();
  const fair = Float64Array.of(0.08, 0.9, 0.02);
  const own = Float64Array.of(0.9, 0.08, 0.02);
  choose(choice, fair, 1, 1000, STANDING, ROOMS, TUNING);
  choose(choice, own, 0, 2000, STANDING, ROOMS, TUNING);
  assert.equal(choice.rival, -1);
  assert.ok(decisions([...fair], 2000, choice) > 1);
  const doubtMs = 3000 - 0; // 0.9 is not beyond doubt
  assert.equal(choice.sinceMs, 3000 - doubtMs * TUNING.dateShare - STANDING.windowMs / 2);
});

test('a change is sought between the last moment beyond doubt and the lead of the new room, and not too far back', () => {
  /** @param {number} sureMs @param {number} windowMs */
  const since = (sureMs, windowMs) => {
    const choice = { ...somebody(), sureMs };
    choose(choice, Float64Array.of(0.0001, 0.9998, 0.0001), 1, 100_000, { ...WALKING, windowMs }, ROOMS, TUNING);
    return choice.sinceMs;
  };
  assert.equal(since(100_000, 1000), 99_500);
  assert.equal(since(100_000, 4000), 98_000);
  assert.equal(since(98_000, 1000), 99_500 - 2000 * TUNING.dateShare);
  assert.equal(since(0, 1000), 99_500 - TUNING.lookBackMs * TUNING.dateShare);
});

test('whoever has just appeared was in the room found now all along', () => {
  const choice = { ...somebody(), room: -1 };
  choose(choice, Float64Array.of(0.6, 0.4, 0), 0, 50_000, STANDING, ROOMS, TUNING);
  assert.ok(decisions([0.0001, 0.9998, 0.0001], 52_000, choice) === 1);
  assert.deepEqual([choice.room, choice.sinceMs], [1, 50_000]);
  assert.ok(decisions([0.9998, 0.0001, 0.0001], 70_000, choice) > 0);
  assert.ok(choice.sinceMs > 60_000);
});

test('who walks through a wall is believed sooner than who walks about an open area, and than who stands', () => {
  const fair = [0.15, 0.83, 0.02];
  const open = ROOMS.map((room) => ({ ...room, open: true }));
  const walking = decisions(fair, 1000, somebody(), WALKING);
  assert.ok(walking < decisions(fair, 1000, somebody(), WALKING, open));
  assert.ok(walking < decisions(fair, 1000, somebody(), STANDING));
});

test('what is sure moves at once', () => {
  const choice = somebody();
  assert.ok(choose(choice, Float64Array.of(0.4, 0.6, 0), 1, 600_000, { ...STANDING, touched: true }, ROOMS, TUNING));
});

test('two rooms that are hard to tell apart do not alternate for ever', () => {
  const choice = somebody();
  let changes = 0;
  for (let s = 0; s < 600; s += 1) { // in turn for ten seconds each, as when standing at a thin wall
    const other = Math.floor(s / 10) % 2;
    const chances = other ? [0.05, 0.95, 0] : [0.95, 0.05, 0];
    if (choose(choice, Float64Array.from(chances), other, s * 1000, STANDING, ROOMS, TUNING)) changes += 1;
  }
  assert.ok(changes > 0 && changes < 15, `${changes} changes in 60 turns`);
});

const [HERE, THERE] = [[0.95, 0.05, 0], [0.05, 0.95, 0]];

/** Somebody who went to room 1 and came back. @param {import('../../lib/locator/choose').Signs} signs */
function backAgain(signs) {
  const choice = somebody();
  const there = decisions(THERE, 60_000, choice, signs);
  decisions(HERE, 60_000 + (there + 60) * 1000, choice, signs);
  return choice;
}

test('who comes back without having walked was never away, and does not go again so easily; who walks may', () => {
  const [stood, walked] = [backAgain(STANDING), backAgain(WALKING)];
  assert.deepEqual([stood.doubts, walked.doubts], [1, 0]);
  const ms = stood.sinceMs + 60_000;
  assert.ok(decisions(THERE, ms, { ...stood }, STANDING) > decisions(THERE, ms, { ...stood, doubts: 0 }, STANDING));
  assert.equal(decisions(THERE, ms, { ...stood }, WALKING), decisions(THERE, ms, { ...stood, doubts: 0 }, WALKING));
});

test('doubts are forgotten after a while, and lessened by another room', () => {
  const stood = backAgain(STANDING);
  const ms = stood.sinceMs + TUNING.doubtMs;
  assert.equal(decisions(THERE, ms, { ...stood }, STANDING), decisions(THERE, ms, { ...stood, doubts: 0 }, STANDING));
  const away = { ...stood };
  decisions([0.02, 0.03, 0.95], stood.sinceMs + 60_000, away, WALKING);
  assert.equal(away.doubts, TUNING.doubtsKept);
});

test('a first room is corrected at once as long as it was never beyond doubt; then it takes more', () => {
  const appeared = () => {
    const choice = { ...somebody(), room: -1 };
    choose(choice, Float64Array.of(0.6, 0.4, 0), 0, 50_000, STANDING, ROOMS, TUNING);
    return choice;
  };
  const sure = appeared();
  choose(sure, Float64Array.of(0.99, 0.01, 0), 0, 51_000, STANDING, ROOMS, TUNING);
  const [soon, late] = [decisions(THERE, 52_000, appeared()), decisions(THERE, 52_000, sure)];
  assert.ok(soon < late, `${soon} and ${late}`);
});

test('in an open area it takes more, and doubts do not count: people walk there without a sign', () => {
  const open = ROOMS.map((room) => ({ ...room, open: true }));
  const fair = [0.02, 0.96, 0.02];
  assert.ok(decisions(fair, 1000, somebody(), WALKING, open) > decisions(fair, 1000, somebody(), WALKING));
  assert.equal(decisions(fair, 1000, { ...somebody(), doubts: 5 }, STANDING, open), decisions(fair, 1000, somebody(), STANDING, open));
});
