'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createAttempts } = require('../lib/access');

const T = 1_700_000_000_000;

/** Attempts with so many failures of an address. */
function failing(address, count, bounds = {}) {
  const attempts = createAttempts(bounds);
  for (let i = 0; i < count; i += 1) attempts.failed(address, T);
  return attempts;
}

test('below the limit nobody waits, above it checks take turns, and others are not touched', () => {
  const attempts = failing('192.0.2.1', 9);
  assert.equal(attempts.delayMs('192.0.2.1', T), 0);
  attempts.failed('192.0.2.1', T);
  assert.deepEqual([1, 2, 3].map(() => attempts.delayMs('192.0.2.1', T)), [1000, 2000, 3000]);
  assert.equal(attempts.waitS('192.0.2.1', T), 300);
  assert.deepEqual([attempts.delayMs('192.0.2.2', T), attempts.waitS('192.0.2.2', T)], [0, 0]);
  assert.equal(attempts.delayMs('192.0.2.1', T + 300_000), 0);
});

test('only so many wait, and turns that were not used are gone', () => {
  const attempts = failing('192.0.2.1', 10, { waiting: 3 });
  assert.deepEqual([1, 2, 3, 4].map(() => attempts.delayMs('192.0.2.1', T)), [1000, 2000, 3000, null]);
  assert.equal(attempts.delayMs('192.0.2.1', T + 1000), 3000);
  assert.equal(attempts.delayMs('192.0.2.1', T + 60_000), 0);
  assert.equal(attempts.delayMs('192.0.2.1', T + 60_000), 1000);
});

test('an IPv6 caller is its /64, an IPv4 one its address, mapped or not', () => {
  for (const [one, other, same] of [['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', true], ['2001:db8:1:2::1', '2001:0db8:0001:0002::1', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false], ['2001:db8::1', '2001:db8:0:1::1', false], ['::1', '::2', true],
    ['192.0.2.1', '192.0.2.2', false], ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false]]) {
    assert.equal(failing(one, 10).waitS(other, T) > 0, same, `${one} ${other}`);
  }
});

test('addresses are forgotten, the oldest first', () => {
  const attempts = failing('192.0.2.1', 10, { addresses: 2 });
  attempts.failed('192.0.2.2', T);
  attempts.failed('192.0.2.3', T);
  assert.equal(attempts.waitS('192.0.2.1', T), 0);
});
