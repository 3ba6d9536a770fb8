'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createRecentStays } = require('../lib/past/recent');
const { reconciled } = require('../lib/past/stays');

const MIN = 60_000;
const stay = (enterMs, leaveMs, room = 'a', id = 'ann') => ({ ts: enterMs, staff_id: id, level: 'L1', room, enter_ms: enterMs,
  leave_ms: leaveMs, duration_s: (leaveMs - enterMs) / 1000 });

test('what was published goes before what is stored of the same beginning', () => {
  const recent = createRecentStays();
  recent.add([stay(10, 20), stay(30, 40, 'a', 'ben')], 0);
  recent.add([stay(10, 25)], 1);
  assert.deepEqual(recent.over('ann', [stay(10, 15), stay(0, 10)]), [stay(10, 25), stay(0, 10)]);
  assert.deepEqual(recent.over('cy', [stay(1, 2)]), [stay(1, 2)]);
});

test('a stay that is on its way into the database is taken back like a stored one', () => {
  const recent = createRecentStays();
  recent.add([stay(11, 21, 'b')], 0); // published as it ended, and not stored yet
  assert.deepEqual(reconciled(stay(10, 30, 'b'), recent.over('ann', [])), [stay(11, 11, 'b'), stay(10, 30, 'b')]);
});

test('after some minutes it is forgotten, and of each person the newest few are kept', () => {
  const recent = createRecentStays();
  recent.add(Array.from({ length: 40 }, (_, n) => stay(n, n + 1)), 0);
  assert.equal(recent.over('ann', []).length, 16);
  recent.add([stay(0, 1, 'a', 'ben')], 6 * MIN);
  assert.deepEqual([recent.over('ann', []).length, recent.over('ben', []).length], [0, 1]);
});

test('those that may not be stored yet are listed, but for those that were taken back', () => {
  const recent = createRecentStays();
  recent.add([stay(10, 20), stay(30, 40, 'b'), stay(30, 40, 'a', 'ben')], 0);
  recent.add([stay(10, 10)], 1);
  assert.deepEqual(recent.list(() => true), [stay(30, 40, 'b'), stay(30, 40, 'a', 'ben')]);
  assert.deepEqual(recent.list(({ room }) => room === 'b'), [stay(30, 40, 'b')]);
});
