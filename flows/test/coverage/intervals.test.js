'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../support/fast-check');
const { createIntervals, EVERYBODY, LOCATED, RUNNING, WAITING } = require('../../lib/past/intervals');

const SPAN = 40;
const PEOPLE = ['0', '1', '2'];
const SUBJECTS = [EVERYBODY, ...PEOPLE];
const state = fc.constantFrom(LOCATED, WAITING, RUNNING);
const time = fc.tuple(fc.nat(SPAN), fc.nat(SPAN)).map((two) => two.sort((a, b) => a - b));
const ids = fc.subarray(SUBJECTS, { minLength: 1 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('mark'), time, state, ids }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('finish'), time, ids }) },
  fc.record({ does: fc.constant('prune'), ms: fc.nat(SPAN / 2) }),
  fc.record({ does: fc.constant('keep') }));

/** A state for each millisecond and subject. */
class Model {
  states = new Map(SUBJECTS.map((id) => [id, Array(SPAN).fill(LOCATED)]));

  change([fromMs, toMs], subjects, next) {
    for (const id of subjects) for (let ms = fromMs; ms < toMs; ms += 1) this.states.get(id)[ms] = next(this.states.get(id)[ms]);
  }

  do({ does, time: window, state: to, ids: of, ms }) {
    if (does === 'mark') this.change(window, of, () => to);
    if (does === 'finish') this.change(window, of, (was) => (was === RUNNING ? LOCATED : was));
    if (does === 'prune') this.change([0, ms], SUBJECTS, () => LOCATED);
    if (does === 'keep') this.change([0, SPAN], SUBJECTS, (was) => (was === RUNNING ? WAITING : was));
  }

  /** Whether it is located at a millisecond for all of these. */
  isLocated(ms, who) {
    return (who === null ? SUBJECTS : [EVERYBODY, ...who]).every((id) => this.states.get(id)[ms] === LOCATED);
  }
}

/** What is under test, changed in the same way. */
function change(intervals, { does, time: window, state: to, ids: of, ms }, most) {
  if (does === 'mark') intervals.mark(...window, to, of);
  if (does === 'finish') intervals.finish(...window, of);
  if (does === 'prune') intervals.prune(ms);
  return does === 'keep' ? createIntervals(JSON.parse(JSON.stringify(intervals)), most) : intervals;
}

/** Up to when a time is complete, within it. */
function completeUntil(intervals, fromMs, toMs, who) {
  return fromMs < toMs ? Math.max(fromMs, intervals.firstGap(fromMs, toMs, who)?.fromMs ?? toMs) : toMs;
}

const isComplete = (intervals, ...window) => completeUntil(intervals, ...window) === window[1];

const WHO = [null, [], ['0'], ['1', '2']];

test('whatever is marked, finished, forgotten and read again is what a state for each millisecond says', () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 30 }), fc.array(time, { minLength: 1, maxLength: 5 }), (steps, windows) => {
    const model = new Model();
    let intervals = createIntervals();
    for (const one of steps) {
      model.do(one);
      intervals = change(intervals, one);
    }
    for (const [fromMs, toMs] of windows) {
      for (const who of WHO) {
        const lacks = Array.from({ length: toMs - fromMs }, (_, i) => fromMs + i).filter((ms) => !model.isLocated(ms, who));
        assert.equal(isComplete(intervals, fromMs, toMs, who), lacks.length === 0);
        assert.equal(completeUntil(intervals, fromMs, toMs, who), lacks[0] ?? toMs);
      }
    }
    const gaps = [...intervals.named(), ...intervals.everybody().map((one) => ({ ...one, id: EVERYBODY }))];
    for (const { id, fromMs, toMs, state: is } of gaps) {
      for (let ms = fromMs; ms < toMs; ms += 1) assert.equal(model.states.get(id)[ms], is);
      assert.notEqual(model.states.get(id)[toMs], is, 'as large as it is');
    }
  }), { numRuns: 500 });
});

test('with a bound there are no more intervals, and nothing is located that is not', () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 2, max: 6 }), (steps, most) => {
    const model = new Model();
    let intervals = createIntervals(undefined, most);
    for (const one of steps) {
      if (one.does === 'finish') continue; // what was merged is to be located as a whole
      if (one.state === LOCATED && one.ids?.includes(EVERYBODY)) continue; // holds for people who became everybody, too
      model.do(one);
      intervals = change(intervals, one, most);
      const count = Object.values(intervals.toJSON()).flat().length;
      assert.ok(count <= most, `${count} of ${most}`);
    }
    for (const who of WHO) {
      for (let ms = 0; ms < SPAN; ms += 1) assert.ok(model.isLocated(ms, who) || !isComplete(intervals, ms, ms + 1, who), `${ms} ${who}`);
    }
  }), { numRuns: 500 });
});

test('a gap without end stays one on disk, and what is no interval there is left out', () => {
  const intervals = createIntervals();
  intervals.mark(5, Infinity, RUNNING);
  const kept = JSON.parse(JSON.stringify(intervals));
  assert.deepEqual(kept, { '': [[5, null, RUNNING]] });
  assert.deepEqual(createIntervals(kept).everybody(), [{ fromMs: 5, toMs: Infinity, state: WAITING }]);
  const broken = { '': [[3, 2], ['a', 4], null, [null, 7], [1, 2]], 0: 'x', 1: [[{}, 3]], __proto__: null };
  assert.deepEqual(createIntervals(broken).everybody(), [{ fromMs: 1, toMs: 2, state: WAITING }]);
  assert.deepEqual(createIntervals(broken).named(), []);
});

test('the nearest intervals are merged first; people beyond the bound are everybody', () => {
  const intervals = createIntervals(undefined, 4);
  for (const ms of [0, 100, 103, 200, 300]) intervals.mark(ms, ms + 1, WAITING, ['0']);
  assert.ok(!isComplete(intervals, 101, 103, ['0']) && isComplete(intervals, 1, 100, ['1']));
  for (const id of ['1', '2', '3', '4']) intervals.mark(500, 501, WAITING, [id]);
  assert.ok(!isComplete(intervals, 500, 501, []), 'now it concerns all');
});
