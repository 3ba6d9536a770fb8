'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createRepeats, ARRIVED_MS } = require('../../lib/past/late-times');

const MIN = 60_000;
const part = (fromMs, toMs, ...staff) => ({ fromMs, toMs, staff: staff.length > 0 ? staff : null });

test('what is over is given once, and counts until it is stored', () => {
  const repeats = createRepeats({}, () => {});
  repeats.add(part(0, 2 * MIN, 'ann'));
  assert.deepEqual(repeats.takeDue(MIN), [], 'it goes on');
  assert.equal(repeats.firstMs(-MIN, MIN, ['ann']), 0);
  assert.equal(repeats.firstMs(-MIN, MIN, ['ben']), Infinity);
  assert.equal(repeats.firstMs(-MIN, MIN, null), 0, 'everybody, and each one');
  const [due, ...others] = repeats.takeDue(2 * MIN);
  assert.deepEqual([due, others], [part(0, 2 * MIN, 'ann'), []]);
  assert.deepEqual(repeats.takeDue(3 * MIN), []);
  repeats.done(due, 3 * MIN);
  repeats.finishStored(3 * MIN + ARRIVED_MS - 1);
  assert.equal(repeats.count(), 1);
  repeats.finishStored(3 * MIN + ARRIVED_MS);
  assert.deepEqual([repeats.count(), repeats.firstMs(0, MIN, null)], [0, Infinity]);
});

test('several who were late at the same time are one part, everybody is another', () => {
  const repeats = createRepeats({}, () => {});
  repeats.add(part(0, 2 * MIN, 'ann', 'ben'));
  repeats.add(part(MIN, 3 * MIN, 'cy'));
  repeats.add(part(MIN, 2 * MIN));
  repeats.add(part(8 * MIN, 9 * MIN, 'ann'));
  assert.deepEqual(repeats.takeDue(9 * MIN), [part(MIN, 2 * MIN), part(0, 3 * MIN, 'ann', 'ben', 'cy'), part(8 * MIN, 9 * MIN, 'ann')]);
});

test('who is late all the time is located once more in pieces', () => {
  const repeats = createRepeats({}, () => {});
  for (let at = 0; at < 30; at += 1) repeats.add(part(at * MIN, (at + 2) * MIN, 'ann'));
  assert.deepEqual(repeats.takeDue(12 * MIN), [part(0, 12 * MIN, 'ann')]);
  assert.deepEqual(repeats.takeDue(13 * MIN), []);
});

test('a kill loses none: what was given is given again', () => {
  const repeats = createRepeats({}, () => {});
  repeats.add(part(0, MIN, 'ann'));
  repeats.takeDue(MIN);
  const again = createRepeats(JSON.parse(JSON.stringify(repeats.toJSON())), () => {});
  assert.deepEqual(again.takeDue(MIN), [part(0, MIN, 'ann')]);
});

test('each change is announced, to be saved', () => {
  let changes = 0;
  const repeats = createRepeats({}, () => { changes += 1; });
  repeats.add(part(0, MIN, 'ann'));
  repeats.add(part(0, MIN, 'ann'));
  const [due] = repeats.takeDue(MIN);
  repeats.done(due, MIN);
  repeats.finishStored(MIN + ARRIVED_MS);
  repeats.finishStored(2 * MIN);
  assert.equal(changes, 2);
});
