import assert from 'node:assert/strict';
import { test } from 'node:test';
import { about, clock, dated, duration, moment, startOfDay } from '../src/lib/times.js';

const MINUTE = 60_000;
const AT = Date.UTC(2026, 2, 1, 23, 30, 5);

test('durations in one or two units', () => {
  const cases = [[-5, '0 s'], [8400, '8 s'], [59_400, '59 s'], [59_600, '1 min'], [125 * 1000, '2 min'], [60 * MINUTE, '1 h'],
    [185 * MINUTE, '3 h 5 min'], [24 * 60 * MINUTE, '1 d'], [52 * 60 * MINUTE, '2 d 4 h']];
  for (const [ms, text] of cases) assert.equal(duration(ms), text);
  assert.deepEqual([about(8400), about(899_000), about(90_000)], ['8 s', '15 min', '2 min']);
});

test('times in a zone, with the day where it is another one', () => {
  assert.equal(clock(AT, 'UTC'), '23:30:05');
  assert.equal(clock(AT, 'Asia/Singapore'), '07:30:05');
  assert.equal(dated(AT, 'UTC'), '1 Mar 2026, 23:30:05');
  assert.equal(moment(AT, AT + 20 * MINUTE, 'UTC'), '23:30:05');
  assert.equal(moment(AT, AT + 40 * MINUTE, 'UTC'), '1 Mar 2026, 23:30:05');
  assert.equal(moment(AT, AT + 40 * MINUTE, 'Asia/Singapore'), '07:30:05');
});

test('the day begins at midnight here', () => {
  const start = new Date(startOfDay(AT));
  assert.deepEqual([start.getHours(), start.getMinutes(), start.getMilliseconds()], [0, 0, 0]);
  assert.ok(AT - start.getTime() < 25 * 60 * MINUTE);
});
