'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createUniqueTimestamps } = require('../lib/http/hacs');

test('timestamps of one key are unique, and none is far from the clock', () => {
  let now = 1000;
  const moment = createUniqueTimestamps(() => now);
  const all = Array.from({ length: 900 }, () => moment('a'));
  assert.equal(new Set(all).size, 900);
  assert.deepEqual([all[0], all.at(-1), moment('b')], [1000, 1899, 1000]);
  for (let i = 0; i < 500; i += 1) assert.ok(moment('a') <= now + 1000);
  now = 5000;
  assert.equal(moment('a'), 5000);
});
