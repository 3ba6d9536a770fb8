import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flawsOf, isTemporary, requestOf, silentMs, stopwatch, undone, withChanges } from '../src/lib/recording.js';
import { counted } from '../src/lib/words.js';

const tap = (name, room = 'r1', atMs = 1000) => ({ kind: 'tap', recording: 'rec', tap: name, room, atMs });
const names = (changes) => changes.map(({ tap: name }) => name);

test('waiting changes are shown as if sent', () => {
  const taps = [{ tap: 'a', ts: 1, room: 'r1' }, { tap: 'b', ts: 2, room: 'r2' }];
  const waiting = [tap('c', 'r3'), { kind: 'undo', recording: 'rec', tap: 'b' }, tap('d', null)];
  assert.deepEqual(withChanges(taps, waiting).map(({ tap: name, room }) => [name, room]), [['a', 'r1'], ['c', 'r3'], ['d', null]]);
  assert.deepEqual(names(withChanges(taps, [tap('b', 'r2')])), ['a', 'b'], 'one that was taken while its answer was lost is there once');
});

test('undo removes a tap that was not sent, and follows one that is being sent', () => {
  const waiting = [tap('a'), tap('b')];
  assert.deepEqual(names(undone(waiting, 'rec', 'b', true)), ['a']);
  assert.deepEqual(names(undone(waiting, 'rec', 'a', false)), ['b']);
  assert.deepEqual(undone([tap('a')], 'rec', 'a', true).map(({ kind }) => kind), ['tap', 'undo']);
  assert.deepEqual(undone([], 'rec', 'old', false), [{ kind: 'undo', recording: 'rec', tap: 'old' }]);
});

test('a tap is sent with its age, whatever the clock of the phone did', () => {
  assert.deepEqual(requestOf(tap('a', 'r1', 1000), 3500.4), { path: '/recordings/rec/taps', method: 'POST', body: { tap: 'a', room: 'r1', age_ms: 2500 } });
  assert.equal(requestOf(tap('a', null, 5000), 1000).body.age_ms, 0);
  assert.equal(requestOf(tap('a', null, 0), 9e9).body.age_ms, 3_600_000);
  assert.equal(requestOf(tap('a', null), 0).body.room, '');
  assert.deepEqual(requestOf({ kind: 'undo', recording: 'rec', tap: 'a' }, 0), { path: '/recordings/rec/taps/a', method: 'DELETE' });
});

test('temporary errors are retried, refusals are not', () => {
  assert.deepEqual([0, 401, 429, 500, 503].map(isTemporary), Array(5).fill(true));
  assert.deepEqual([400, 403, 404, 409].map(isTemporary), Array(4).fill(false));
});

test('times and figures for people', () => {
  assert.deepEqual([-5, 0, 65_999, 3_600_000].map(stopwatch), ['0:00', '0:00', '1:05', '1:00:00']);
  assert.deepEqual([counted(1, 'tap'), counted(2480, 'reading')], ['1 tap', '2,480 readings']);
});

test('silence is reported after some seconds, from the start on', () => {
  const recording = { started_ms: 1000, last_reading_ms: null };
  assert.equal(silentMs(recording, 9000), null);
  assert.equal(silentMs(recording, 9001), 8001);
  assert.equal(silentMs({ ...recording, last_reading_ms: 9000 }, 9001), null);
});

test('flaws of a walk are listed', () => {
  const good = { gateway_readings: 5, phone_readings: 0, taps_count: 1, lost_readings: 0, outside_readings: 0 };
  assert.deepEqual(flawsOf(good), []);
  assert.equal(flawsOf({ ...good, gateway_readings: 0, taps_count: 0, lost_readings: 1, outside_readings: 2 }).length, 4);
});
