// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const { DEFAULTS } = require('../../lib/locator/constants');
const { createEvidence } = require('../../lib/locator/evidence');
const { createModel } = require('../../lib/locator/model');
const { expectedIn } = require('../../lib/locator/source');
const fc = require('../support/fast-check');
const { createBuilding } = require('../../lib/building');
const { house, houseFile } = require('./house');

const CERTAIN_LEVEL = { meanDb: 0, common: DEFAULTS.carriedDb ** 2 };
const UNKNOWN_LEVEL = { meanDb: 0, common: DEFAULTS.carriedDb ** 2 + DEFAULTS.levelDb ** 2 };
const NO_SILENCE = { kind: /** @type {const} */ ('gateway'), thresholdDbm: 999, nowMs: 0 }; // nobody is that loud

/** @param {Record<string, object>} [changes] of the house @param {object} [overrides] */
function scene(changes = {}, overrides = {}) {
  const settings = { ...DEFAULTS, powerNats: 0, unplacedPowerNats: 0, ...overrides }; // power has tests of its own
  const model = createModel(house(changes), settings);
  const { radio, cells, plan: { rooms } } = model;
  const gateways = [...radio.gateways.values()].slice(0, 5); // of level G
  const roomsOf = rooms.map((_, room) => cells.all.flatMap((cell, c) => (cell.room === room ? [c] : [])));
  return {
    ...model, settings, gateways,
    /** A cell in the middle of a room. @param {string} id */
    cellOf(id) {
      const its = roomsOf[rooms.findIndex((room) => room.id === id)];
      return its[Math.floor(its.length / 2)];
    },
    /** What a source should be heard like. @param {number} source @param {number} cell */
    expected: (source, cell) => expectedIn(radio.sources[source], cell, DEFAULTS.weakestDbm),
    /**
     * Probabilities of all cells after these readings.
     * @param {number[]} sources @param {number[]} levels @param {any} [how]
     */
    weighed(sources, levels, { common = UNKNOWN_LEVEL, readings = 4, silence = NO_SILENCE, kept = 1, share = 1, prior = null,
      isAlive = () => true, at = [...cells.all.keys()] } = {}) {
      const mass = new Float64Array(cells.all.length);
      for (const c of at) mass[c] = prior ? prior[c] : 1 / at.length;
      const evidence = createEvidence(radio, settings, mass, isAlive, cells.room);
      const remembered = { count: sources.length, sources: Int32Array.from(sources), levels: Float64Array.from(levels),
        readings: new Float64Array(sources.length).fill(readings), ages: new Float64Array(sources.length) };
      const found = evidence.weigh(Int32Array.from(at), at.length, remembered, common, silence, kept, share);
      assert.ok(Math.abs(mass.reduce((sum, value) => sum + value, 0) - 1) < 1e-9);
      return { mass, ...found, byRoom: roomsOf.map((its) => its.reduce((sum, c) => sum + mass[c], 0)) };
    },
  };
}

const HOUSE = scene();
const { gateways } = HOUSE;
const [here, there] = [HOUSE.cellOf('G-a'), HOUSE.cellOf('G-b')];
const asIn = (/** @type {number} */ cell) => gateways.map((source) => HOUSE.expected(source, cell));
/** Log odds of two cells. @param {Float64Array} mass */
const odds = (mass, a = here, b = there) => Math.log(mass[a] / mass[b]);

describe('readings', () => {
  test('as expected in a cell they speak for it', () => {
    const { mass, byRoom, offDb } = HOUSE.weighed(gateways, asIn(here), { common: CERTAIN_LEVEL });
    assert.ok(odds(mass) > 1);
    assert.equal(byRoom.indexOf(Math.max(...byRoom)), HOUSE.plan.rooms.findIndex(({ id }) => id === 'G-a'));
    assert.ok(Math.abs(offDb) < 3);
  });

  test('the densities are those of the covariance: each its own variance, and one error common to all', () => {
    // by hand: covariance diag(v) + c·11ᵀ, by Gauss elimination
    const rssis = asIn(here).map((dbm, k) => dbm + [4, -3, 6, 0, -5][k]);
    for (const common of [CERTAIN_LEVEL, UNKNOWN_LEVEL]) {
      const variance = DEFAULTS.spreadDb ** 2 + DEFAULTS.fadingDb ** 2 / 4;
      const logP = (/** @type {number} */ cell) => {
        const off = rssis.map((rssi, k) => rssi - HOUSE.expected(gateways[k], cell));
        const rows = off.map((value, i) => [...off.map((_, j) => (i === j ? variance : 0) + common.common), value]);
        rows.forEach((row, i) => {
          for (let j = i + 1; j < rows.length; j += 1) {
            const factor = rows[j][i] / row[i];
            row.forEach((value, k) => { rows[j][k] -= factor * value; });
          }
        });
        const solved = new Array(rows.length).fill(0);
        for (let i = rows.length - 1; i >= 0; i -= 1) {
          solved[i] = (rows[i][rows.length] - solved.reduce((sum, value, j) => sum + (j > i ? value * rows[i][j] : 0), 0)) / rows[i][i];
        }
        return -solved.reduce((sum, value, i) => sum + value * off[i], 0) / 2;
      };
      const { mass } = HOUSE.weighed(gateways, rssis, { common });
      assert.ok(Math.abs(odds(mass) - (logP(here) - logP(there))) < 1e-6);
    }
  });

  test('what moves all of them at once leaves the rooms nearly alone, and all the more the less is known of the level', () => {
    const noise = fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 5, maxLength: 5 });
    const cell = fc.constantFrom(...['G-a', 'G-b', 'G-c', 'G-hall', 'G-lift'].map(HOUSE.cellOf));
    const share = 0.3; // DEFAULTS.looks come over some seconds
    fc.assert(fc.property(cell, noise, fc.integer({ min: -15, max: 15 }), (at, noises, addedDb) => {
      const rssis = asIn(at).map((dbm, k) => dbm + noises[k]);
      const [before, after] = [0, addedDb].map((db) => HOUSE.weighed(gateways, rssis.map((rssi) => rssi + db), { share }).byRoom);
      const changed = before.reduce((sum, chance, room) => sum + Math.abs(chance - after[room]), 0) / 2;
      assert.ok(changed < 0.3, `${changed} of the probability went elsewhere`);
      const flat = { meanDb: 0, common: 1e9 }; // nothing at all is known of the level: then it cancels
      const [same, moved] = [0, addedDb].map((db) => HOUSE.weighed(gateways, rssis.map((rssi) => rssi + db),
        { share, common: flat }).byRoom);
      assert.ok(same.every((chance, room) => Math.abs(chance - moved[room]) < 1e-5));
    }));
  });

  test('a level that is known is taken off', () => {
    const rssis = asIn(here);
    const loud = HOUSE.weighed(gateways, rssis.map((rssi) => rssi + 12), { common: { ...CERTAIN_LEVEL, meanDb: 12 } });
    const usual = HOUSE.weighed(gateways, rssis, { common: CERTAIN_LEVEL });
    loud.mass.forEach((chance, c) => assert.ok(Math.abs(chance - usual.mass[c]) < 1e-9));
  });

  test('the excess over what is expected is given, shrunk by what is known', () => {
    const louder = (/** @type {any} */ common) => HOUSE.weighed(gateways, asIn(here).map((rssi) => rssi + 10), { common, at: [here] });
    const { offDb, readingVariance, placeVariance } = louder(UNKNOWN_LEVEL);
    assert.ok(Math.abs(offDb - (10 * UNKNOWN_LEVEL.common) / (UNKNOWN_LEVEL.common + readingVariance)) < 1e-6);
    assert.equal(placeVariance, 0);
    assert.ok(louder(CERTAIN_LEVEL).offDb < offDb);
    assert.ok(HOUSE.weighed(gateways, asIn(here), { share: 0.01 }).placeVariance > 0.1, 'who may be anywhere may be heard at any level');
  });

  test('a mean of many says more than one, what furniture does to it remains', () => {
    const said = (/** @type {number} */ readings) => odds(HOUSE.weighed(gateways, asIn(here), { readings, common: CERTAIN_LEVEL }).mass);
    assert.ok(said(4) > said(1) && said(30) > said(4));
    const bound = (DEFAULTS.spreadDb ** 2 + DEFAULTS.fadingDb ** 2) / DEFAULTS.spreadDb ** 2;
    assert.ok(said(1e9) < said(1) * bound * 1.1, `${said(1e9)}`);
  });

  test('what was known before counts `kept`, what is heard now `share`', () => {
    const prior = new Float64Array(HOUSE.cells.all.length).fill(1e-3);
    prior[there] = 0.5;
    const all = HOUSE.weighed(gateways, asIn(here)).mass;
    const neither = HOUSE.weighed(gateways, asIn(here), { prior, kept: 0, share: 0 }).mass;
    assert.ok(neither.every((chance) => Math.abs(chance - 1 / neither.length) < 1e-12));
    const kept = HOUSE.weighed(gateways, asIn(here), { prior, kept: 0.5, share: 0 }).mass;
    assert.ok(Math.abs(odds(kept, there, here) - 0.5 * Math.log(500)) < 1e-9);
    const half = HOUSE.weighed(gateways, asIn(here), { share: 0.5 }).mass;
    assert.ok(Math.abs(odds(half) - odds(all) / 2) < 1e-9);
  });
});

describe('devices', () => {
  test('a device near by decides against one that is off by as much far away, where its level falls off most', () => {
    // two cells of one room: metres change what a near device is heard like, hardly what a far one is
    const near = HOUSE.gateways[0];
    const far = HOUSE.gateways[2];
    const cells = HOUSE.cells.all.flatMap((cell, c) => (HOUSE.plan.rooms[cell.room].id === 'G-a' ? [c] : []));
    const spread = (/** @type {number} */ source) => {
      const levels = cells.map((c) => HOUSE.expected(source, c));
      const of = levels.map((level) => HOUSE.weighed([source], [level], { at: cells, common: CERTAIN_LEVEL }).mass);
      return of.reduce((sum, mass) => sum + Math.max(...cells.map((c) => mass[c])), 0) / of.length;
    };
    assert.ok(spread(near) > 1.1 * spread(far), `${spread(near)} and ${spread(far)}`);
  });

  test('a device of which only the room is known counts less, and is the same all over its room', () => {
    const guessed = scene({ 'gw-G-a': { approximate: true } });
    const [source] = guessed.gateways;
    const { variance } = guessed.radio.sources[source];
    assert.ok(variance > 4, `${variance}`);
    assert.equal(HOUSE.radio.sources[source].variance, 0);
    const at = guessed.cells.all.flatMap((cell, c) => (guessed.plan.rooms[cell.room].id === 'G-a' ? [c] : []));
    const levelsOf = (/** @type {any} */ one) => at.map((c) => one.expected(source, c));
    const range = (/** @type {number[]} */ levels) => Math.max(...levels) - Math.min(...levels);
    assert.ok(range(levelsOf(guessed)) < range(levelsOf(HOUSE)) / 2);
    const said = (/** @type {any} */ one) => odds(one.weighed([source], [-50], { common: CERTAIN_LEVEL }).mass);
    assert.ok(said(guessed) > 0 && said(guessed) < said(HOUSE), 'still for its room');
  });

  test('what is out of reach is expected to be as weak as can be', () => {
    const [source] = HOUSE.gateways;
    const { first, expected } = HOUSE.radio.sources[source];
    const model = scene({}, {});
    model.radio.sources[source].expected = expected.slice(0, here - first + 1);
    const { mass } = model.weighed([source], [HOUSE.expected(source, here)], { at: [here, here + 1], common: CERTAIN_LEVEL });
    assert.ok(mass[here] > 0.99);
  });
});

describe('power', () => {
  const { powerNats, powerFolds } = DEFAULTS;
  const [first, ...others] = gateways;
  /** By how much power alone speaks for room a against b. @param {number[]} sources @param {number[]} levels @param {any} [how] */
  const said = (sources, levels, how = {}) => {
    const at = { at: [here, there], ...how };
    return odds(scene({}, { powerNats }).weighed(sources, levels, at).mass) - odds(HOUSE.weighed(sources, levels, at).mass);
  };

  test('a room whose devices are heard with e times the power is `powerNats` likelier, within a bound', () => {
    const e = 10 / Math.LN10;
    assert.ok(Math.abs(said(gateways.slice(0, 2), [-60, -60 - e]) - powerNats) < 1e-6);
    assert.ok(Math.abs(said(gateways.slice(0, 2), [-60, -60 - 10 * e]) - powerNats * powerFolds) < 1e-6);
  });

  test('it counts more where the places of devices were not measured', () => {
    const e = 10 / Math.LN10;
    const guessed = Object.fromEntries(gateways.map((source) => [HOUSE.radio.sources[source].id, { approximate: true }]));
    const saidIn = (/** @type {number} */ nats) => {
      const one = scene(guessed, { powerNats, unplacedPowerNats: nats });
      return odds(one.weighed(gateways.slice(0, 2), [-60, -60 - e], { at: [here, there] }).mass);
    };
    assert.ok(Math.abs(saidIn(DEFAULTS.unplacedPowerNats) - saidIn(0) - DEFAULTS.unplacedPowerNats) < 1e-6);
    assert.ok(DEFAULTS.unplacedPowerNats > powerNats);
  });

  test('a room of which nothing is heard is unlikely; not so where its devices are out, or are none that could be heard', () => {
    const rssis = others.map((_, k) => -60 - k);
    assert.ok(Math.abs(said(others, rssis) + powerNats * powerFolds) < 1e-6);
    assert.ok(Math.abs(said(others, rssis, { isAlive: (/** @type {number} */ source) => source !== first }) + powerNats) < 1e-6);
    const file = houseFile();
    file.gateways = file.gateways.filter((/** @type {any} */ { id }) => id !== 'gw-G-a');
    const settings = DEFAULTS;
    const { radio, cells } = createModel(createBuilding(file), settings);
    const mass = new Float64Array(cells.all.length).fill(0.5);
    const evidence = createEvidence(radio, settings, mass, () => true, cells.room);
    const none = new Float64Array(0);
    const nothing = { count: 0, sources: new Int32Array(0), levels: none, readings: none, ages: none };
    evidence.weigh(Int32Array.of(here, there), 2, nothing, UNKNOWN_LEVEL, { ...NO_SILENCE }, 1, 1);
    assert.ok(Math.abs(odds(mass) - powerNats * (powerFolds - 1)) < 1e-6, 'its beacon is nothing that gateways hear');
  });
});

describe('silence', () => {
  const [first, ...others] = gateways;
  const SILENCE = { kind: /** @type {const} */ ('gateway'), thresholdDbm: DEFAULTS.hearableDbm, nowMs: 0 };
  /** What is said of room a by its own gateway's silence. @param {any} [how] @param {any} [one] */
  const silent = (how = {}, one = HOUSE) =>
    odds(one.weighed(others, others.map((source) => HOUSE.expected(source, here)), { silence: SILENCE, ...how }).mass);

  test('of a device that should be loud speaks against a place, but never for certain', () => {
    const without = silent({ silence: NO_SILENCE });
    assert.ok(silent() < without);
    assert.ok(silent() > without + Math.log(DEFAULTS.lostShare) * DEFAULTS.quietSources);
  });

  test('means nothing of a device that is out, and nothing of one that was heard', () => {
    assert.ok(silent({ isAlive: (/** @type {number} */ source) => source !== first }) > silent());
    const heard = HOUSE.weighed(gateways, asIn(here), { silence: SILENCE }).mass;
    assert.ok(odds(heard) > silent());
  });

  test('means little where a device would be weak, less still of a gateway that does not report weak readings', () => {
    const quiet = (/** @type {any} */ changes) => {
      const one = scene(changes);
      const { mass } = one.weighed([], [], { silence: SILENCE, at: [here, there] });
      return odds(mass, there, here);
    };
    const usual = quiet({});
    assert.ok(quiet({ 'gw-G-b': { min_rssi: -30 } }) > usual, 'it says less against its own room');
    assert.ok(silent({ silence: { ...SILENCE, thresholdDbm: -40 } }) > silent());
  });

  test('of a gateway that does not report weak readings is expected where a tag is known to be weak', () => {
    const one = scene({ 'gw-G-b': { min_rssi: -65 } });
    const silence = { ...SILENCE, thresholdDbm: -200 };
    const quiet = (/** @type {number} */ meanDb) =>
      odds(one.weighed([], [], { silence, at: [here, there], common: { ...UNKNOWN_LEVEL, meanDb } }).mass, there, here);
    assert.ok(quiet(-30) > quiet(0) + 0.1, `${quiet(-30)} and ${quiet(0)}`);
  });

  test('of a tag that is known to be weak is expected', () => {
    const weak = (/** @type {number} */ meanDb) => {
      const how = { silence: SILENCE, common: { ...UNKNOWN_LEVEL, meanDb } };
      const rssis = others.map((source) => HOUSE.expected(source, here) + meanDb);
      const quiet = odds(HOUSE.weighed(others, rssis, how).mass);
      return quiet - odds(HOUSE.weighed(others, rssis, { ...how, silence: NO_SILENCE }).mass);
    };
    assert.ok(weak(-40) > weak(0), `${weak(-40)} and ${weak(0)}`);
  });
});
