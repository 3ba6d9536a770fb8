// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const { createBuilding } = require('../../lib/building');
const { createModel } = require('../../lib/locator/model');
const { isPassable, joinStoreys } = require('../../lib/locator/plan');
const { fewestWalls, roomAt, storeyOf, wallsBetween } = require('../../lib/locator/storey');
const { inOneGo } = require('../../lib/shared/pieces');
const { DEFAULTS } = require('../../lib/locator/constants');
const { expectedIn } = require('../../lib/locator/source');
const fc = require('../support/fast-check');
const { house, houseFile } = require('./house');

/** The plan of a building, with two questions to it. @param {Pick<import('../../lib/building').Building, 'levels'>} building */
function planOf(building) {
  const plan = joinStoreys(building.levels.map(({ id }) => id), building.levels.map((level) => inOneGo(storeyOf(level))));
  return {
    ...plan,
    /** Whether one gets from one room straight into the other. @param {number} a @param {number} b */
    passable(a, b) {
      const { storey } = plan.rooms[a];
      const first = plan.firstRoom[storey];
      return storey === plan.rooms[b].storey && isPassable(plan.storeys[storey], a - first, b - first);
    },
    /** Walls between two points of a level. @param {number} storey @param {[number, number, number, number]} line metres */
    walls: (storey, ...line) => wallsBetween(plan.storeys[storey], ...line),
  };
}

const plan = planOf(house());
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
    const open = planOf(file);
    assert.equal(open.walls(0, 5, 11, 25, 11), 0);
    assert.ok(open.passable(at('G-a'), at('G-b')));
    assert.equal(open.walls(1, 5, 11, 25, 11), 2);
  });
});

describe('edges without a wall', () => {
  /** @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
  const box = (x0, y0, x1, y1) => [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
  /** Rooms a and b beside each other, joined at x, and a corridor. @param {number} x @param {Record<string, object>} [changes] */
  const flat = (x, changes = {}) => planOf(/** @type {any} */ ({ levels: [{ id: 'L', name: 'L', width_m: 20, height_m: 10, rooms: [
    { id: 'a', name: 'A', polygon: box(0, 0, x, 8), ...changes.a }, { id: 'b', name: 'B', polygon: box(x, 0, 20, 8), ...changes.b },
    { id: 'hall', name: 'Hall', kind: 'corridor', polygon: box(0, 8, 20, 10) }] }] }));
  const EAST = 1;
  const WEST = 3;

  test('one passes there, whichever of the two rooms says so, and not where there are walls', () => {
    assert.ok(!flat(10).passable(0, 1));
    for (const open of [flat(10, { a: { open_edges: [EAST] } }), flat(10, { b: { open_edges: [WEST] } })]) {
      assert.ok(open.passable(0, 1) && open.passable(1, 0));
    }
    assert.ok(!flat(10, { a: { open_edges: [WEST] } }).passable(0, 1), 'another edge');
    assert.ok(!flat(10, { a: { open_edges: [77] } }).passable(0, 1), 'an edge that there is not');
  });

  test('signals pass unweakened wherever the edge lies, walls elsewhere are counted', () => {
    const metres = (/** @type {number} */ min, /** @type {number} */ max) => fc.double({ min, max, noNaN: true });
    fc.assert(fc.property(metres(9.4, 10.6), metres(0.5, 9), metres(0.5, 7.5), metres(11, 19.5), metres(0.5, 7.5), (x, ax, ay, bx, by) => {
      const open = flat(x, { a: { open_edges: [EAST] } });
      assert.deepEqual([open.walls(0, ax, ay, bx, by), open.walls(0, bx, by, ax, ay)], [0, 0]);
      assert.deepEqual([flat(x).walls(0, ax, ay, bx, by), open.walls(0, ax, ay, ax, 9.5)], [1, 1]);
    }));
  });

  test('an opening beside a wall is one where it is', () => {
    const notched = flat(10, { a: { polygon: [[0, 0], [10, 0], [10, 3], [10, 8], [0, 8]], open_edges: [1] } });
    assert.ok(notched.passable(0, 1));
    assert.equal(notched.walls(0, 5, 1.5, 15, 1.5), 0);
    assert.equal(notched.walls(0, 5, 6, 15, 6), 1);
  });

  test('an opening narrower than a door lets nobody through', () => {
    const slit = flat(10, { b: { polygon: [[10, 7.5], [20, 7.5], [20, 8], [10, 8]], open_edges: [WEST] } });
    assert.ok(!slit.passable(0, 1));
  });
});

describe('cells', () => {
  const { cells } = createModel(house(), DEFAULTS);

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
    for (const devices of ['beacons', 'gateways']) file[devices] = file[devices].filter((/** @type {any} */ { room }) => room !== 'G-a');
    const odd = createModel(createBuilding(file), DEFAULTS).cells;
    assert.equal(new Set(odd.room).size, plan.rooms.length);
  });
});

test('what is taken from the building before is what would be made anew, whatever changed', () => {
  /** @type {Record<string, (file: any) => void>} */
  const edit = {
    nothing: () => {},
    name: (file) => { file.levels[0].rooms[0].name = 'Other'; },
    moved: (file) => { file.beacons[2].x_m += 1; },
    louder: (file) => { file.beacons[0].tx = -40; },
    least: (file) => { file.gateways[1].min_rssi = -70; },
    gone: (file) => { file.gateways.splice(2, 1); },
    first: (file) => { file.beacons.unshift({ ...file.beacons[1], id: 'B90000000090' }); },
    twin: (file) => { file.gateways.push({ ...file.gateways[0], id: file.beacons[0].id }); },
    wall: (file) => {
      const corners = file.levels[0].rooms.flatMap((/** @type {any} */ room) => room.polygon);
      for (const corner of corners) if (corner[0] === 10) corner[0] = 12;
    },
    level: (file) => {
      const below = (/** @type {any[]} */ list) => list.filter(({ level }) => level === 'G');
      Object.assign(file, { levels: file.levels.slice(0, 1), beacons: below(file.beacons), gateways: below(file.gateways) });
    },
    tuning: (file) => { file.tuning = { wallDb: 9 }; },
    open: (file) => { file.levels[0].rooms[0].open_edges = [1]; },
    below: (file) => {
      const { rooms, ...level } = structuredClone(file.levels[0]);
      const own = rooms.map((/** @type {any} */ room) => ({ ...room, id: `B-${room.id}` }));
      file.levels.unshift({ ...level, id: `B${file.levels.length}`, rooms: own });
    },
    lift: (file) => { file.levels.at(-1).rooms.at(-1).kind = 'corridor'; },
    guessed: (file) => { file.beacons[1].approximate = true; },
  };
  const compared = (/** @type {import('../../lib/locator/model').Model} */ { plan: { rooms, levels }, cells, radio, settings }) => (
    { rooms, levels, cells, radio, settings });
  const byId = (/** @type {any[]} */ list) => new Map(list.map((one) => [one.id, { ...one }]));
  fc.assert(fc.property(fc.array(fc.constantFrom(...Object.keys(edit)), { minLength: 1, maxLength: 6 }), (edits) => {
    let before = createModel(house(), DEFAULTS);
    const file = houseFile();
    for (const name of edits) {
      edit[name](file);
      const building = { ...house(), levels: structuredClone(file.levels), beacons: byId(file.beacons), gateways: byId(file.gateways) };
      const settings = { ...DEFAULTS, ...file.tuning };
      const model = createModel(building, settings, before);
      assert.deepEqual(compared(model), compared(createModel(building, settings)), name);
      before = model;
    }
  }), { numRuns: 25 });
});

/** Rooms side by side, some of them missing, of several kinds and shapes; devices in them, some of unknown place. */
const randomBuilding = fc.record({
  sideM: fc.constantFrom(2, 3.3, 5, 12),
  levels: fc.array(fc.array(fc.record({
    kind: fc.constantFrom(undefined, undefined, 'corridor', 'core'), open: fc.constantFrom([], [], [1], [0, 2]),
    shape: fc.constantFrom('box', 'box', 'triangle', 'none'), beacon: fc.boolean(), gateway: fc.boolean(), approximate: fc.boolean(),
    tx: fc.integer({ min: -90, max: -30 }),
  }), { minLength: 1, maxLength: 15 }), { minLength: 1, maxLength: 5 }),
}).map(({ sideM, levels }) => {
  /** @type {any} */
  const file = { levels: [], beacons: [], gateways: [] };
  levels.forEach((spots, storey) => {
    const level = `L${storey}`;
    const rooms = spots.flatMap(({ kind, open, shape, beacon, gateway, approximate, tx }, i) => {
      if (shape === 'none') return [];
      const [x, y] = [(i % 4) * sideM, Math.floor(i / 4) * sideM];
      const corners = [[x, y], [x + sideM, y], [x + sideM, y + sideM], [x, y + sideM]];
      const device = { level, room: `${level}-${i}`, x_m: x + sideM / 4, y_m: y + sideM / 5, approximate };
      if (beacon) file.beacons.push({ id: `b${storey}-${i}`, tx, ...device });
      if (gateway) file.gateways.push({ id: `g${storey}-${i}`, ...device });
      return [{ id: `${level}-${i}`, name: 'R', kind, open_edges: open, polygon: shape === 'box' ? corners : corners.slice(1) }];
    });
    file.levels.push({ id: level, name: level, width_m: 4 * sideM, height_m: 4 * sideM, rooms });
  });
  const byId = (/** @type {any[]} */ list) => new Map(list.map((one) => [one.id, one]));
  return /** @type {any} */ ({ levels: file.levels, beacons: byId(file.beacons), gateways: byId(file.gateways) });
});
const randomSettings = fc.record({
  wallDb: fc.constantFrom(5, 0, 11.5), floorDb: fc.constantFrom(18, 2), exponent: fc.constantFrom(2.2, 1.6, 3.3),
}).map((tuning) => ({ ...DEFAULTS, ...tuning }));

describe('short cuts', () => {
  /** As in plan.js, sample by sample. @param {import('../../lib/locator/storey').Storey} storey @param {number[]} line */
  function wallsOneByOne({ rooms, raster, width, height, joined }, [ax, ay, bx, by]) {
    const steps = Math.max(1, Math.ceil(Math.hypot(bx - ax, by - ay) / 0.5));
    const square = (/** @type {number} */ m, /** @type {number} */ size) => Math.min(size - 1, Math.max(0, Math.floor(m / 0.5)));
    let count = 0;
    let last = -1;
    for (let step = 0; step <= steps; step += 1) {
      const [x, y] = [ax + ((bx - ax) * step) / steps, ay + ((by - ay) * step) / steps];
      const room = raster[square(y, height) * width + square(x, width)];
      if (room < 0) continue;
      const wall = room !== last && last >= 0 && !(rooms[last].open && rooms[room].open);
      if (wall && joined[last].has(room)) return NaN; // through a gap or not: tested above
      if (wall) count += 1;
      last = room;
    }
    return count;
  }

  const metres = fc.double({ min: 0, max: 48, noNaN: true });
  test('walls are counted as sample by sample, and no room is behind fewer than `fewestWalls` says', () => {
    fc.assert(fc.property(randomBuilding, fc.array(fc.tuple(metres, metres, metres, metres), { minLength: 20 }), (building, lines) => {
      for (const [k, storey] of planOf(building).storeys.entries()) {
        for (const line of lines) {
          const walls = wallsOneByOne(storey, line);
          if (Number.isNaN(walls)) continue;
          const [ax, ay, bx, by] = line;
          assert.equal(wallsBetween(storey, ax, ay, bx, by), walls, `level ${k}: ${line}`);
          const fewest = fewestWalls(storey, [{ x: bx, y: by }], 200);
          assert.ok(fewest[roomAt(storey, ax, ay)] <= walls, `level ${k}: ${line}`);
        }
      }
    }), { numRuns: 30 });
  });

  test('every device is heard in every cell as the formula says', () => {
    fc.assert(fc.property(randomBuilding, randomSettings, (building, settings) => {
      const { plan: its, cells, radio } = createModel(building, settings);
      for (const source of radio.sources) {
        const { device, room } = source;
        const storey = its.levels.indexOf(device.level);
        const own = cells.all.filter((cell) => cell.room === room);
        const every = Math.ceil(own.length / 16);
        const places = device.approximate && own.length > 1 ? own.filter((_, k) => k % every === 0) : [{ x: device.x_m, y: device.y_m }];
        /** @type {number[]} */
        const levels = [];
        cells.all.forEach((cell, c) => {
          const floors = Math.abs(cell.storey - storey);
          if (floors > 2) {
            assert.ok(c < source.from || c >= source.to);
            return;
          }
          const losses = places.map(({ x, y }) => 10 * settings.exponent
            * Math.log10(Math.max(settings.nearestM, Math.hypot(cell.x - x, cell.y - y, floors * settings.storeyM + settings.aboveM)))
            + (floors > 0 ? floors * settings.floorDb : wallsBetween(its.storeys[storey], cell.x, cell.y, x, y) * settings.wallDb));
          const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
          levels[c] = Math.max(settings.weakestDbm, (device.tx ?? settings.txDbm) - mean);
          assert.ok(Math.abs(expectedIn(source, c, settings.weakestDbm) - levels[c]) < 1e-4, `${device.id} in cell ${c}`);
        });
        const weakestNear = Math.min(...[...source.near].map((c) => levels[c]));
        assert.equal(source.near.length, Math.min(settings.strayCells, source.to - source.from));
        assert.ok(levels.every((level, c) => source.near.includes(c) || level < weakestNear + 1e-4), device.id);
      }
    }), { numRuns: 30 });
  });
});

describe('radio', () => {
  const model = createModel(house(), DEFAULTS);
  const { radio, cells } = model;

  test('a source is strongest in its own room, weaker behind a wall, weakest on another level', () => {
    const source = radio.sources[radio.gateways.get('gw-G-a') ?? -1];
    const strongest = (/** @type {string} */ room) =>
      Math.max(...cells.all.map((cell, c) => (cell.room === at(room) ? expectedIn(source, c, DEFAULTS.weakestDbm) : -Infinity)));
    assert.ok(strongest('G-a') > strongest('G-b') + DEFAULTS.wallDb);
    assert.ok(strongest('G-b') > strongest('G-c'));
    assert.ok(strongest('G-a') > strongest('U-a') + DEFAULTS.floorDb);
  });

  test('the loudest sources of each cell are the loudest, in order', () => {
    const { who, dbm } = radio.loudest.gateway;
    const most = DEFAULTS.quietSources;
    for (let c = 0; c < cells.all.length; c += 7) {
      const all = [...radio.gateways.values()].map((source) => {
        const { from, to } = radio.sources[source];
        return c >= from && c < to ? Math.round(expectedIn(radio.sources[source], c, DEFAULTS.weakestDbm)) : -999;
      });
      const best = all.sort((a, b) => b - a).slice(0, most);
      assert.deepEqual([...dbm.slice(c * most, c * most + most)], best);
      assert.ok(who[c * most] >= radio.beacons.size);
    }
  });
});
