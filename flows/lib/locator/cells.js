// @ts-check
'use strict';

const { isPassable } = require('./plan');
const { bounds, inside } = require('./raster');
const { roomAt } = require('./storey');

/**
 * The places somebody can be at: each room in cells of about `cellM`, and how one gets from cell to cell within a
 * second. Pure. The steps from cell c are entries start[c] … start[c+1]-1 of `target` and `share`; shares add up to 1.
 * @typedef {{x: number, y: number, room: number, storey: number, size: number}} Cell size: metres
 * @typedef {object} Cells
 * @property {Cell[]} all by storey, then by room
 * @property {number[]} firstOf index of the first cell of each storey, and the number of all at the end
 * @property {Uint16Array} room of each cell
 * @property {Uint32Array} start
 * @property {Uint32Array} target
 * @property {Float32Array} share
 * @typedef {{x: Float64Array, y: Float64Array, size: Float64Array, room: Uint16Array, under: Uint16Array,
 *   grid: Map<number, number[]>, hasCore: boolean}} Places the cells of one level; room: on this level; under: the room that the raster
 *   has there; grid: which are in each square
 * @typedef {{storey: import('./storey').Storey, cells: Places}} Level
 * @typedef {{start: Uint32Array, target: Uint32Array, hop: Int8Array, share: Float32Array}} Steps as above, of one level; target: a
 *   cell of the level that is so many further up (hop: -1, 0 or 1)
 */

const REACH = 1.6; // cells further apart than so many of their sizes are no neighbours: a cell has eight
const SHAFT_M = 5; // a lift goes up within so many metres
const COLUMNS = 65536; // more squares side by side than any level has

/** Cells of no more than `cellM`, or of a metre, are neighbours across one square at most. @param {number} cellM */
const squareM = (cellM) => REACH * Math.max(1, cellM);

/**
 * @param {import('./storey').Storey} storey
 * @param {import('./constants').Settings} settings
 * @returns {import('../shared/pieces').Work<Places>}
 */
function* placesIn(storey, { cellM }) {
  /** @type {{x: number, y: number, size: number, room: number}[]} */
  const places = [];
  /** @type {Map<number, number[]>} */
  const grid = new Map();
  for (const [room, { polygon }] of storey.rooms.entries()) {
    const size = sizeIn(polygon, cellM);
    for (const [x, y] of middlesOf(polygon, size)) {
      const square = squareAt(Math.floor(x / squareM(cellM)), Math.floor(y / squareM(cellM)));
      const there = grid.get(square);
      if (there) there.push(places.length);
      else grid.set(square, [places.length]);
      places.push({ x, y, size, room });
    }
    yield;
  }
  return {
    x: Float64Array.from(places, ({ x }) => x), y: Float64Array.from(places, ({ y }) => y),
    size: Float64Array.from(places, ({ size }) => size),
    room: Uint16Array.from(places, ({ room }) => room), under: Uint16Array.from(places, ({ x, y }) => roomAt(storey, x, y)),
    grid, hasCore: storey.rooms.some(({ core }) => core),
  };
}

/** @param {number} column @param {number} row */
const squareAt = (column, row) => row * COLUMNS + column;

/**
 * Cells that may be so near, in ascending order.
 * @param {Places} level @param {number} x @param {number} y @param {number} withinM @param {number} cellM
 */
function around({ grid }, x, y, withinM, cellM) {
  const side = squareM(cellM);
  /** @type {number[]} */
  const found = [];
  for (let row = Math.floor((y - withinM) / side); row <= Math.floor((y + withinM) / side); row += 1) {
    for (let column = Math.floor((x - withinM) / side); column <= Math.floor((x + withinM) / side); column += 1) {
      const there = grid.get(squareAt(column, row));
      if (there) found.push(...there);
    }
  }
  return found.sort((a, b) => a - b);
}

/**
 * How one gets on from the cells of a level.
 * @param {Level[]} levels
 * @param {number} k which of them
 * @param {import('./constants').Settings} settings
 * @returns {import('../shared/pieces').Work<Steps>}
 */
function* stepsOf(levels, k, settings) {
  const { cells } = levels[k];
  const start = new Uint32Array(cells.x.length + 1);
  /** @type {number[]} */
  const target = [];
  /** @type {number[]} */
  const hop = [];
  /** @type {number[]} */
  const share = [];
  for (let c = 0; c < cells.x.length; c += 1) {
    /** @type {[number, number][]} */
    const rides = [];
    for (const up of [-1, 1]) {
      const other = levels[k + up] ? rideTo(c, levels[k], levels[k + up], settings) : -1;
      if (other >= 0) rides.push([other, up]);
    }
    const walked = 1 - rides.length * settings.liftShare;
    const walks = walksFrom(c, levels[k], settings);
    const total = walks.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [other, weight] of walks) target.push(other) && hop.push(0) && share.push((walked * weight) / total);
    for (const [other, up] of rides) target.push(other) && hop.push(up) && share.push(settings.liftShare);
    start[c + 1] = target.length;
    yield;
  }
  return { start, target: Uint32Array.from(target), hop: Int8Array.from(hop), share: Float32Array.from(share) };
}

/**
 * The cells of all levels.
 * @param {{cells: Places, steps: Steps}[]} levels
 * @param {number[]} firstRoom index of the first room of each
 * @returns {import('../shared/pieces').Work<Cells>}
 */
function* joinCells(levels, firstRoom) {
  /** @type {Cell[]} */
  const all = [];
  /** @type {number[]} */
  const firstOf = [];
  for (const [storey, { cells: { x, y, room, size } }] of levels.entries()) {
    firstOf.push(all.length);
    x.forEach((_, c) => all.push({ x: x[c], y: y[c], room: firstRoom[storey] + room[c], storey, size: size[c] }));
    yield;
  }
  firstOf.push(all.length);
  const length = levels.reduce((sum, { steps: { target } }) => sum + target.length, 0);
  const start = new Uint32Array(all.length + 1);
  const target = new Uint32Array(length);
  const share = new Float32Array(length);
  let end = 0;
  for (const [storey, { steps }] of levels.entries()) {
    steps.start.forEach((first, c) => { start[firstOf[storey] + c] = end + first; });
    steps.target.forEach((other, n) => { target[end + n] = firstOf[storey + steps.hop[n]] + other; });
    share.set(steps.share, end);
    end += steps.target.length;
    yield;
  }
  return { all, firstOf, room: Uint16Array.from(all, (cell) => cell.room), start, target, share };
}

/** A small room has nine cells, too: where in it somebody stands matters for its neighbours. @param {[number, number][]} polygon
 * @param {number} cellM */
function sizeIn(polygon, cellM) {
  const { left, right, bottom, top } = bounds(polygon);
  return Math.max(1, Math.min(cellM, Math.sqrt((right - left) * (top - bottom)) / 3));
}

/**
 * Middles of the cells of a room: its bounding box in equal parts, as far as they lie inside.
 * @param {[number, number][]} polygon
 * @param {number} cellM
 * @returns {[number, number][]}
 */
function middlesOf(polygon, cellM) {
  const { left, right, bottom, top } = bounds(polygon);
  const columns = Math.max(1, Math.round((right - left) / cellM));
  const rows = Math.max(1, Math.round((top - bottom) / cellM));
  /** @type {[number, number][]} */
  const found = [];
  for (let column = 0; column < columns; column += 1) {
    for (let row = 0; row < rows; row += 1) {
      const x = left + ((column + 0.5) * (right - left)) / columns;
      const y = bottom + ((row + 0.5) * (top - bottom)) / rows;
      if (inside(polygon, x, y)) found.push([x, y]);
    }
  }
  return found.length > 0 ? found : [polygon[0]]; // a sliver
}

/**
 * Cells one step away and how likely they are against each other, the cell itself included.
 * @param {number} from @param {Level} level @param {import('./constants').Settings} settings
 * @returns {[number, number][]}
 */
function walksFrom(from, { storey, cells }, { cellM, paceM, doorFactor }) {
  const { x, y, size, room } = cells;
  /** @type {[number, number][]} */
  const found = [];
  for (const to of around(cells, x[from], y[from], squareM(cellM), cellM)) {
    const distance = Math.hypot(x[to] - x[from], y[to] - y[from]);
    if (distance > REACH * Math.max(size[from], size[to])) continue;
    if (room[to] !== room[from] && !isPassable(storey, room[from], room[to])) continue;
    found.push([to, Math.exp(-((distance / paceM) ** 2) / 2) * (room[to] === room[from] ? 1 : doorFactor)]);
  }
  return found;
}

/**
 * Where a lift (or a stair) leads: the nearest cell of a level above or below; from lift lobbies only, where both
 * levels have one.
 * @param {number} from @param {Level} level its own @param {Level} other @param {import('./constants').Settings} settings
 * @returns {number} a cell of the other level; -1: there is none
 */
function rideTo(from, { storey, cells }, other, { cellM }) {
  const { x, y, room } = other.cells;
  const cores = cells.hasCore && other.cells.hasCore;
  if (cores && !storey.rooms[cells.room[from]].core) return -1;
  let best = -1;
  let bestM = SHAFT_M;
  for (const to of around(other.cells, cells.x[from], cells.y[from], SHAFT_M, cellM)) {
    const distance = Math.hypot(x[to] - cells.x[from], y[to] - cells.y[from]);
    if (distance < bestM && (!cores || other.storey.rooms[room[to]].core)) [best, bestM] = [to, distance];
  }
  return best;
}

module.exports = { placesIn, stepsOf, joinCells };
