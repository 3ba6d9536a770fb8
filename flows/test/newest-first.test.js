'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { NewestFirst, BACKLOG_WAITS_MS, BEHIND_MS, OLD_MS, OVERLOADED_AFTER_MS, MAX_WAITING, RECOVERED_AFTER_MS, PIECE_MS } = require('../lib/live/newest-first');

/** A queue whose turns and clock are played: each batch takes its milliseconds to locate. */
function played({ costMs = PIECE_MS / 3 } = {}) {
  const [taken, skipped, faults, turns] = [[], [], [], []];
  const now = { ms: 0 };
  const queue = new NewestFirst({
    take: (batch) => {
      now.ms += batch.costMs ?? costMs;
      if (batch.bad) throw new Error('no');
      taken.push(batch);
    },
    skip: (batch) => skipped.push(batch),
    onFault: (error) => faults.push(error.message),
    later: (work) => turns.push(work), clockMs: () => now.ms,
  });
  const turn = () => turns.shift()?.();
  const settle = () => { while (turns.length > 0) turn(); };
  /** Batches that are `ageMs` old when they come. */
  const put = (batches, ageMs = 0) => batches.forEach((one) => queue.put([one], one.ts + ageMs));
  return { queue, put, taken, skipped, faults, turns, turn, settle, now };
}
const batch = (receiver, ts, more = {}) => ({ kind: 'phone', receiver, ts, readings: [], ...more });
const ids = (batches) => batches.map(({ receiver, ts }) => `${receiver}${ts}`);

/** Batches of one receiver that came at once, and then too little time for too long. */
function overloaded(receivers = ['a', 'b'], each = 3) {
  const rig = played({ costMs: BEHIND_MS });
  rig.put([batch('x', 0), batch('y', 0)]);
  for (let ts = 1; ts <= each; ts += 1) rig.put(receivers.map((receiver) => batch(receiver, ts)));
  rig.turn();
  rig.turn();
  return rig;
}

test('what comes is located in the order of arrival, in a later turn, a piece at a time', () => {
  const { queue, put, taken, skipped, turn, turns } = played();
  put(Array.from({ length: 7 }, (_, n) => batch('a', n)));
  assert.deepEqual([taken.length, turns.length, queue.size()], [0, 1, 7]);
  turn();
  assert.deepEqual([taken.length, turns.length, queue.size()], [3, 1, 4]);
  turn();
  turn();
  assert.deepEqual([ids(taken), turns.length, queue.size(), skipped], [['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6'], 0, 0, []]);
});

test('when the first in line waits too long for too long, only the newest of each receiver is located', () => {
  const { queue, taken, skipped, settle } = overloaded();
  assert.equal(queue.isBehind(), true);
  settle();
  assert.deepEqual(ids(taken), ['x0', 'y0', 'a3', 'b3']);
  assert.deepEqual(ids(skipped), ['a1', 'b1', 'a2', 'b2']);
});

test('a receiver keeps its place in line when a newer batch of it comes', () => {
  const { put, taken, turn, settle } = overloaded(['a', 'b', 'c'], 1);
  put([batch('c', 2), batch('a', 2)]);
  turn();
  put([batch('a', 3)]);
  settle();
  assert.deepEqual(ids(taken), ['x0', 'y0', 'a2', 'b1', 'c2', 'a3']);
});

test('a window that comes in parts is one, and what is older than what waits is left out', () => {
  const { put, taken, skipped, settle } = overloaded(['a'], 2);
  put([batch('a', 2, { part: 2 }), batch('a', 1)]);
  settle();
  assert.deepEqual([ids(taken), ids(skipped)], [['x0', 'y0', 'a2', 'a2'], ['a1', 'a1']]);
});

test('a stop of the process makes nothing be left out when the rest is located in time', () => {
  const { queue, put, taken, skipped, settle, now } = played();
  put(Array.from({ length: 100 }, (_, n) => batch('a', n)));
  now.ms += 10 * BEHIND_MS;
  settle();
  assert.deepEqual([taken.length, skipped.length, queue.isBehind()], [100, 0, false]);
});

test('one slow batch makes nothing be left out', () => {
  const { put, taken, skipped, settle } = played();
  put([batch('a', 0, { costMs: 2 * BEHIND_MS }), batch('a', 1), batch('a', 2)]);
  settle();
  assert.deepEqual([taken.length, skipped.length], [3, 0]);
});

test('more than memory should hold are not waited for', () => {
  const { put, skipped, settle } = played({ costMs: 0 });
  put(Array.from({ length: MAX_WAITING + 1 }, (_, n) => batch('a', n)));
  settle();
  assert.equal(skipped.length, MAX_WAITING);
});

test('it is over when for a second nothing waited for long and nothing was left out', () => {
  const { queue, put, taken, skipped, settle, now } = overloaded();
  settle();
  assert.equal(queue.isBehind(), true);
  now.ms += RECOVERED_AFTER_MS;
  assert.equal(queue.isBehind(), false);
  const before = skipped.length;
  put([batch('a', 10, { costMs: 0 }), batch('a', 11, { costMs: 0 })]);
  settle();
  assert.deepEqual([ids(taken.slice(-2)), skipped.length], [['a10', 'a11'], before]);
});

test('while behind, locating gets a third of the time, however much came since the last piece', () => {
  const rig = overloaded(['a', 'b', 'c', 'd'], 1);
  rig.settle();
  rig.now.ms += 20; // 20 ms of reading and checking
  rig.put(Array.from({ length: 5000 }, (_, n) => batch(`r${n % 50}`, n, { costMs: 1 })));
  const before = rig.taken.length;
  rig.turn();
  assert.equal(rig.taken.length - before, 10);
});

test('what waits at the end is taken at once', () => {
  const { queue, taken, skipped, turn } = overloaded();
  queue.drain();
  assert.deepEqual([ids(taken), skipped.length, queue.size(), queue.waitedMs()], [['x0', 'y0', 'a3', 'b3'], 4, 0, 0]);
  turn();
  assert.equal(taken.length, 4);
});

test('one that fails is reported and costs no other', () => {
  const { put, taken, faults, settle } = played();
  put([batch('a', 0), batch('a', 1, { bad: true }), batch('a', 2)]);
  settle();
  assert.deepEqual([ids(taken), faults], [['a0', 'a2'], ['no']]);
});

/** Batches of three receivers, later ones and backlogs, slow and fast, with turns and pauses between. */
const steps = fc.array(fc.oneof(
  fc.array(fc.record({ receiver: fc.constantFrom('a', 'b', 'c'), ts: fc.nat(40), costMs: fc.constantFrom(0, 1, 50, 300) }), { maxLength: 12 })
    .map((list) => ({ put: list.map(({ receiver, ts, costMs }) => batch(receiver, ts, { costMs })) })),
  fc.nat(12).map((turns) => ({ turns })),
  fc.nat(2 * RECOVERED_AFTER_MS).map((pauseMs) => ({ pauseMs })),
), { maxLength: 60 });

test('every batch is located or left out, once; never the newest of its receiver; all in order until it is behind', () => {
  let sawBehind = 0;
  fc.assert(fc.property(steps, (list) => {
    const { queue, taken, skipped, turn, settle, now } = played();
    const put = [];
    /** By receiver the newest that came: the plain model of what a viewer must see. */
    const newest = new Map();
    for (const step of list) {
      for (const one of step.put ?? []) {
        put.push(one);
        newest.set(one.receiver, Math.max(newest.get(one.receiver) ?? 0, one.ts));
      }
      if (step.put) queue.put(step.put, OLD_MS + 20); // half of them are a backlog
      for (let n = 0; n < (step.turns ?? 0); n += 1) turn();
      now.ms += step.pauseMs ?? 0;
    }
    settle();
    assert.equal(new Set([...taken, ...skipped]).size, put.length);
    assert.equal(taken.length + skipped.length, put.length);
    for (const [receiver, ts] of newest) {
      assert.ok(taken.some((one) => one.receiver === receiver && one.ts === ts), `the newest of ${receiver}`);
      assert.ok(!skipped.some((one) => one.receiver === receiver && one.ts === ts), `all parts of the newest of ${receiver}`);
    }
    if (skipped.length === 0 && !queue.isBehind()) assert.ok(taken.length === put.length);
    else sawBehind += 1;
    assert.equal(queue.size(), 0);
  }), { numRuns: 500 });
  assert.ok(sawBehind > 20, `only ${sawBehind} runs were behind`);
});

/** Behind, with a receiver's backlog, what it sends now, and the present of others. */
function withBacklog() {
  const rig = played({ costMs: BEHIND_MS });
  rig.put([batch('x', 0), batch('y', 0)]);
  rig.put([batch('kept', 1), batch('kept', 2)], OLD_MS + 1);
  rig.put([batch('kept', 3), batch('b', 1), batch('b', 2)]);
  rig.turn();
  rig.turn();
  assert.equal(rig.queue.isBehind(), true);
  return rig;
}

test('what a receiver kept is taken in order, after the present of others, and nothing of it is left out', () => {
  const { taken, skipped, settle } = withBacklog();
  settle();
  assert.deepEqual([ids(taken), ids(skipped)], [['x0', 'y0', 'b2', 'kept1', 'kept2', 'kept3'], ['b1']]);
});

test('what a receiver kept gives way for so long only', () => {
  const { put, taken, skipped, turn, settle, now } = withBacklog();
  for (let ts = 3; now.ms <= BACKLOG_WAITS_MS; ts += 1) {
    put([batch('b', ts), batch('c', ts)]);
    turn();
  }
  assert.ok(taken.every(({ receiver }) => receiver !== 'kept'));
  settle();
  assert.deepEqual([taken, skipped].map((list) => ids(list.filter(({ receiver }) => receiver === 'kept'))), [['kept3'], ['kept1', 'kept2']]);
});

test('while behind, whoever came in line is located after at most one batch of each other receiver', () => {
  const rig = overloaded(['a', 'b', 'c', 'd', 'e'], 2);
  rig.taken.length = 0;
  for (let n = 0; n < 50; n += 1) {
    rig.put(['a', 'b', 'c', 'd', 'e'].map((receiver) => batch(receiver, 10 + n)));
    rig.turn();
  }
  for (let k = 5; k < rig.taken.length; k += 1) {
    assert.equal(new Set(rig.taken.slice(k - 5, k).map(({ receiver }) => receiver)).size, 5, 'each has its turn');
  }
  assert.ok(rig.taken.length > 20 && OVERLOADED_AFTER_MS < BEHIND_MS);
});
