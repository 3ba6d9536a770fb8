// @ts-check
'use strict';

const { borderDistance, covers } = require('../geometry');
const { createNameIndex } = require('./names');

/**
 * Finds levels and rooms by the names that people write. Case and spaces do not count; an ambiguous name is refused.
 * @typedef {import('..').Level} Level
 * @typedef {import('..').Room} Room
 */

/** Number of names in a message. */
const LISTED_MAX = 12;
/** Steps of the search grid for the middle of a room; finer than a beacon is placed by eye. */
const STEPS = 24;

/**
 * Indexes of lists, which are never changed in place.
 * @type {WeakMap<object, ReturnType<typeof createNameIndex<any>>>}
 */
const indexes = new WeakMap();

/**
 * @template {{id: string, name: string}} T
 * @param {T[]} all
 * @param {string} written
 * @returns {T[]} the one of that exact id, else all of that id or name
 */
function named(all, written) {
  const index = indexes.get(all) ?? createNameIndex(all, (one) => one);
  indexes.set(all, index);
  return index.find(written);
}

/**
 * @param {Level[]} levels
 * @param {string} level as written
 * @param {string} location as written
 * @returns {{level: Level, room: Room}|{kind: string, reason: string}}
 */
function findRoom(levels, level, location) {
  const lacking = [...(level === '' ? ['level'] : []), ...(location === '' ? ['location'] : [])];
  if (lacking.length > 0) return { kind: `${lacking[0]}_missing`, reason: `the ${lacking.join(' and the ')} ${lacking.length > 1 ? 'are' : 'is'} missing` };
  const [found, ...others] = named(levels, level);
  if (!found) return { kind: 'level_unknown', reason: `there is no level "${level}"; there is ${list(levels.map((one) => one.id))}` };
  if (others.length > 0) return { kind: 'level_unknown', reason: `"${level}" may be ${list([found, ...others].map((one) => one.id))}` };
  const [room, ...more] = named(found.rooms, location);
  if (room && more.length === 0) return { level: found, room };
  if (room) return { kind: 'location_unknown', reason: `"${location}" may be ${list([room, ...more].map((one) => one.id))}` };
  const elsewhere = levels.filter((one) => named(one.rooms, location).length > 0).map((one) => one.id);
  const hint = elsewhere.length > 0 ? `it is on ${list(elsewhere)}` : `there is ${list(found.rooms.map((one) => one.name))}`;
  return { kind: 'location_unknown', reason: `there is no room "${location}" on level ${found.id}; ${hint}` };
}

/** @param {string[]} names */
const list = (names) => names.slice(0, LISTED_MAX).join(', ') + (names.length > LISTED_MAX ? ` and ${names.length - LISTED_MAX} more` : '');

/**
 * A point well inside a room: the grid point farthest from the walls.
 * @param {[number, number][]} polygon
 * @returns {[number, number]} metres, rounded to the decimetre where that is inside
 */
function middle(polygon) {
  const [xs, ys] = [polygon.map(([x]) => x), polygon.map(([, y]) => y)];
  const [west, south] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - west, Math.max(...ys) - south];
  /** @type {{point: [number, number], distance: number}} */
  let best = { point: /** @type {[number, number]} */ (polygon[0]), distance: -1 };
  for (let i = 1; i < STEPS; i += 1) {
    for (let j = 1; j < STEPS; j += 1) {
      /** @type {[number, number]} */
      const point = [west + (width * i) / STEPS, south + (height * j) / STEPS];
      const distance = covers(polygon, point, 0) ? borderDistance(polygon, point) : -1;
      if (distance > best.distance) best = { point, distance };
    }
  }
  /** @type {[number, number]} */
  const round = [Math.round(best.point[0] * 10) / 10, Math.round(best.point[1] * 10) / 10];
  return covers(polygon, round, 0) ? round : best.point;
}

module.exports = { findRoom, middle };
