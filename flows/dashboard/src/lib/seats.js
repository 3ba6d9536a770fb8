import { borderDistance, inside } from '../../../lib/building/geometry.js';
import { bounds } from './geometry.js';

/**
 * Places of people in a drawn room. Only the room is known, so each person gets a seat of a grid and keeps it for the stay. The
 * grid is as wide as the number of people allows.
 * @typedef {import('./geometry.js').Polygon} Polygon
 * @typedef {import('./geometry.js').Point} Point
 * @typedef {import('./geometry.js').Box} Box
 * @typedef {{polygon: Polygon, taken: Box, small?: Box, avoid?: Point[]}} Room taken: box of its name; small: what a marker on a small
 *   screen would cover of it, to be used last; avoid: other things in the room
 * @typedef {{step_m: number, seats: Point[], first: number}} Grid first: so many of the seats leave the name free on a small screen
 */

/** Distances of rows, metres: from generous to what needs a close-up. */
const STEPS_M = [3.2, 2.6, 2.1, 1.7, 1.4, 1.1, 0.9, 0.7, 0.55, 0.45, 0.35, 0.28, 0.22];
const FEW = 6;
/** A wider grid is used again when people fill less than this share of it, so that single people move nobody else. */
const WIDEN_SHARE = 0.7;

/**
 * @param {Room} room
 * @param {number} step_m distance of rows
 * @param {number} aspect width by height of a marker
 * @returns {Point[]} those that leave the name free on a small screen first, of these the most central
 */
export function seatsOf({ polygon, taken, small, avoid = [] }, step_m, aspect) {
  const box = bounds(polygon);
  const columns = Math.max(1, Math.floor(box.width / (step_m * aspect)));
  const rows = Math.max(1, Math.floor(box.height / step_m));
  const [dx, dy] = [box.width / columns, box.height / rows];
  const free = Math.min(step_m * 0.4, 1);
  /** @type {Point[]} */
  const seats = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      /** @type {Point} */
      const seat = [box.x + (column + 0.5) * dx, box.y + (row + 0.5) * dy];
      if (!inside(polygon, seat) || borderDistance(polygon, seat) < free || covered(taken, seat, step_m * 0.3)) continue;
      if (avoid.every((thing) => clear(seat, thing, step_m))) seats.push(seat);
    }
  }
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  return seats.sort((a, b) => Number(within(small, a)) - Number(within(small, b)) ||
    Math.hypot(a[0] - x, a[1] - y) - Math.hypot(b[0] - x, b[1] - y));
}

/** @param {Box|undefined} box @param {Point} point */
const within = (box, point) => box !== undefined && covered(box, point, 0);

/**
 * Whether a marker with its age leaves another thing visible.
 * @param {Point} seat @param {Point} thing @param {number} step_m
 */
function clear([x, y], [thingX, thingY], step_m) {
  const lower = Math.min(Math.max(thingY - y, 0), step_m * 0.6);
  return Math.hypot(thingX - x, thingY - y - lower) >= Math.min(step_m * 0.75, 1.5);
}

/** @param {Box} box @param {Point} point @param {number} margin */
const covered = ({ x, y, width, height }, [px, py], margin) =>
  px > x && px < x + width && py > y - margin && py < y + height + margin;

/**
 * Seats in the rooms of one level; people keep their seats.
 * @param {Map<string, Room>} rooms by id
 * @param {number} aspect
 */
export function createSeating(rooms, aspect) {
  /** @type {Map<string, {grid: Grid, taken: Map<string, number>}>} by room id */
  const state = new Map();
  /** @type {Map<string, Grid>} */
  const known = new Map();

  /** @param {string} id @param {number} step_m @returns {Grid} */
  function gridOf(id, step_m) {
    const key = `${step_m} ${id}`;
    const before = known.get(key);
    if (before) return before;
    const room = /** @type {Room} */ (rooms.get(id));
    const seats = seatsOf(room, step_m, aspect);
    const grid = { step_m, seats, first: seats.filter((point) => !within(room.small, point)).length };
    known.set(key, grid);
    return grid;
  }

  /** @param {string} id @param {number} count @param {Grid|undefined} before @returns {Grid} */
  function gridFor(id, count, before) {
    for (const step_m of STEPS_M) {
      const found = gridOf(id, step_m);
      const needed = before && step_m > before.step_m ? count / WIDEN_SHARE : count;
      if (found.seats.length >= needed) return found;
    }
    return gridOf(id, STEPS_M[STEPS_M.length - 1]);
  }

  /**
   * @param {string} id of the room
   * @param {string[]} people ids of people in the room
   * @returns {{step_m: number, places: Map<string, Point>}} place by id; in a very crowded room some share a seat
   */
  function seat(id, people) {
    const before = state.get(id);
    const grid = gridFor(id, people.length, before?.grid);
    const same = before?.grid.seats === grid.seats;
    const here = new Set(people);
    /** @type {Map<string, number>} */
    const taken = new Map([...(same ? before?.taken ?? [] : [])].filter(([person]) => here.has(person)));
    const full = new Set(taken.values());
    for (const person of people) {
      if (taken.has(person) || grid.seats.length === 0) continue;
      const count = full.size < grid.first ? grid.first : grid.seats.length;
      let at = hash(person) % Math.min(count, Math.max(FEW, 2 * people.length)); // few people get seats in the middle
      for (let tries = 0; full.has(at) && tries < count; tries += 1) at = (at + 1) % count;
      full.add(at);
      taken.set(person, at);
    }
    state.set(id, { grid, taken });
    return { step_m: grid.step_m, places: new Map([...taken].map(([person, at]) => [person, grid.seats[at]])) };
  }

  return { seat };
}

/** FNV-1a: the search starts at the same seat on every screen. @param {string} text */
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}
