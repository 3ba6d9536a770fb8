'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { Inbox, MAX_WAITING, PIECE_MS } = require('../lib/live/inbox');

/** An inbox whose turns and clock are played: each item takes its milliseconds. */
function played() {
  const taken = [];
  const turns = [];
  const ended = [];
  let nowMs = 0;
  const inbox = new Inbox((item) => {
    taken.push(item);
    nowMs += item.ms ?? PIECE_MS / 4;
  }, { after: () => ended.push(taken.length), later: (work) => turns.push(work), clockMs: () => nowMs });
  return { inbox, taken, ended, turns, turn: () => turns.shift()?.() };
}

test('what came is taken in a later turn, a piece at a time, and others have their turn between', () => {
  const { inbox, taken, ended, turns, turn } = played();
  for (let n = 0; n < 10; n += 1) inbox.put({ n });
  assert.deepEqual([taken.length, turns.length, inbox.size()], [0, 1, 10]);
  turn();
  assert.deepEqual([taken.length, turns.length, inbox.size(), ended], [4, 1, 6, [4]]);
  turn();
  turn();
  assert.deepEqual([taken.map(({ n }) => n), turns.length, inbox.size()], [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 0, 0]);
  inbox.put({ n: 10 });
  turn();
  assert.equal(taken.length, 11);
});

test('no more than so many wait: then they are taken without a break', () => {
  const { inbox, taken, turn } = played();
  for (let n = 0; n < 3 * MAX_WAITING; n += 1) inbox.put({ n });
  turn();
  assert.equal(inbox.size(), MAX_WAITING - 1);
  assert.equal(taken.length, 2 * MAX_WAITING + 1);
});

test('what waits at the end is taken at once', () => {
  const { inbox, taken, turn } = played();
  for (let n = 0; n < 20; n += 1) inbox.put({ n });
  inbox.drain();
  assert.deepEqual([taken.length, inbox.size()], [20, 0]);
  turn();
  assert.equal(taken.length, 20);
});

test('one that fails to be taken costs no other', () => {
  const taken = [];
  const turns = [];
  const inbox = new Inbox((item) => {
    if (item === 'bad') throw new Error('no');
    taken.push(item);
  }, { later: (work) => turns.push(work), clockMs: () => 0 });
  for (const item of ['a', 'bad', 'b']) inbox.put(item);
  assert.throws(() => turns.shift()(), /no/);
  inbox.put('c');
  while (turns.length > 0) turns.shift()();
  assert.deepEqual(taken, ['a', 'b', 'c']);
});

test('every item is taken once and in order, however they come', () => {
  fc.assert(fc.property(fc.array(fc.oneof(fc.nat(7).map((ms) => ({ ms })), fc.constant('turn')), { maxLength: 300 }), (steps) => {
    const { inbox, taken, turns, turn } = played();
    const put = [];
    for (const step of steps) {
      if (step === 'turn') turn();
      else {
        put.push(step);
        inbox.put(step);
      }
    }
    while (turns.length > 0) turn();
    assert.deepEqual(taken, put);
    assert.equal(inbox.size(), 0);
  }));
});
