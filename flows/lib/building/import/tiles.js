// @ts-check
'use strict';

/**
 * A plan for a level of which only the names of rooms are known: rooms as tiles of equal size, row by row. Nothing is measured.
 * Pure.
 * @typedef {import('..').Level} Level
 * @typedef {import('..').Room} Room
 * @typedef {import('..').BuildingFile} BuildingFile
 */

/** Size of a tile, metres: an ordinary office, in all of which its own device is received best. */
const [WIDE_M, DEEP_M] = [8, 6];
/** Width of the plan by its depth, since screens are wide. */
const STRETCH = 1.5;
/** Row of the devices in a tile, from its southern edge; the name is drawn in the northern part. */
const DEVICE_ROW = 1 / 3;

/** @param {number} rooms */
const columnsOf = (rooms) => Math.max(1, Math.ceil(Math.sqrt((rooms * STRETCH * DEEP_M) / WIDE_M)));

/**
 * @param {number} rooms number of rooms
 * @returns {{width_m: number, height_m: number, polygons: [number, number][][]}} in reading order, the first at the top left
 */
function tiles(rooms) {
  const columns = columnsOf(rooms);
  const rows = Math.max(1, Math.ceil(rooms / columns));
  const polygons = Array.from({ length: rooms }, (_, i) => {
    const [x, y] = [(i % columns) * WIDE_M, (rows - 1 - Math.floor(i / columns)) * DEEP_M];
    return /** @type {[number, number][]} */ ([[x, y], [x + WIDE_M, y], [x + WIDE_M, y + DEEP_M], [x, y + DEEP_M]]);
  });
  return { width_m: columns * WIDE_M, height_m: rows * DEEP_M, polygons };
}

/**
 * Gives a level rooms as tiles.
 * @template {Omit<Level, 'width_m'|'height_m'>} T
 * @param {T} level @param {Pick<Room, 'id'|'name'>[]} rooms
 * @returns {T & Level}
 */
function withTiles(level, rooms) {
  const { polygons, ...size } = tiles(rooms.length);
  const drawn = rooms.map((room, i) => ({ ...room, polygon: /** @type {Room['polygon']} */ (polygons[i]) }));
  return { ...level, ...size, schematic: true, rooms: drawn };
}

/** Whether all rooms of a level are still tiles. @param {Level} level */
const isTiled = ({ schematic = false, plan, rooms }) => schematic && plan === undefined
  && JSON.stringify(rooms.map(({ polygon }) => polygon)) === JSON.stringify(tiles(rooms.length).polygons);

/**
 * Places the devices of some levels side by side in their tiles, each marked `approximate`.
 * @param {BuildingFile} file @param {Set<string>} levels ids of tiled levels
 * @returns {BuildingFile}
 */
function spreadDevices(file, levels) {
  const rooms = new Map(file.levels.filter(({ id }) => levels.has(id)).flatMap((level) => level.rooms.map((room) => [room.id, room])));
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { room } of [...file.beacons, ...file.gateways]) counts.set(room, (counts.get(room) ?? 0) + 1);
  /** @type {Map<string, number>} */
  const placed = new Map();
  /** @template {{room: string, x_m: number, y_m: number}} D @param {D} device @returns {D} */
  const place = (device) => {
    const room = rooms.get(device.room);
    if (!room) return device;
    const number = (placed.get(room.id) ?? 0) + 1;
    placed.set(room.id, number);
    const [[x, y] = [0, 0]] = room.polygon;
    const share = number / ((counts.get(room.id) ?? 0) + 1);
    return { ...device, x_m: round(x + share * WIDE_M), y_m: y + DEEP_M * DEVICE_ROW, approximate: true };
  };
  return { ...file, beacons: file.beacons.map(place), gateways: file.gateways.map(place) };
}

/** Rounds to the centimetre. @param {number} metres */
const round = (metres) => Math.round(metres * 100) / 100;

module.exports = { withTiles, isTiled, spreadDevices };
