'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createMissed } = require('../lib/rebuild/missed');

const T = 1_700_000_000_000;
const batch = (s, receiver = '1') => ({ kind: 'phone', receiver, ts: T + s * 1000, readings: [] });

/** With what it tells, in seconds. */
function rig(bound) {
  const told = [];
  return { told, missed: createMissed(({ ts }) => told.push((ts - T) / 1000), T - 90_000, bound) };
}

test('what comes of a time that is read, and was not heard there, is missed', () => {
  const { told, missed } = rig();
  missed.hear(batch(-200)); // before the reading begins
  missed.hear(batch(-50));
  missed.hear(batch(-150));
  missed.begin(T - 160_000);
  missed.replayed(batch(-300)); // to warm up: of that nothing is told
  missed.hear(batch(-300));
  missed.reading(T - 100_000);
  missed.hear(batch(-130)); // is heard later, although it came late
  missed.hear(batch(-120)); // is not
  missed.hear(batch(-60)); // will be read
  missed.replayed(batch(-130));
  missed.hear(batch(-130)); // again
  missed.reading(T - 120_000); // never goes back
  missed.hear(batch(-110));
  missed.end();
  assert.deepEqual(told, [-200, -300, -120, -110]);
  missed.end();
  assert.equal(told.length, 4, 'once');
});

test('no more is kept than a bound', () => {
  const { told, missed } = rig(3);
  missed.begin(T);
  for (let s = -10; s < 0; s += 1) missed.hear(batch(s));
  assert.equal(told.length, 8);
});
