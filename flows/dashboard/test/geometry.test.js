import assert from 'node:assert/strict';
import { test } from 'node:test';
import { borderDistance, inside } from '../../lib/building/geometry.js';
import { bounds, centre, drawn, edgesOf, pathOf, signBox } from '../src/lib/geometry.js';

const SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10]];
const ELL = [[0, 0], [4, 0], [4, 6], [12, 6], [12, 10], [0, 10]]; // a narrow leg upwards, a wide foot

test('north is up on the drawing', () => {
  assert.deepEqual(drawn([[1, 2], [3, 36]], 36), [[1, 34], [3, 0]]);
});

test('a path is rounded to the centimetre', () => {
  assert.equal(pathOf([[0, 0], [1.234, 5], [0, 2]]), 'M0,0L1.23,5L0,2Z');
});

test('edges without a wall, the last one back to the first corner', () => {
  assert.equal(edgesOf(SQUARE, [0, 3]), 'M0,0L10,0M0,10L0,0');
  assert.equal(edgesOf(SQUARE, [4]), '');
});

test('bounds, inside, distance to the border', () => {
  assert.deepEqual(bounds(ELL), { x: 0, y: 0, width: 12, height: 10 });
  assert.deepEqual([[2, 2], [8, 2], [8, 8]].map((point) => inside(ELL, point)), [true, false, true]);
  assert.equal(borderDistance(SQUARE, [3, 5]), 3);
});

test('the centre is inside, far from the walls', () => {
  const point = centre(ELL);
  assert.ok(inside(ELL, point));
  assert.ok(borderDistance(ELL, point) >= 2);
});

test('a name is along the top, or in the widest strip where the top is too narrow', () => {
  assert.deepEqual(signBox(SQUARE, [2, 1]), { x: 0, y: 0, width: 10, height: 2 });
  assert.deepEqual(signBox(ELL, [2, 1]), { x: 0, y: 6, width: 12, height: 2 });
});

test('a low strip gets the lower sign; where none fits it is around the centre', () => {
  const corridor = [[0, 0], [30, 0], [30, 1.5], [0, 1.5]];
  assert.equal(signBox(corridor, [2, 1]).height, 1);
  const box = signBox(corridor, [3, 2]);
  assert.ok(box.height <= 1.5 && box.width <= 1.5 + 1e-9);
});

test('a round room with many corners has space for its name', { timeout: 1000 }, () => {
  const round = Array.from({ length: 200 }, (_, i) => [10 + 10 * Math.cos(i / 31.83), 10 + 10 * Math.sin(i / 31.83)]);
  const box = signBox(round, [2, 1]);
  assert.ok(box.width > 8, JSON.stringify(box));
});
