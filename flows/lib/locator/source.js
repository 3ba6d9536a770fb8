// @ts-check
'use strict';

const { FAR } = require('./raster');
const { fewestWalls, wallsBetween } = require('./storey');

/**
 * What a fixed beacon or gateway (a source) should be heard like in each cell. Pure.
 * @typedef {{id: string, level: string, room: string, x_m: number, y_m: number, tx?: number, approximate?: boolean,
 *   window_ms?: number}} Device window_ms: of a gateway
 * @typedef {object} Source
 * @property {string} id
 * @property {Device} device
 * @property {number} room -1: there is no such room
 * @property {number} from of the levels on which it may be heard the first cell …
 * @property {number} to … and the one after the last
 * @property {number} first
 * @property {Float32Array} expected dBm in cell first + k; elsewhere it is as weak as can be (`weakestDbm`)
 * @property {number} variance of that, dB², where its place in the room is not known
 * @property {Uint32Array} near the cells where it is strongest
 * @typedef {{x: number, y: number}} Point metres
 * @typedef {import('./model').Levels} Building what follows from its levels
 */

const FLOORS = 2; // sources further up or down are not heard
const PLACES = 16; // so many stand for all places of a room
const ROUNDED = 1 + 1e-9; // what is left out is too far off by more than numbers are rounded

/** The levels on which a source may be heard: the first one, and the one after the last. @param {number} storey @param {number} count */
const reachOf = (storey, count) => [Math.max(0, storey - FLOORS), Math.min(count, storey + FLOORS + 1)];

/**
 * @param {Device} device
 * @param {number} room
 * @param {Building} building
 * @param {Float32Array} scratch of each cell; weakestDbm everywhere, before and after
 * @returns {import('../shared/pieces').Work<Source>}
 */
function* sourceOf(device, room, building, scratch) {
  const { plan, cells: { all, firstOf }, levels, settings: { txDbm, weakestDbm, strayCells } } = building;
  const { id, level, tx = txDbm } = device;
  const storey = plan.levels.indexOf(level);
  const [lowest, above] = reachOf(storey, levels.length);
  const [from, to] = [firstOf[lowest], firstOf[above]];
  const places = placesOf(device, room, all, firstOf[storey], firstOf[storey + 1]);
  let variance = 0;
  let [first, end] = [to, from];
  /** @param {number} cell @param {number} meanDb @param {number} squares */
  const put = (cell, meanDb, squares) => {
    scratch[cell] = Math.max(weakestDbm, tx - meanDb);
    if (all[cell].room === room) variance = Math.max(variance, squares - meanDb * meanDb);
    if (scratch[cell] <= weakestDbm) return;
    if (cell < first) first = cell;
    end = cell + 1;
  };
  for (let other = lowest; other < above; other += 1) {
    if (other === storey) yield* lossesOn(building, storey, places, room, tx, put);
    else lossesBeyond(building, storey, other, places, tx, put);
  }
  const expected = scratch.slice(first, Math.max(first, end));
  const near = strongest(scratch, from, to, strayCells);
  scratch.fill(weakestDbm, first, Math.max(first, end));
  return { id, device, room, from, to, first, expected, variance: places.length > 1 ? variance : 0, near };
}

/**
 * What is lost on the way into the cells of a source's own level. Left out are cells in which it is too weak for certain; not
 * those of its own room.
 * @param {Building} building @param {number} storey @param {Point[]} places where it may be @param {number} room its own
 * @param {number} tx dBm @param {(cell: number, meanDb: number, squares: number) => void} put
 * @returns {import('../shared/pieces').Work<void>}
 */
function* lossesOn({ plan: { firstRoom }, cells: { firstOf }, levels, settings }, storey, places, room, tx, put) {
  const { cells: { x, y, room: rooms, under }, storey: its } = levels[storey];
  const { aboveM, wallDb } = settings;
  const budgetDb = tx - settings.weakestDbm;
  const reach = reachesM(budgetDb, wallDb, settings).map((metres) => metres * metres);
  const fewest = fewestWalls(its, places, reach.length - 1);
  const box = boxOf(places);
  const losses = new Float64Array(places.length);
  for (let c = 0; c < x.length; c += 1) {
    const own = firstRoom[storey] + rooms[c] === room;
    if (!own && (fewest[under[c]] === FAR || squareTo(box, x[c], y[c]) + aboveM * aboveM > reach[fewest[under[c]]])) continue;
    let sum = 0;
    for (let p = 0; p < places.length; p += 1) {
      const distance = Math.sqrt((x[c] - places[p].x) ** 2 + (y[c] - places[p].y) ** 2 + aboveM * aboveM);
      sum += losses[p] = lossDb(distance, settings);
    }
    let most = own || !(wallDb > 0) ? Infinity : ((budgetDb * places.length - sum) / wallDb) * ROUNDED; // walls; what has more is too weak
    sum = 0;
    let squares = 0;
    for (let p = 0; p < places.length && most >= 0; p += 1) {
      const walls = wallsBetween(its, x[c], y[c], places[p].x, places[p].y, most);
      const loss = losses[p] + walls * wallDb;
      most -= walls;
      sum += loss;
      squares += loss * loss;
    }
    if (most >= 0) put(firstOf[storey] + c, sum / places.length, squares / places.length);
    if (c % 64 === 0) yield;
  }
}

/**
 * … into the cells of another level, through floors.
 * @param {Building} building @param {number} storey @param {number} other @param {Point[]} places @param {number} tx
 * @param {(cell: number, meanDb: number, squares: number) => void} put
 */
function lossesBeyond({ cells: { firstOf }, levels, settings }, storey, other, places, tx, put) {
  const { x, y } = levels[other].cells;
  const floors = Math.abs(other - storey);
  const upM = floors * settings.storeyM + settings.aboveM;
  const [reachM = 0] = reachesM(tx - settings.weakestDbm - floors * settings.floorDb, Infinity, settings);
  if (reachM < upM) return;
  const box = boxOf(places);
  for (let c = 0; c < x.length; c += 1) {
    if (squareTo(box, x[c], y[c]) + upM * upM > reachM * reachM) continue;
    let sum = 0;
    for (const place of places) {
      sum += lossDb(Math.sqrt((x[c] - place.x) ** 2 + (y[c] - place.y) ** 2 + upM * upM), settings) + floors * settings.floorDb;
    }
    put(firstOf[other] + c, sum / places.length, 0);
  }
}

/** @param {number} distance metres @param {import('./constants').Settings} settings */
const lossDb = (distance, { exponent, nearestM }) => 10 * exponent * Math.log10(Math.max(nearestM, distance));

/**
 * How far off a source is heard that may lose so much: behind no wall, behind one, and so on, for as long as it is heard at all.
 * @param {number} budgetDb @param {number} wallDb @param {import('./constants').Settings} settings @returns {number[]} metres
 */
function reachesM(budgetDb, wallDb, { exponent, nearestM }) {
  /** @type {number[]} */
  const reaches = [];
  for (let leftDb = budgetDb; reaches.length < FAR; leftDb -= wallDb) {
    const reach = 10 ** (leftDb / (10 * exponent)) * ROUNDED;
    if (!(reach >= nearestM)) break;
    reaches.push(reach);
  }
  return reaches;
}

/** @param {Point[]} places @returns {[left: number, right: number, bottom: number, top: number]} */
function boxOf(places) {
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
}

/** @param {ReturnType<typeof boxOf>} box @param {number} x @param {number} y @returns {number} of the distance, m² */
function squareTo([left, right, bottom, top], x, y) {
  const aside = Math.max(left - x, 0, x - right);
  const along = Math.max(bottom - y, 0, y - top);
  return aside * aside + along * along;
}

/**
 * Where a device may be: at its place, or, where that was not measured, all over its room.
 * @param {Device} device @param {number} room @param {import('./cells').Cell[]} all @param {number} from of its level the first
 * @param {number} to and the one after the last
 * @returns {Point[]}
 */
function placesOf({ x_m: x, y_m: y, approximate }, room, all, from, to) {
  const its = approximate ? all.slice(from, to).filter((cell) => cell.room === room) : [];
  const every = Math.ceil(its.length / PLACES);
  return its.length > 1 ? its.filter((_, k) => k % every === 0) : [{ x, y }];
}

/**
 * The strongest cells, strongest first; of equals the earlier ones.
 * @param {Float32Array} levels @param {number} from @param {number} to @param {number} most
 */
function strongest(levels, from, to, most) {
  const found = new Uint32Array(Math.min(most, to - from));
  let count = 0;
  for (let cell = from; cell < to; cell += 1) {
    if (count === found.length && levels[cell] <= levels[found[count - 1]]) continue;
    let at = count < found.length ? count++ : count - 1;
    for (; at > 0 && levels[found[at - 1]] < levels[cell]; at -= 1) found[at] = found[at - 1];
    found[at] = cell;
  }
  return found;
}

/** What a source should be heard like in a cell, dBm. @param {Source} source @param {number} cell @param {number} weakestDbm */
const expectedIn = ({ first, expected }, cell, weakestDbm) => expected[cell - first] ?? weakestDbm;

module.exports = { reachOf, sourceOf, expectedIn };
