import { inside } from '../../../../lib/building/geometry.js';
import { centre, drawn } from '../geometry.js';
import { at } from './things.js';

/**
 * Places of things on the plan. Lengths in metres; y is to the north in the file, and downwards on the drawn plan.
 * @typedef {import('./things.js').BuildingFile} BuildingFile
 * @typedef {import('./things.js').Thing} Thing
 * @typedef {{pointer: string, kind: 'beacon'|'gateway', id: string, x: number, y: number, note: string}} Drawn x, y: on the drawn plan
 */

/** Precision of placing by hand. */
const STEP_M = 0.1;
const ARROW_M = 0.5;
/** Size of a level while it is not known. */
const DEFAULT_M = 10;
/** A corner this close to another one snaps to it, since rooms share walls. */
const SNAP_M = 0.8;

/** @param {number} value */
export const toStep = (value) => Math.round(value / STEP_M) / Math.round(1 / STEP_M);

/** @param {any} polygon */
const isPolygon = (polygon) => Array.isArray(polygon) && polygon.length >= 3 && polygon.every(isPoint);
/** @param {any} point */
const isPoint = (point) => Array.isArray(point) && point.length === 2 && point.every(Number.isFinite);
/** @param {any} length */
const lengthOf = (length) => (Number.isFinite(length) && length > 0 ? length : DEFAULT_M);

/**
 * The parts of an unfinished level that can be drawn.
 * @param {Thing} level
 */
export const drawable = ({ id = '', name = '', width_m, height_m, rooms }) => ({
  id, name, width_m: lengthOf(width_m), height_m: lengthOf(height_m),
  rooms: rooms.filter((/** @type {Thing} */ room) => isPolygon(room.polygon) && typeof room.id === 'string')
    .map((/** @type {Thing} */ room) => ({ id: room.id, name: room.name ?? room.id, kind: room.kind ?? 'room', limit: null, polygon: room.polygon,
      open_edges: Array.isArray(room.open_edges) ? room.open_edges : undefined })),
});

/**
 * Corners of an unfinished room, on the drawn plan.
 * @param {Thing} room @param {number} height_m @returns {[number, number][]}
 */
export const corners = ({ polygon }, height_m) => drawn((Array.isArray(polygon) ? polygon : []).filter(isPoint), height_m);

/** @param {Thing|undefined} level @param {number} x @param {number} y @returns {string|undefined} id of the room at a point */
export const roomAt = (level, x, y) => level?.rooms
  .find((/** @type {Thing} */ { polygon }) => isPolygon(polygon) && inside(polygon, [x, y]))?.id;

/**
 * Changes of a device that is put on a point of a level: it is in the room at the point, or else stays in its room. On a level of
 * tiles no place is measured.
 * @param {Thing} level @param {Thing} device @param {number} x @param {number} y
 */
export const placedAt = (level, device, x, y) => ({
  level: level.id, room: roomAt(level, x, y) ?? (device.level === level.id ? device.room : undefined),
  x_m: x, y_m: y, approximate: level.schematic || undefined,
});

/**
 * Changes of a device when a coordinate is typed: it goes to the room at the point, if both coordinates are known.
 * @param {BuildingFile} file @param {string} levelId the shown level, for a new device @param {Thing} device
 * @param {{x_m?: unknown, y_m?: unknown}} typed
 */
export function typedPlace(file, levelId, device, typed) {
  const { x_m: x, y_m: y } = { ...device, ...typed };
  const level = file.levels.find(({ id }) => id === (device.level ?? levelId));
  return level && isPoint([x, y]) ? placedAt(level, device, Number(x), Number(y)) : typed;
}

/**
 * Changes of a device when a room is chosen: unless it is there already it goes to the middle, which is approximate.
 * @param {BuildingFile} file @param {Thing} device @param {string} roomId
 */
export function inRoom(file, device, roomId) {
  const level = file.levels.find(({ rooms }) => rooms.some((/** @type {Thing} */ { id }) => id === roomId));
  const room = level?.rooms.find((/** @type {Thing} */ { id }) => id === roomId);
  if (!level || !room) return { level: undefined, room: undefined };
  if (device.level === level.id && roomAt(level, device.x_m, device.y_m) === roomId) return { room: roomId };
  if (!isPolygon(room.polygon)) return { level: level.id, room: roomId };
  const [x, y] = centre(room.polygon);
  return { level: level.id, room: roomId, x_m: toStep(x), y_m: toStep(y), approximate: true };
}

/** Step of an arrow key, metres east and north. @param {string} key @param {boolean} fine @returns {[number, number]|null} */
export function nudge(key, fine) {
  const by = fine ? STEP_M : ARROW_M;
  switch (key) {
    case 'ArrowLeft': return [-by, 0];
    case 'ArrowRight': return [by, 0];
    case 'ArrowUp': return [0, by];
    case 'ArrowDown': return [0, -by];
    default: return null;
  }
}

/** @param {BuildingFile} file @param {string} levelId @param {number} height_m @returns {Drawn[]} */
export function devicesOn(file, levelId, height_m) {
  /** @param {'beacons'|'gateways'} list @param {'beacon'|'gateway'} kind @param {string} word @returns {Drawn[]} */
  const of = (list, kind, word) => file[list].flatMap(({ id = '', level, room, x_m, y_m }, i) => {
    if (level !== levelId || !isPoint([x_m, y_m])) return [];
    const note = `${word} ${id}, ${room ?? 'in no room'}, at ${x_m}, ${y_m} m`;
    return [{ pointer: `/${list}/${i}`, kind, id, x: x_m, y: height_m - y_m, note }];
  });
  return [...of('beacons', 'beacon', 'Beacon'), ...of('gateways', 'gateway', 'Gateway')];
}

/** Devices without a known level. @param {BuildingFile} file @returns {string[]} pointers */
export const withoutLevel = (file) => /** @type {const} */ (['beacons', 'gateways']).flatMap((list) => file[list]
  .flatMap(({ level }, i) => (file.levels.some(({ id }) => id === level) ? [] : [`/${list}/${i}`])));

/** Number of devices by level. @param {BuildingFile} file @returns {Record<string, number>} */
export function deviceCounts(file) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { level } of [...file.beacons, ...file.gateways]) counts[level] = (counts[level] ?? 0) + 1;
  return counts;
}

/**
 * Changes by a click on the plan: a device is placed there, or a room gets a corner there.
 * @param {BuildingFile} file @param {string} pointer @param {Thing} level @param {number} x @param {number} y
 */
export function clicked(file, pointer, level, x, y) {
  const thing = at(file, pointer);
  if (pointer.includes('/rooms/')) return { polygon: [...Array.isArray(thing.polygon) ? thing.polygon : [], snapped(level, x, y)] };
  return placedAt(level, thing, toStep(x), toStep(y));
}

/**
 * Snaps a point to a corner of a room or of the level, or else to the grid.
 * @param {Thing} level @param {number} x @param {number} y
 */
function snapped(level, x, y) {
  const [width, height] = [lengthOf(level.width_m), lengthOf(level.height_m)];
  const known = level.rooms.flatMap((/** @type {Thing} */ { polygon }) => (Array.isArray(polygon) ? polygon.filter(isPoint) : []));
  const all = [...known, [0, 0], [width, 0], [width, height], [0, height]];
  const near = all.map((corner) => ({ corner, m: Math.hypot(corner[0] - x, corner[1] - y) })).sort((a, b) => a.m - b.m)[0];
  return near.m <= SNAP_M ? near.corner : [toStep(x), toStep(y)];
}
