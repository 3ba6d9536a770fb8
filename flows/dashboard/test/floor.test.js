import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEGENDS, byOccupancy, byPatrol } from '../src/lib/colours.js';
import { drawnGateways, personNote, shadedRooms } from '../src/lib/floor.js';
import { nameLines } from '../src/lib/signs.js';
import { fit, keyMove, visible, zoomRange } from '../src/lib/viewport.js';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

test('occupancy against the limit', () => {
  const cases = [[0, 4], [1, 4], [2, 4], [3, 4], [4, 4], [5, 4], [0, null], [99, null]];
  const steps = cases.map(([count, limit]) => byOccupancy(count, limit).step.at(-1));
  assert.deepEqual(steps, ['0', '1', '1', '2', '3', '4', '0', '1']);
});

test('time since the last patrol', () => {
  const steps = [0, 1, 15 * MINUTE, 20 * MINUTE, 45 * MINUTE, 61 * MINUTE, null].map((age) => byPatrol(age).step.at(-1));
  assert.deepEqual(steps, ['0', '1', '1', '2', '3', '4', '5']);
});

test('every step is in its legend, with a text of its own', () => {
  for (const legend of Object.values(LEGENDS)) assert.equal(new Set(legend.map(({ text }) => text)).size, legend.length);
  assert.ok(LEGENDS.occupancy.some(({ step }) => step === byOccupancy(5, 4).step));
  assert.ok(LEGENDS.patrol.some(({ step }) => step === byPatrol(null).step));
});

test('the note of a room has number, limit and patrol', () => {
  const rooms = ['a', 'b', 'c'].map((id) => ({ id, name: id.toUpperCase(), limit: id === 'c' ? null : 1 }));
  const people = new Map([['a', [1, 2]]]);
  const [a, b, c] = shadedRooms(rooms, people, 'patrol', new Map([['b', NOW - 20 * MINUTE]]), NOW);
  assert.deepEqual([a.note, a.crowded, a.shade.step], ['A 2 / 1, over its limit', true, 'patrol-0']);
  assert.deepEqual([b.note, b.shade.step], ['B 0 / 1, last patrol 20 min ago', 'patrol-2']);
  assert.deepEqual([c.note, c.shade.step], ['C 0', 'patrol-5']);
  assert.equal(shadedRooms(rooms, people, 'occupancy', new Map(), NOW)[0].shade.step, 'occupancy-4');
});

test('gateways have their state as text too', () => {
  const level = { height_m: 10, gateways: [{ id: 'g', x_m: 2, y_m: 3 }, { id: 'h', x_m: 0, y_m: 0 }] };
  const [g, h] = drawnGateways(level, { g: 'silent' });
  assert.deepEqual([g.x, g.y, g.note], [2, 7, 'Gateway g: silent: nothing comes from it']);
  assert.deepEqual([h.state, h.note], ['unknown', 'Gateway h: not heard from yet']);
});

test('the note of a person', () => {
  const one = { id: '7', since: NOW - 3 * MINUTE, ts: NOW - 40_000, state: 'stale' };
  assert.equal(personNote(one, 'Aisha', NOW), '7 Aisha: here for 3 min, heard 40 s ago, stale');
  assert.equal(personNote({ ...one, state: 'present' }, undefined, NOW), '7: here for 3 min, heard 40 s ago');
});

test('the sign of a room: what fits', () => {
  const room = { name: 'Meeting Room', count: 3, limit: 6, sign: { width: 10, height: 3 } };
  const texts = (scale, change = {}) => nameLines({ ...room, ...change }, scale).map((line) => line.map(({ text }) => text).join(' '));
  assert.deepEqual(texts(14), ['Meeting Room', '3 / 6']);
  assert.deepEqual(texts(14, { sign: { width: 8, height: 3 } }), ['Meeting Room', '3 / 6']);
  assert.deepEqual(texts(8.6, { sign: { width: 12, height: 3 } }), ['Meeti… 3 / 6'], 'in one line where the strip is low');
  assert.deepEqual(texts(6), ['3 / 6']);
  assert.deepEqual(texts(2.3), ['3']);
  assert.deepEqual(texts(6, { count: 0 }), ['Meeti…'], 'of an empty room rather its name');
  assert.deepEqual(texts(14, { sign: { width: 10, height: 1 } }), ['Meeting Ro… 3 / 6']);
  assert.deepEqual(texts(1), []);
  assert.deepEqual(texts(14, { count: 0, limit: null }), ['Meeting Room']);
});

test('the whole level is centred, and zoom has a range', () => {
  const view = fit({ width_m: 60, height_m: 36 }, { width: 628, height: 500 });
  assert.deepEqual(view, { k: 10, x: 14, y: 53 });
  assert.deepEqual(visible(view, { width: 628, height: 500 }), { x: -1.4, y: -5.3, width: 62.8, height: 50 });
  const [least, most] = zoomRange(view);
  assert.ok(least < 10 && most >= 120);
});

test('keys move and zoom the plan; others are ignored', () => {
  assert.deepEqual(keyMove('ArrowLeft'), { pan: [60, 0] });
  assert.ok(keyMove('+').zoom > 1 && keyMove('-').zoom < 1 && keyMove('0').fit);
  assert.equal(keyMove('Tab'), null);
});
