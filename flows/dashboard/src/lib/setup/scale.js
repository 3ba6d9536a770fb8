import { at, put } from './things.js';

/**
 * A picture below a level, and its scale. Whatever stands on the level is stretched with it. Pure.
 * @typedef {import('./things.js').BuildingFile} BuildingFile
 * @typedef {import('./things.js').Thing} Thing
 * @typedef {[number, number]} Point metres east and north
 */

/** Shapes this much alike are the same. */
const SAME_SHAPE = 0.01;
/** Of a level that nobody has measured. */
export const SOME_WIDTH_M = 50;

/** To the centimetre. @param {number} metres */
const round = (metres) => Math.round(metres * 100) / 100;

/**
 * The level with everything on it stretched east and north.
 * @param {BuildingFile} file @param {number} number of the level @param {number} east @param {number} north factors
 * @returns {BuildingFile}
 */
function stretched(file, number, east, north) {
  const level = file.levels[number];
  const corner = (/** @type {any} */ point) => (Array.isArray(point) && point.length === 2
    ? [round(Number(point[0]) * east), round(Number(point[1]) * north)] : point);
  const rooms = level.rooms.map((/** @type {Thing} */ room) => (Array.isArray(room.polygon)
    ? { ...room, polygon: room.polygon.map(corner) } : room));
  const device = (/** @type {Thing} */ one) => (one.level === level.id && Number.isFinite(one.x_m) && Number.isFinite(one.y_m)
    ? { ...one, x_m: round(one.x_m * east), y_m: round(one.y_m * north) } : one);
  return {
    ...file, beacons: file.beacons.map(device), gateways: file.gateways.map(device),
    levels: file.levels.map((one, i) => (i === number
      ? { ...one, width_m: round(one.width_m * east), height_m: round(one.height_m * north), rooms } : one)),
  };
}

/**
 * A picture below a level. A level that was not measured takes the picture's shape; a measured one keeps its size, and the picture
 * has to cover just that.
 * @param {BuildingFile} file @param {number} number of the level
 * @param {string} plan name of the picture @param {{width: number, height: number}} size of it, in pixels
 * @returns {{file: BuildingFile, stretched: boolean}} stretched: the picture, since the measured level has another shape
 */
export function withPicture(file, number, plan, { width, height }) {
  const level = file.levels[number];
  const shaped = put(file, `/levels/${number}/plan`, plan);
  const factor = (level.width_m * height) / width / level.height_m;
  if (Math.abs(factor - 1) <= SAME_SHAPE) return { file: shaped, stretched: false };
  if (level.rooms.length > 0 && !level.schematic) return { file: shaped, stretched: true };
  return { file: stretched(shaped, number, 1, factor), stretched: false };
}

/**
 * The level in the scale that two points tell.
 * @param {BuildingFile} file @param {number} number of the level
 * @param {Point} a @param {Point} b as they are now @param {number} metres how far they are from each other in truth
 * @returns {BuildingFile|null} null: the points are the same, or that is no distance
 */
export function scaled(file, number, a, b, metres) {
  const now = Math.hypot(b[0] - a[0], b[1] - a[1]);
  if (!(now > 0) || !(metres > 0) || !Number.isFinite(metres)) return null;
  const factor = metres / now;
  return stretched(file, number, factor, factor);
}

/**
 * A building to draw: one level without rooms. Staff belong to no room and stay.
 * @param {string} name @param {Thing[]} staff
 * @returns {BuildingFile}
 */
export const emptyBuilding = (name, staff) => ({
  building: name, levels: [{ id: 'L1', name: 'Level 1', width_m: SOME_WIDTH_M, height_m: 30, rooms: [] }], beacons: [], gateways: [], staff,
});

/** Number of the level that a pointer leads to, -1: to none. @param {string} pointer */
export const levelNumber = (pointer) => Number(/^\/levels\/(\d+)$/.exec(pointer)?.[1] ?? -1);

/** @param {BuildingFile} file @param {number} number */
export const hasPicture = (file, number) => at(file, `/levels/${number}/plan`) !== undefined;
