// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createBuilding } = require('../../lib/building');
const { createBeliefs } = require('../../lib/locator/beliefs');
const { createModel } = require('../../lib/locator/model');
const { DEFAULTS } = require('../../lib/locator/constants');

const SIDE_M = 100;
const tuning = { ...DEFAULTS, keptShare: 1e-3 }; // so that a smaller hall will do

test('somebody who may be anywhere in a very large hall, so that no cell is likely, is somewhere', () => {
  const hall = { id: 'hall', name: 'Hall', polygon: [[0, 0], [SIDE_M, 0], [SIDE_M, SIDE_M], [0, SIDE_M]] };
  const building = createBuilding({
    building: 'Fair',
    levels: [{ id: 'G', name: 'Ground', width_m: SIDE_M, height_m: SIDE_M, rooms: [hall] }],
    beacons: [{ id: 'B00000000010', level: 'G', room: 'hall', x_m: 1, y_m: 1, tx: -100 }],
    gateways: [],
    staff: [],
  });
  const model = createModel(building, tuning);
  assert.ok(model.cells.all.length > 2 / tuning.keptShare);
  const beliefs = createBeliefs(model, () => true);
  const slot = beliefs.open();
  const chances = new Float64Array(1);
  for (const seconds of [0, 1, 3]) {
    beliefs.update(slot, seconds, { kind: 'phone', sources: [0], rssis: [-105], tag: '' }, { rssis: [-105], known: [0] }, null, 0);
    assert.equal(beliefs.rooms(slot, chances), 0);
    assert.ok(Math.abs(chances[0] - 1) < 1e-9);
    beliefs.clear(slot, chances);
  }
});
