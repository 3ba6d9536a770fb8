// @ts-check
'use strict';

/**
 * What the polygons say about walking. Pure.
 * @typedef {import('./storey').Room & {storey: number}} Room storey: index of its level
 * @typedef {object} Plan
 * @property {Room[]} rooms by storey
 * @property {Map<string, number>} indexOf index of each room, by `keyOf`
 * @property {string[]} levels ids, lowest first
 * @property {import('./storey').Storey[]} storeys
 * @property {number[]} firstRoom index of the first room of each storey
 */

const MAX_ROOMS = 32767; // what a raster can number

/**
 * @param {string[]} levels ids, lowest first
 * @param {import('./storey').Storey[]} storeys
 * @returns {Plan}
 */
function joinStoreys(levels, storeys) {
  const rooms = storeys.flatMap((one, storey) => one.rooms.map((room) => ({ ...room, storey })));
  const firstRoom = storeys.map((_, storey) => storeys.slice(0, storey).reduce((sum, below) => sum + below.rooms.length, 0));
  return {
    rooms,
    indexOf: new Map(rooms.map((room, r) => [keyOf(room), r])),
    levels,
    storeys,
    firstRoom,
  };
}

/** A room of another building is the same if its level is, too. @param {import('./storey').Room} room */
const keyOf = ({ id, level }) => `${level}/${id}`;

/** @param {import('./storey').Storey} storey @param {number} a room of it @param {number} b */
const isPassable = ({ rooms, beside, joined }, a, b) => beside[a].has(b)
  && (rooms[a].passage || rooms[b].passage || rooms[a].open || rooms[b].open || joined[a].has(b));

/** @param {Pick<import('../building').Building, 'levels'>} building @throws {RangeError} */
function checkSize({ levels }) {
  const count = levels.reduce((sum, { rooms }) => sum + rooms.length, 0);
  if (count > MAX_ROOMS) throw new RangeError(`${count} rooms; the locator takes ${MAX_ROOMS} at most`);
}

module.exports = { joinStoreys, isPassable, checkSize, keyOf };
