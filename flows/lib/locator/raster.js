// @ts-check
'use strict';

/**
 * The rooms of one level as a raster, and what follows from that. Pure; in pieces of a line.
 * @typedef {import('./storey').Room} Room
 */

const RASTER_M = 0.5;
const DOOR_M = 0.9; // a door needs that much common wall
const FAR = 255; // what is further away than this is all the same

/** @param {{width: number, height: number}} storey @param {number} x metres @param {number} y */
const placeAt = ({ width, height }, x, y) => clamp(Math.floor(y / RASTER_M), height) * width + clamp(Math.floor(x / RASTER_M), width);

/** @param {number} value @param {number} size */
const clamp = (value, size) => Math.min(size - 1, Math.max(0, value));

/** @param {Room[]} rooms @param {number} width @param {number} height @returns {import('../shared/pieces').Work<Int16Array>} */
function* rasterOf(rooms, width, height) {
  const raster = new Int16Array(width * height).fill(-1);
  for (const [r, { polygon }] of rooms.entries()) {
    const { left, right, bottom, top } = bounds(polygon);
    const from = clamp(Math.floor(left / RASTER_M), width);
    const to = clamp(Math.floor(right / RASTER_M), width);
    for (let row = clamp(Math.floor(bottom / RASTER_M), height); row <= clamp(Math.floor(top / RASTER_M), height); row += 1) {
      const walls = crossings(polygon, (row + 0.5) * RASTER_M);
      for (let column = from; column <= to; column += 1) {
        if (isOdd(walls, (column + 0.5) * RASTER_M)) raster[row * width + column] = r;
      }
      yield;
    }
  }
  return raster;
}

/**
 * @param {Int16Array} raster @param {number} width @param {number} count of rooms
 * @returns {import('../shared/pieces').Work<Set<number>[]>} which rooms share at least DOOR_M of wall
 */
function* neighbours(raster, width, count) {
  /** @type {Map<number, number>} metres of common wall, by a · count + b */
  const common = new Map();
  /** @param {number} a @param {number} b */
  const touch = (a, b) => {
    if (a < 0 || b < 0 || a === b) return;
    const key = Math.min(a, b) * count + Math.max(a, b);
    common.set(key, (common.get(key) ?? 0) + RASTER_M);
  };
  for (let row = 0; row < raster.length; row += width) {
    for (let k = row; k < row + width; k += 1) {
      if (k + 1 < row + width) touch(raster[k], raster[k + 1]);
      if (k + width < raster.length) touch(raster[k], raster[k + width]);
    }
    yield;
  }
  /** @type {Set<number>[]} */
  const beside = Array.from({ length: count }, () => new Set());
  for (const [key, metres] of common) {
    if (metres < DOOR_M) continue;
    beside[Math.floor(key / count)].add(key % count);
    beside[key % count].add(Math.floor(key / count));
  }
  return beside;
}

/**
 * The chessboard distance to the next wall, in two passes (Rosenfeld and Pfaltz, "Distance functions on digital pictures", 1968).
 * @param {Int16Array} raster @param {number} width @param {Room[]} rooms
 * @returns {import('../shared/pieces').Work<Uint8Array>}
 */
function* distancesIn(raster, width, rooms) {
  const zones = [-1, ...rooms.map(({ open }, r) => (open ? rooms.length : r))];
  const far = new Uint8Array(raster.length).fill(FAR);
  /** @param {number} k @param {number} row where it begins @param {number} back -1 or 1: towards what was visited */
  const relax = (k, row, back) => {
    const zone = zones[raster[k] + 1];
    let least = far[k];
    for (const behind of [row, row + back * width]) {
      if (behind < 0 || behind >= raster.length) continue;
      for (let other = k - row + behind - 1; other <= k - row + behind + 1; other += 1) {
        if (other < behind || other >= behind + width) continue;
        least = Math.min(least, zones[raster[other] + 1] === zone ? far[other] + (other === k ? 0 : 1) : 1);
      }
    }
    far[k] = least;
  };
  for (let row = 0; row < raster.length; row += width) {
    for (let k = row; k < row + width; k += 1) relax(k, row, -1);
    yield;
  }
  for (let row = raster.length - width; row >= 0; row -= width) {
    for (let k = row + width - 1; k >= row; k -= 1) relax(k, row, 1);
    yield;
  }
  return far;
}

/**
 * @param {Int16Array} raster @param {number} width @param {number} count of rooms
 * @returns {import('../shared/pieces').Work<number[][]>}
 */
function* touchingOf(raster, width, count) {
  /** @type {Set<number>[]} */
  const touching = Array.from({ length: count + 1 }, () => new Set());
  /** @param {number} k @param {number} other */
  const touch = (k, other) => {
    if (raster[k] === raster[other] || other >= raster.length) return;
    const [a, b] = [raster[k], raster[other]].map((room) => (room < 0 ? count : room));
    touching[a].add(b);
    touching[b].add(a);
  };
  for (let row = 0; row < raster.length; row += width) {
    for (let k = row; k < row + width; k += 1) {
      touch(k, k + width);
      if (k + 1 < row + width) for (const other of [k + 1, k + 1 + width]) touch(k, other);
      if (k > row) touch(k, k - 1 + width);
    }
    yield;
  }
  return touching.map((others) => [...others]);
}

/** @param {[number, number][]} polygon */
function bounds(polygon) {
  const xs = polygon.map(([x]) => x);
  const ys = polygon.map(([, y]) => y);
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}

/** Where the walls of a room cross a line from left to right, metres. @param {[number, number][]} polygon @param {number} y */
function crossings(polygon, y) {
  return polygon.flatMap(([ax, ay], i) => {
    const [bx, by] = polygon[(i || polygon.length) - 1];
    return ay > y !== by > y ? [((bx - ax) * (y - ay)) / (by - ay) + ax] : [];
  });
}

/** Even-odd rule. @param {number[]} walls where they cross the line of a point @param {number} x of the point */
function isOdd(walls, x) {
  let odd = false;
  for (const wall of walls) if (x < wall) odd = !odd;
  return odd;
}

/** @param {[number, number][]} polygon @param {number} x @param {number} y */
const inside = (polygon, x, y) => isOdd(crossings(polygon, y), x);

module.exports = { rasterOf, neighbours, distancesIn, touchingOf, placeAt, bounds, inside, RASTER_M, DOOR_M, FAR };
