'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createStore } = require('../lib/store');

test('how sure a stored location is: unknown of an earlier version, and no runner-up that a point of before left', async () => {
  const rows = [[1, 'L1', 'a', 'B', -60, null, null, null], [2, 'L1', 'a', 'B', -60, 0, 'b', null], [3, 'L1', 'a', 'B', -60, 100, 'b', true],
    [4, 'L1', 'a', 'B', -60, 99, '', false]];
  const people = createStore({ query: async () => [{ tags: {}, columns: [], rows }] });
  assert.deepEqual((await people.placesOf('0', 0, 10, 10)).map(({ probability, runner_up: other, corrected }) => [probability, other, corrected]),
    [[null, null, undefined], [0, 'b', undefined], [1, null, true], [0.99, null, undefined]]);
});
