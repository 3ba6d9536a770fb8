// @ts-check
'use strict';

const { covers } = require('../building/geometry');

/**
 * What measured positions say: how well the levels that somebody hears fit each room, if they fall with the distance. Levels count
 * against each other only, so the power of a tag or phone does not matter; walls are not asked.
 * @typedef {import('./model').Room} Room
 * @typedef {import('./model').Source} Source
 * @typedef {{x: Float64Array, y: Float64Array}} Cells middles of the parts of a room, metres
 * @typedef {{source: number, dbm: number, weight: number}} Level
 * @typedef {{misfit: number, offDb: number, cell: number}} Fit of a room's best cell; misfit: weighted sum of squares, dB²;
 *   offDb: by how much the levels are above what is expected there
 * @typedef {ReturnType<typeof createPlan>} Plan
 */

const NEAR_M = 8; // a room without a device is thought of where a device within so many metres is heard

/**
 * @param {(Room|undefined)[]} rooms by number @param {(Source|undefined)[]} sources by number
 * @param {import('./settings').Settings} settings
 */
function createPlan(rooms, sources, { exponent, aboveM, storeyM, cellM, txDbm }) {
  /** @type {(Cells|undefined)[]} by room */
  const cells = [];
  /** Expected level of a source in each cell of a room, dBm, by `source * rooms + room`. @type {Map<number, Float32Array>} */
  const expected = new Map();
  /** @type {(number[]|undefined)[]} by source */
  const near = [];

  /** @param {number} room */
  const cellsOf = (room) => (cells[room] ??= cellsIn(/** @type {Room} */ (rooms[room]).polygon, cellM));

  /** @param {number} source @param {number} room */
  function expectedIn(source, room) {
    const key = source * rooms.length + room;
    let found = expected.get(key);
    if (!found) {
      found = levelsIn(/** @type {Source} */ (sources[source]), /** @type {Room} */ (rooms[room]), cellsOf(room));
      expected.set(key, found);
    }
    return found;
  }

  /** @param {Source} source @param {Room} room @param {Cells} its */
  function levelsIn({ device, storey }, room, { x, y }) {
    const upM = Math.hypot(aboveM, storeyM * Math.abs(room.storey - storey));
    return Float32Array.from(x, (_, c) => (
      txDbm - 10 * exponent * Math.log10(Math.max(1, Math.hypot(x[c] - device.x_m, y[c] - device.y_m, upM)))));
  }

  return {
    expectedIn,
    /** Mean over a room's cells, dBm. @param {number} source @param {number} room */
    meanIn(source, room) {
      const levels = expectedIn(source, room);
      return levels.reduce((sum, dbm) => sum + dbm, 0) / levels.length;
    },
    /**
     * The best cell of a room for what is heard.
     * @param {readonly Level[]} levels of measured sources @param {number} count the first so many @param {number} room
     * @param {Fit} into
     */
    fit(levels, count, room, into) {
      const many = cellsOf(room).x.length;
      let whole = 0;
      for (let k = 0; k < count; k += 1) {
        lines[k] = expectedIn(levels[k].source, room);
        whole += levels[k].weight;
      }
      into.misfit = Infinity;
      for (let c = 0; c < many; c += 1) {
        let squares = 0;
        let sum = 0;
        for (let k = 0; k < count; k += 1) {
          const { dbm, weight } = levels[k];
          const off = dbm - lines[k][c];
          squares += weight * off * off;
          sum += weight * off;
        }
        const misfit = squares - (sum * sum) / whole;
        if (misfit >= into.misfit) continue;
        into.misfit = misfit;
        into.offDb = sum / whole;
        into.cell = c;
      }
    },
    /** Rooms near a source. @param {number} source */
    near(source) {
      return near[source] ??= roomsNear(/** @type {Source} */ (sources[source]), rooms, cellsOf);
    },
  };
}

/** Of each level in a fit, what is expected in each cell. @type {Float32Array[]} */
const lines = [];

/** @param {Source} source @param {(Room|undefined)[]} rooms @param {(room: number) => Cells} cellsOf @returns {number[]} */
function roomsNear({ device, storey }, rooms, cellsOf) {
  const isNear = (/** @type {Room} */ room) => {
    const { x, y } = cellsOf(room.number);
    return x.some((_, c) => Math.hypot(x[c] - device.x_m, y[c] - device.y_m) <= NEAR_M);
  };
  return rooms.flatMap((room) => (room && room.storey === storey && isNear(room) ? [room.number] : []));
}

/** Middles of equal parts of a room's bounding box, as far as they lie inside. @param {[number, number][]} polygon @param {number} cellM */
function cellsIn(polygon, cellM) {
  const [left, right] = spanOf(polygon.map(([x]) => x));
  const [bottom, top] = spanOf(polygon.map(([, y]) => y));
  const size = Math.max(1, Math.min(cellM, Math.sqrt((right - left) * (top - bottom)) / 3)); // a small room has nine parts
  const [columns, rows] = [right - left, top - bottom].map((length) => Math.max(1, Math.round(length / size)));
  /** @type {[number, number][]} */
  const found = [];
  for (let column = 0; column < columns; column += 1) {
    for (let row = 0; row < rows; row += 1) {
      /** @type {[number, number]} */
      const middle = [left + ((column + 0.5) * (right - left)) / columns, bottom + ((row + 0.5) * (top - bottom)) / rows];
      if (covers(polygon, middle)) found.push(middle);
    }
  }
  const places = found.length > 0 ? found : polygon.slice(0, 1); // a sliver
  return { x: Float64Array.from(places, ([x]) => x), y: Float64Array.from(places, ([, y]) => y) };
}

/** @param {number[]} values */
const spanOf = (values) => [Math.min(...values), Math.max(...values)];

module.exports = { createPlan };
