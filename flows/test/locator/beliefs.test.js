// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createBuilding } = require('../../lib/building');
const { createBeliefs } = require('../../lib/locator/beliefs');
const { DEFAULTS } = require('../../lib/locator/constants');
const { createModel } = require('../../lib/locator/model');
const { expectedIn } = require('../../lib/locator/source');
const fc = require('../support/fast-check');
const { house } = require('./house');

const SIDE_M = 100;
const COMMON = { meanDb: 0, common: DEFAULTS.carriedDb ** 2 + DEFAULTS.levelDb ** 2 };
const PASSED = { seconds: 1, steps: 1, touched: false, walks: false };

/** What one message says, as `hearing` would hand it over. @param {Record<number, number>} levels by source, dBm
 * @param {'phone'|'gateway'} [kind] */
function said(levels, kind = 'phone') {
  const pairs = Object.entries(levels).map(([source, rssi]) => [Number(source), rssi]).sort(([, a], [, b]) => b - a);
  const [sources, rssis] = [pairs.map(([source]) => source), pairs.map(([, rssi]) => rssi)];
  const remembered = { count: pairs.length, sources: Int32Array.from(sources), levels: Float64Array.from(rssis),
    readings: new Float64Array(pairs.length).fill(1), ages: new Float64Array(pairs.length) };
  return { heard: { kind, sources, rssis, tag: '' }, remembered };
}

/** @param {any} [overrides] */
function opened(overrides = {}) {
  const settings = { ...DEFAULTS, ...overrides };
  const model = createModel(house(), settings);
  const beliefs = createBeliefs(model, () => true);
  const chances = new Float64Array(model.plan.rooms.length);
  const slot = beliefs.open();
  return {
    model, beliefs, slot,
    /** @param {Record<number, number>} levels @param {Partial<typeof PASSED>} [passed] @param {number} [its] */
    hear(levels, passed = {}, its = slot) {
      const { heard, remembered } = said(levels);
      return beliefs.update(its, { ...PASSED, ...passed }, heard, remembered, COMMON, 0);
    },
    /** Of each room, by id. @param {number} [its] */
    rooms(its = slot) {
      const best = beliefs.rooms(its, chances);
      const found = Object.fromEntries(model.plan.rooms.map(({ id }, room) => [id, chances[room]]));
      beliefs.clear(chances);
      assert.ok(chances.every((chance) => chance === 0));
      return { best: model.plan.rooms[best].id, chances: found };
    },
    /** Readings as expected in the middle of a room. @param {string} id */
    at(id) {
      const { cells, radio, plan } = model;
      const its = cells.all.flatMap((cell, c) => (plan.rooms[cell.room].id === id ? [c] : []));
      const cell = its[Math.floor(its.length / 2)];
      const dbmOf = (/** @type {number} */ source) => expectedIn(radio.sources[source], cell, DEFAULTS.weakestDbm);
      return Object.fromEntries([...radio.beacons.values()].map((source) => [source, dbmOf(source)])
        .filter(([, dbm]) => dbm > -90));
    },
  };
}

test('somebody who may be anywhere in a very large hall, so that no cell is likely, is somewhere', () => {
  const hall = { id: 'hall', name: 'Hall', polygon: [[0, 0], [SIDE_M, 0], [SIDE_M, SIDE_M], [0, SIDE_M]] };
  const building = createBuilding({
    building: 'Fair',
    levels: [{ id: 'G', name: 'Ground', width_m: SIDE_M, height_m: SIDE_M, rooms: [hall] }],
    beacons: [{ id: 'B00000000010', level: 'G', room: 'hall', x_m: 1, y_m: 1, tx: -100 }],
    gateways: [],
    staff: [],
  });
  const settings = { ...DEFAULTS, keptShare: 1e-3 }; // so that a smaller hall will do
  const model = createModel(building, settings);
  assert.ok(model.cells.all.length > 2 / settings.keptShare);
  const beliefs = createBeliefs(model, () => true);
  const slot = beliefs.open();
  const chances = new Float64Array(1);
  const { heard, remembered } = said({ 0: -105 });
  for (const seconds of [0, 1, 3]) {
    beliefs.update(slot, { ...PASSED, seconds, steps: seconds }, heard, remembered, COMMON, 0);
    assert.equal(beliefs.rooms(slot, chances), 0);
    assert.ok(Math.abs(chances[0] - 1) < 1e-9);
    beliefs.clear(chances);
  }
});

test('whoever is heard as in a room is soon believed to be there', () => {
  for (const room of ['G-a', 'G-c', 'U-hall', 'U-lift']) {
    const scene = opened();
    for (let s = 0; s < 10; s += 1) scene.hear(scene.at(room), { seconds: s === 0 ? 0 : 1 });
    const { best, chances } = scene.rooms();
    assert.equal(best, room);
    assert.ok(chances[room] > 0.8, `${room} ${chances[room]}`);
  }
});

test('evidence is bounded: however long the same is heard, it counts as `looks`, and what was before fades', () => {
  const stayed = (/** @type {number} */ seconds) => {
    const scene = opened();
    for (let s = 0; s < seconds; s += 1) scene.hear(scene.at('G-a'));
    return scene;
  };
  const sure = stayed(20).rooms().chances['G-a'];
  const [short, long] = [stayed(20), stayed(2000)];
  assert.ok(Math.abs(long.rooms().chances['G-a'] - sure) < 0.02);
  const until = (/** @type {ReturnType<typeof opened>} */ scene) => {
    for (let s = 1; s < 60; s += 1) {
      scene.hear(scene.at('G-hall'));
      if (scene.rooms().best === 'G-hall') return s;
    }
    return Infinity;
  };
  const [soon, later] = [until(short), until(long)];
  assert.equal(soon, later, 'a long stay does not hold a belief back');
  assert.ok(soon <= 3 * DEFAULTS.memoryS, `${soon} s`);
});

test('of who walks, what is heard counts more', () => {
  const [stands, walks] = [false, true].map((walking) => {
    const scene = opened();
    for (let s = 0; s < 10; s += 1) scene.hear(scene.at('G-a'));
    scene.hear(scene.at('G-hall'), { walks: walking });
    return scene.rooms().chances['G-hall'];
  });
  assert.ok(walks > stands, `${walks} ${stands}`);
});

test('a beacon on purpose decides alone; after a long silence nothing of before counts', () => {
  for (const passed of [{ touched: true }, { seconds: DEFAULTS.forgetMs / 1000 + 1, steps: 31 }]) {
    const scene = opened();
    for (let s = 0; s < 60; s += 1) scene.hear(scene.at('U-c'));
    const beacon = [...scene.model.radio.beacons.values()].find((source) => scene.model.radio.sources[source].id === 'B00000000000') ?? -1;
    scene.hear({ [beacon]: passed.touched ? -20 : -50 }, passed);
    assert.equal(scene.rooms().best, 'G-a', JSON.stringify(passed));
  }
});

test('probabilities of cells and of rooms add up to 1, whatever is heard, and people do not share beliefs', () => {
  const moment = fc.record({ seconds: fc.double({ min: 0, max: 40, noNaN: true }), steps: fc.integer({ min: 0, max: 40 }),
    touched: fc.boolean(), walks: fc.boolean(), who: fc.nat(2),
    levels: fc.dictionary(fc.nat(9).map(String), fc.integer({ min: -105, max: -20 }), { minKeys: 1, maxKeys: 9 }) });
  const scene = opened();
  fc.assert(fc.property(fc.array(moment, { minLength: 1, maxLength: 30 }), (moments) => {
    const slots = [scene.beliefs.open(), scene.beliefs.open(), scene.beliefs.open()];
    for (const { levels, who, ...passed } of moments) {
      const others = slots.filter((_, k) => k !== who).map((slot) => scene.beliefs.cells(slot));
      const found = scene.hear(levels, passed, slots[who]);
      assert.ok([found.offDb, found.placeVariance, found.readingVariance].every(Number.isFinite));
      const cells = scene.beliefs.cells(slots[who]);
      assert.ok(cells.length > 0 && cells.length <= DEFAULTS.keptCells);
      assert.ok(Math.abs(cells.reduce((sum, [, chance]) => sum + chance, 0) - 1) < 1e-9);
      assert.ok(Math.abs(Object.values(scene.rooms(slots[who]).chances).reduce((sum, chance) => sum + chance, 0) - 1) < 1e-9);
      assert.deepEqual(slots.filter((_, k) => k !== who).map((slot) => scene.beliefs.cells(slot)), others);
    }
    for (const slot of slots) scene.beliefs.close(slot);
  }), { numRuns: 60 });
});

test('a slot that is used again begins with nothing', () => {
  const scene = opened();
  for (let s = 0; s < 10; s += 1) scene.hear(scene.at('G-a'));
  scene.beliefs.close(scene.slot);
  assert.equal(scene.beliefs.open(), scene.slot);
  assert.deepEqual(scene.beliefs.cells(scene.slot), []);
});
