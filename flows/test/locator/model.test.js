// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const { createCells } = require('../../lib/locator/cells');
const { createModel } = require('../../lib/locator/model');
const { createPlan } = require('../../lib/locator/plan');
const { TUNING } = require('../../lib/locator/tuning');
const { house, houseFile } = require('./house');

const plan = createPlan(house());
const at = (/** @type {string} */ id) => plan.rooms.findIndex((room) => room.id === id);

describe('plan', () => {
  test('walls are counted along the straight line', () => {
    assert.equal(plan.walls(0, 5, 11, 8, 14), 0);
    assert.equal(plan.walls(0, 5, 11, 15, 11), 1);
    assert.equal(plan.walls(0, 5, 11, 25, 11), 2);
    assert.equal(plan.walls(0, 5, 11, 5, 4), 1);
  });

  test('one passes from room to corridor, not from room to room, and not where rooms do not touch', () => {
    assert.ok(plan.passable(at('G-a'), at('G-hall')));
    assert.ok(plan.passable(at('G-c'), at('G-lift')));
    assert.ok(!plan.passable(at('G-a'), at('G-b')));
    assert.ok(!plan.passable(at('G-a'), at('G-c')));
    assert.ok(!plan.passable(at('G-a'), at('U-hall')));
  });

  test('rooms without a passage beside them are one open area without walls', () => {
    const file = houseFile();
    for (const room of file.levels[0].rooms) delete room.kind;
    const open = createPlan(file);
    assert.equal(open.walls(0, 5, 11, 25, 11), 0);
    assert.ok(open.passable(at('G-a'), at('G-b')));
    assert.equal(open.walls(1, 5, 11, 25, 11), 2);
  });
});

describe('cells', () => {
  const cells = createCells(plan, TUNING);

  test('steps from each cell add up to 1 and lead to where one can go', () => {
    cells.all.forEach((cell, c) => {
      let sum = 0;
      for (let s = cells.start[c]; s < cells.start[c + 1]; s += 1) {
        const to = cells.all[cells.target[s]];
        sum += cells.share[s];
        const lift = plan.rooms[cell.room].core && plan.rooms[to.room].core;
        assert.ok(to.room === cell.room || plan.passable(cell.room, to.room) || lift, `${plan.rooms[cell.room].id} → ${plan.rooms[to.room].id}`);
      }
      assert.ok(Math.abs(sum - 1) < 1e-5);
    });
  });

  test('every room has cells, however odd its shape', () => {
    const file = houseFile();
    file.levels[0].rooms[0].polygon = [[0, 6], [10, 6], [10, 6.01]];
    const odd = createCells(createPlan(file), TUNING);
    assert.equal(new Set(odd.room).size, plan.rooms.length);
  });
});

describe('radio', () => {
  const model = createModel(house(), TUNING);
  const { radio, cells } = model;

  test('a source is strongest in its own room, weaker behind a wall, weakest on another level', () => {
    const { first, expected } = radio.sources[radio.gateways.get('gw-G-a') ?? -1];
    const strongest = (/** @type {string} */ room) =>
      Math.max(...cells.all.map((cell, c) => (cell.room === at(room) ? expected[c - first] : -Infinity)));
    assert.ok(strongest('G-a') > strongest('G-b') + TUNING.wallDb);
    assert.ok(strongest('G-b') > strongest('G-c'));
    assert.ok(strongest('G-a') > strongest('U-a') + TUNING.floorDb);
  });

  test('the loudest sources of each cell are the loudest, in order', () => {
    const { who, dbm } = radio.loudest.gateway;
    const most = TUNING.quietSources;
    for (let c = 0; c < cells.all.length; c += 7) {
      const all = [...radio.gateways.values()].map((source) => {
        const { first, expected } = radio.sources[source];
        return Math.round(expected[c - first] ?? -999);
      });
      const best = all.sort((a, b) => b - a).slice(0, most);
      assert.deepEqual([...dbm.slice(c * most, c * most + most)], best);
      assert.ok(who[c * most] >= radio.beacons.size);
    }
  });
});
