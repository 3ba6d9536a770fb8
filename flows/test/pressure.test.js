'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createPressure, watchPressure } = require('../lib/access/limits');

const shedOf = (pressure, count) => Array.from({ length: count }, () => pressure.sheds()).filter(Boolean).length;

test('nothing is refused while turns are short', () => {
  const pressure = createPressure();
  for (let i = 0; i < 100; i += 1) pressure.measured(i % 10 === 0 ? 200 : 5);
  assert.equal(shedOf(pressure, 1000), 0);
});

test('under pressure a growing share is refused, never all, and none any more when it is over', () => {
  const pressure = createPressure();
  const shares = [];
  assert.equal(shedOf(pressure, 1000), 0);
  for (let i = 0; i < 6; i += 1) {
    pressure.measured(400);
    shares.push(shedOf(pressure, 1000));
  }
  shares.forEach((count, i) => assert.ok(Math.abs(count - [250, 500, 750, 900, 900, 900][i]) <= 1, shares.join()));
  for (let i = 0; i < 10; i += 1) pressure.measured(0);
  assert.equal(shedOf(pressure, 1000), 0);
  assert.ok(pressure.figures[0].read() > 4000);
});

test('long turns are nothing that a few requests could help', () => {
  const pressure = createPressure();
  for (let i = 0; i < 10; i += 1) {
    assert.equal(shedOf(pressure, 100), 0);
    pressure.measured(400);
  }
});

test('a loop whose turns are long is under pressure', async () => {
  const pressure = watchPressure();
  try {
    for (let i = 0; i < 12 && shedOf(pressure, 200) === 0; i += 1) {
      const endMs = performance.now() + 400;
      while (performance.now() < endMs);
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    assert.ok(shedOf(pressure, 100) > 0);
  } finally {
    pressure.stop();
  }
});
