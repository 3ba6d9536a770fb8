'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createChoice, MARGIN_MS } = require('../lib/store/replicas');

const NOW = 1_800_000_000_000;

test('the newer heartbeat wins, and a heartbeat that is on its way changes nothing', () => {
  const choice = createChoice();
  choice.answered(0, NOW);
  choice.answered(1, NOW + 5000);
  assert.equal(choice.current(), 0, 'the other one was only asked later');
  choice.answered(1, NOW + MARGIN_MS);
  assert.equal(choice.current(), 0);
  choice.answered(1, NOW + MARGIN_MS + 1);
  assert.deepEqual([choice.current(), choice.switches()], [1, 1]);
});

test('one that has no heartbeat yet is behind only when the other one has had several', () => {
  const choice = createChoice();
  choice.answered(1, NOW);
  choice.answered(0, null);
  choice.answered(1, NOW + 5000);
  assert.equal(choice.current(), 0);
  choice.answered(1, NOW + 10_000);
  assert.equal(choice.current(), 1);
});

test('one that fails is left at once, and not returned to while the other works', () => {
  const choice = createChoice();
  choice.answered(0, NOW);
  choice.answered(1, NOW);
  choice.failed(0, 'no answer');
  assert.deepEqual([choice.current(), choice.fallback()], [1, null]);
  for (let beat = 1; beat < 20; beat += 1) {
    choice.answered(1, NOW + beat * 5000);
    choice.answered(0, NOW + beat * 5000 + 1);
    choice.failed(0, 'no answer');
  }
  assert.deepEqual([choice.current(), choice.switches()], [1, 1]);
  choice.answered(0, NOW + 95_000);
  assert.equal(choice.fallback(), 0);
});

test('with both away the choice stays, and the first that answers is read from', () => {
  const choice = createChoice();
  choice.failed(0, 'no answer');
  choice.failed(1, 'no answer');
  assert.equal(choice.current(), 1);
  choice.answered(0, NOW);
  assert.equal(choice.current(), 0);
});

test('one that lacks a part of the past is not read from, even if the other fails', () => {
  const choice = createChoice();
  choice.answered(0, NOW);
  choice.answered(1, NOW + 60_000);
  choice.compared([0, 9]);
  assert.equal(choice.current(), 0, 'a newer heartbeat is no reason either');
  choice.failed(0, 'no answer');
  assert.deepEqual([choice.current(), choice.fallback()], [0, null]);
  choice.compared([0, 0]);
  assert.equal(choice.current(), 1);
});

test('two that lack different parts are as good as each other', () => {
  const choice = createChoice([2, 5]);
  choice.failed(0, 'no answer');
  assert.equal(choice.current(), 1);
});
