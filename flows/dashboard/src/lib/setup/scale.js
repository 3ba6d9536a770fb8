import { at, put } from './things.js';

/**
 * The picture of a level and its scale. Everything on the level is scaled with it. Pure.
 * @typedef {import('./things.js').BuildingFile} BuildingFile
 * @typedef {import('./things.js').Thing} Thing
 * @typedef {[number, number]} Point metres east and north
 */

/** Shapes within this tolerance count as equal. */
const SAME_SHAPE = 0.01;
/** Width of a level that is not measured. */
const DEFAULT_WIDTH_M = 50;

/** Rounds to the centimetre. @param {number} metres */
const round = (metres) => Math.round(metres * 100) / 100;

/**
 * Scales a level and everything on it.
 * @param {BuildingFile} file @param {number} number of the level @param {number} east @param {number} north factors
 * @returns {BuildingFile}
 */
function scaleLevel(file, number, east, north) {
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
 * Sets the picture of a level. A level that is not measured gets the shape of the picture; a measured one keeps its size, and the
 * picture covers it.
 * @param {BuildingFile} file @param {number} number of the level
 * @param {string} plan name of the picture @param {{width: number, height: number}} size of it, in pixels
 * @returns {{file: BuildingFile, stretched: boolean}} stretched: whether the picture is distorted to the shape of the level
 */
export function withPicture(file, number, plan, { width, height }) {
  const level = file.levels[number];
  const shaped = put(file, `/levels/${number}/plan`, plan);
  const factor = (level.width_m * height) / width / level.height_m;
  if (Math.abs(factor - 1) <= SAME_SHAPE) return { file: shaped, stretched: false };
  if (level.rooms.length > 0 && !level.schematic) return { file: shaped, stretched: true };
  return { file: scaleLevel(shaped, number, 1, factor), stretched: false };
}

/**
 * Scales a level by the distance of two points.
 * @param {BuildingFile} file @param {number} number of the level
 * @param {Point} a @param {Point} b in the present scale @param {number} metres their real distance
 * @returns {BuildingFile|null} null: equal points, or an invalid distance
 */
export function scaled(file, number, a, b, metres) {
  const now = Math.hypot(b[0] - a[0], b[1] - a[1]);
  if (!(now > 0) || !(metres > 0) || !Number.isFinite(metres)) return null;
  const factor = metres / now;
  return scaleLevel(file, number, factor, factor);
}

/**
 * An empty building to draw: one level without rooms. Staff belong to no room and stay.
 * @param {string} name @param {Thing[]} staff
 * @returns {BuildingFile}
 */
export const emptyBuilding = (name, staff) => ({
  building: name, levels: [{ id: 'L1', name: 'Level 1', width_m: DEFAULT_WIDTH_M, height_m: 30, rooms: [] }], beacons: [], gateways: [], staff,
});

/** Index of the level of a pointer; -1: none. @param {string} pointer */
export const levelNumber = (pointer) => Number(/^\/levels\/(\d+)$/.exec(pointer)?.[1] ?? -1);

/** @param {BuildingFile} file @param {number} number */
export const hasPicture = (file, number) => at(file, `/levels/${number}/plan`) !== undefined;
