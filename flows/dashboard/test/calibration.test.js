import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedRooms, proposalText, obstacle, percent } from '../src/lib/calibration.js';

test('a percentage is whole, and a dash without a whole', () => {
  assert.deepEqual([percent(0, 0), percent(0, 9), percent(2, 3), percent(9, 9)], ['–', '0 %', '67 %', '100 %']);
});

test('a proposal has device, field, old and new value', () => {
  const of = (kind, field, was, to) => proposalText({ kind, id: 'x-1', field, from: null, was, to, readings: 40, visits: 7 });
  assert.deepEqual(of('gateway', 'rssi_offset', 0, -7), { title: 'Gateway x-1', change: 'offset 0 → −7 dB', why: '7 visits' });
  assert.equal(of('beacon', 'tx', -59, -64).change, 'power at 1 m −59 → −64 dBm');
  assert.equal(of('staff', 'tag_tx', -59, -47).title, 'Walker x-1');
});

test('changed rooms are sorted by gain', () => {
  const room = (name, before, after) => ({ room: name, seconds: 60, before, after });
  assert.deepEqual(changedRooms([room('a', 5, 4), room('b', 7, 7), room('c', 1, 50), room('d', 1, 9)]).map((one) => one.room), ['c', 'd', 'a']);
});

test('proposals can be applied where they are better and the building is unchanged', () => {
  const of = (verdict, fits) => obstacle({ verdict, is_as_walked: fits });
  assert.equal(of('better', true), '');
  assert.match(of('better', false), /walk again/);
  assert.equal(of('no_gain', false), '', 'there is nothing to take over');
});
