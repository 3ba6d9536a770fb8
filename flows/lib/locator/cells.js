// @ts-check
'use strict';

const { bounds, inside } = require('./plan');

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
 */

const REACH = 1.6; // cells further apart than so many of their sizes are no neighbours: a cell has eight
const SHAFT_M = 5; // a lift goes up within so many metres

/**
 * @param {import('./plan').Plan} plan
 * @param {import('./constants').Settings} settings
 * @returns {Cells}
 */
function createCells(plan, settings) {
  /** @type {Cell[]} */
  const all = [];
  const firstOf = plan.levels.map((_, storey) => {
    const first = all.length;
    plan.rooms.forEach((room, r) => {
      if (room.storey !== storey) return;
      const size = sizeIn(room.polygon, settings.cellM);
      all.push(...cellsOf(room.polygon, size).map(([x, y]) => ({ x, y, room: r, storey, size })));
    });
    return first;
  });
  firstOf.push(all.length);

  const start = new Uint32Array(all.length + 1);
  /** @type {number[]} */
  const target = [];
  /** @type {number[]} */
  const share = [];
  all.forEach((cell, c) => {
    const rides = ridesFrom(cell, all, firstOf, plan);
    const walked = 1 - rides.length * settings.liftShare;
    const walks = walksFrom(cell, all, firstOf, plan, settings);
    const total = walks.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [other, weight] of walks) target.push(other) && share.push((walked * weight) / total);
    for (const other of rides) target.push(other) && share.push(settings.liftShare);
    start[c + 1] = target.length;
  });
  const room = Uint16Array.from(all, (cell) => cell.room);
  return { all, firstOf, room, start, target: Uint32Array.from(target), share: Float32Array.from(share) };
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
function cellsOf(polygon, cellM) {
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
 * @param {Cell} from @param {Cell[]} all @param {number[]} firstOf @param {import('./plan').Plan} plan
 * @param {import('./constants').Settings} settings
 * @returns {[number, number][]}
 */
function walksFrom(from, all, firstOf, plan, { paceM, doorFactor }) {
  /** @type {[number, number][]} */
  const found = [];
  for (let c = firstOf[from.storey]; c < firstOf[from.storey + 1]; c += 1) {
    const to = all[c];
    const distance = Math.hypot(to.x - from.x, to.y - from.y);
    if (distance > REACH * Math.max(from.size, to.size)) continue;
    if (to.room !== from.room && !plan.passable(from.room, to.room)) continue;
    found.push([c, Math.exp(-((distance / paceM) ** 2) / 2) * (to.room === from.room ? 1 : doorFactor)]);
  }
  return found;
}

/**
 * Where a lift (or a stair) leads: the nearest cell of the levels above and below; from lift lobbies only, where both
 * levels have one.
 * @param {Cell} from @param {Cell[]} all @param {number[]} firstOf @param {import('./plan').Plan} plan
 */
function ridesFrom(from, all, firstOf, plan) {
  /** @param {number} storey */
  const hasCore = (storey) => plan.rooms.some((room) => room.core && room.storey === storey);
  const found = [];
  for (const storey of [from.storey - 1, from.storey + 1]) {
    if (storey < 0 || storey >= plan.levels.length) continue;
    const cores = hasCore(storey) && hasCore(from.storey);
    if (cores && !plan.rooms[from.room].core) continue;
    let best = -1;
    let bestM = SHAFT_M;
    for (let c = firstOf[storey]; c < firstOf[storey + 1]; c += 1) {
      const distance = Math.hypot(all[c].x - from.x, all[c].y - from.y);
      if (distance < bestM && (!cores || plan.rooms[all[c].room].core)) [best, bestM] = [c, distance];
    }
    if (best >= 0) found.push(best);
  }
  return found;
}

module.exports = { createCells };
