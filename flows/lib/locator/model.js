// @ts-check
'use strict';

const { isDeepStrictEqual } = require('node:util');
const { joinCells, placesIn, stepsOf } = require('./cells');
const { checkSize, joinStoreys } = require('./plan');
const { inOneGo } = require('../shared/pieces');
const { radioOf } = require('./radio');
const { storeyOf } = require('./storey');

/**
 * All that follows from a building alone. Pure, never changed once it is made, and so shared by all locators of the same building.
 * It may take seconds: so it is made in pieces, and from what the building before has in common with this one. Levels, and devices
 * that are heard on no other level than on such that stayed as they were, are taken as they are.
 * @typedef {object} Level
 * @property {unknown} shape all of it that matters here
 * @property {import('./storey').Storey} storey
 * @property {import('./cells').Places} cells
 * @typedef {{plan: import('./plan').Plan, cells: import('./cells').Cells, levels: Level[],
 *   settings: import('./constants').Settings}} Levels
 * @typedef {Levels & {steps: import('./cells').Steps[], radio: import('./radio').Radio}} Model steps: by level
 */

/**
 * @param {import('../building').Building} building
 * @param {import('./constants').Settings} settings
 * @param {Model|null} [former] of another state of the building
 * @returns {import('../shared/pieces').Work<Model>} the former one itself if nothing is different
 */
function* modelOf(building, settings, former = null) {
  checkSize(building);
  const before = former && isDeepStrictEqual(former.settings, settings) ? former : null;
  const known = new Map(before?.levels.map((level, k) => [before.plan.levels[k], level]));
  /** @type {Level[]} */
  const levels = [];
  for (const level of building.levels) {
    const shape = shapeOf(level);
    const old = known.get(level.id);
    if (old && isDeepStrictEqual(old.shape, shape)) levels.push(old);
    else {
      const storey = yield* storeyOf(level);
      levels.push({ shape, storey, cells: yield* placesIn(storey, settings) });
    }
    yield;
  }
  const joined = before && isSame(levels, before.levels) ? before : yield* joinLevels(building, levels, settings, before);
  const radio = yield* radioOf(building, joined, before);
  return radio === before?.radio ? before : { ...joined, radio };
}

/**
 * @param {import('../building').Building} building @param {Level[]} levels @param {import('./constants').Settings} settings
 * @param {Model|null} before
 * @returns {import('../shared/pieces').Work<Omit<Model, 'radio'>>}
 */
function* joinLevels(building, levels, settings, before) {
  /** @type {import('./cells').Steps[]} */
  const steps = [];
  for (const [k, level] of levels.entries()) {
    const was = before?.levels.indexOf(level) ?? -1;
    const stays = was >= 0 && [-1, 1].every((up) => levels[k + up] === before?.levels[was + up]); // lifts lead there
    steps.push(stays && before ? before.steps[was] : yield* stepsOf(levels, k, settings));
  }
  const plan = joinStoreys(building.levels.map(({ id }) => id), levels.map(({ storey }) => storey));
  yield;
  const cells = yield* joinCells(levels.map((level, k) => ({ cells: level.cells, steps: steps[k] })), plan.firstRoom);
  return { plan, cells, levels, steps, settings };
}

/** @param {Level[]} some @param {Level[]} others */
const isSame = (some, others) => some.length === others.length && some.every((one, k) => one === others[k]);

/** What of a level matters here. @param {import('../building').Level} level */
const shapeOf = ({ id, width_m: width, height_m: height, rooms }) => (
  { id, width, height, rooms: rooms.map(({ id: room, kind, polygon, open_edges: open }) => ({ room, kind, polygon, open })) });

/**
 * As `modelOf`, at once.
 * @param {import('../building').Building} building @param {import('./constants').Settings} settings @param {Model|null} [before]
 */
const createModel = (building, settings, before) => inOneGo(modelOf(building, settings, before));

module.exports = { createModel, modelOf };
