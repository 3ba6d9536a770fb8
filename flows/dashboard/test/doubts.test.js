import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bySecond, doubtLine, withDoubts } from '../src/lib/doubts.js';
import { personNote } from '../src/lib/floor.js';
import { sureText } from '../src/lib/probable.js';
import { beliefBars } from '../src/lib/trace.js';

const T = 1_700_000_000_000;
const named = (room) => ({ hall: 'Hall' })[room] ?? room;
const doubt = (s, more = {}) => ({ ts: T + s * 1000, room: 'a', probability: 0.6, runner_up: 'hall', corrected: false, ...more });

test('the tooltip: how sure, and which other room; nothing where it is sure or not known', () => {
  assert.equal(sureText({ probability: 0.634, runner_up: 'hall' }, named), '63 % sure, else Hall');
  assert.equal(sureText({ probability: 0, runner_up: null }, named), '0 % sure');
  for (const probability of [0.7, 1, null, undefined]) assert.equal(sureText({ probability, runner_up: 'hall' }, named), '');
});

test('the note of somebody who is probably there', () => {
  const one = { id: '7', since: T, ts: T, state: 'present', probability: 0.5, runner_up: 'hall' };
  assert.equal(personNote(one, 'Aisha', T + 60_000, named), '7 Aisha: probably here (50 % sure, else Hall) for 1 min, heard 1 min ago');
});

test('the trace says of the shown room alone that it is probable', () => {
  const rooms = [{ room: 'a', level: 'L', probability: 0.6 }, { room: 'hall', level: 'L', probability: 0.4 }];
  assert.deepEqual(beliefBars({ rooms, room: 'a' }, named).map(({ isProbable }) => isProbable), [true, false]);
});

test('people of an instant get the doubts of its second, while they are in that room', () => {
  const doubts = new Map([['7', bySecond([doubt(3), doubt(4, { probability: 1, corrected: true })])]]);
  const people = [{ id: '7', room: 'a' }, { id: '8', room: 'a' }];
  assert.equal(withDoubts(people, new Map(), T), people);
  assert.deepEqual(withDoubts(people, doubts, T + 3999), [{ id: '7', room: 'a', probability: 0.6, runner_up: 'hall', corrected: false }, people[1]]);
  assert.equal(withDoubts(people, doubts, T + 4000)[0].corrected, true);
  assert.deepEqual(withDoubts(people, doubts, T + 5000), people);
  assert.deepEqual(withDoubts([{ id: '7', room: 'hall' }], doubts, T + 3000), [{ id: '7', room: 'hall' }]);
});

test('the line: where in the time they lie, and how much of it', () => {
  const window = { fromMs: T, toMs: T + 2400_000 };
  const doubts = new Map([['7', bySecond([doubt(-1), ...Array.from({ length: 10 }, (_, s) => doubt(s)), doubt(15, { probability: 0.9, corrected: true })])],
    ['8', bySecond([doubt(1)])]]);
  assert.deepEqual(doubtLine(doubts, window), [{ left: 0, width: 1 / 240, probable: 11 / 20, corrected: false },
    { left: 1 / 240, width: 1 / 240, probable: 0, corrected: true }]);
  assert.deepEqual(doubtLine(new Map(), window), []);
});
