'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { covers, overlap } = require('../lib/building/geometry');

const box = (x, y, w, h) => [[x, y], [x + w, y], [x + w, y + h], [x, y + h]];
const L = [[0, 0], [4, 0], [4, 2], [2, 2], [2, 4], [0, 4]];

test('a point is covered inside and on the border, not in the notch of an L', () => {
  for (const point of [[1, 1], [0, 0], [4, 1], [2, 3], [1, 4.005]]) assert.ok(covers(L, point), String(point));
  for (const point of [[3, 3], [5, 1], [-0.1, 0], [2.1, 2.1]]) assert.ok(!covers(L, point), String(point));
});

test('rooms with a common wall do not overlap, in any direction of drawing', () => {
  for (const other of [box(4, 0, 2, 2), box(2, 2, 2, 2), box(0, 4, 4, 1), box(4, 1, 2, 0.5)]) {
    assert.ok(!overlap(L, other));
    assert.ok(!overlap([...other].reverse(), L));
  }
});

test('overlapping rooms are found: equal, nested, crossing, an L around a corner', () => {
  const others = [L, [...L].reverse(), box(0.5, 0.5, 0.5, 0.5), box(-1, 1, 9, 0.5), box(1, 1, 2, 2), box(-1, -1, 9, 9), box(0, 0, 4, 2)];
  for (const other of others) {
    assert.ok(overlap(L, other), String(other));
    assert.ok(overlap(other, L), String(other));
  }
});

test('property: rectangles overlap exactly when their intervals do', () => {
  const place = fc.integer({ min: 0, max: 12 });
  const length = fc.integer({ min: 1, max: 6 });
  const side = fc.record({ x: place, y: place, w: length, h: length });
  fc.assert(fc.property(side, side, (a, b) => {
    const expected = a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
    assert.equal(overlap(box(a.x, a.y, a.w, a.h), box(b.x, b.y, b.w, b.h)), expected);
  }), { numRuns: 2000 });
});
