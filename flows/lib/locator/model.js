// @ts-check
'use strict';

const { createCells } = require('./cells');
const { createPlan } = require('./plan');
const { createRadio } = require('./radio');

/**
 * All that follows from a building alone. Pure; some 100 ms for seven levels with 120 beacons.
 * @typedef {{plan: import('./plan').Plan, cells: import('./cells').Cells, radio: import('./radio').Radio,
 *   tuning: import('./tuning').Tuning}} Model
 * @param {import('../building').Building} building
 * @param {import('./tuning').Tuning} tuning
 * @returns {Model}
 */
function createModel(building, tuning) {
  const plan = createPlan(building);
  const cells = createCells(plan, tuning);
  return { plan, cells, radio: createRadio(building, plan, cells, tuning), tuning };
}

module.exports = { createModel };
