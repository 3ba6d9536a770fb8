// @ts-check
'use strict';

const Ajv = require('ajv/dist/2020').default;
const { covers, overlap, TOLERANCE_M } = require('./geometry');
const { inOneGo } = require('../shared/pieces');
const { inspectBuilding } = require('./inspection');
const SCHEMA = require('../../building/building.schema.json');

/**
 * Checks of a building file: the schema, and rules that a schema cannot express. Each check runs on the parts that are well formed
 * enough for it, so that one run shows every fault. Values come from outside, hence `any`.
 */

/** A device may hang on the far side of a wall. */
const WALL_M = 0.5;

/** @type {import('ajv').ValidateFunction|undefined} */
let validate;

/**
 * @param {any} data a parsed building file
 * @returns {import('../shared/pieces').Work<string[]>} each fault as `<JSON pointer> <what and why>`; none when the file is good
 */
function* checkBuilding(data) {
  const tooLong = lengthFaults(data);
  if (tooLong.length > 0) return tooLong;
  yield;
  validate ??= new Ajv({ allErrors: true, strict: false, verbose: true }).compile(SCHEMA);
  const faults = validate(data) ? [] : (validate.errors ?? []).map(faultText);
  yield;
  faults.push(...crossFaults(data));
  yield;
  for (const fault of yield* planFaults(data)) faults.push(fault);
  return faults;
}

/** @param {any} data @param {number} [withinMs] @returns {string[]} @throws {import('../shared/deadline').TookTooLong} */
const buildingFaults = (data, withinMs = Infinity) => inOneGo(checkBuilding(data), withinMs);

/**
 * Checks a text in a thread of its own.
 * @param {string|Uint8Array} content @returns {Promise<import('./inspection').InspectedBuilding>}
 */
const checkText = (content) => inspectBuilding(content);

/** Far more than any building has: what is longer is refused before its items are looked at. */
const MOST = Object.freeze({ levels: 2000, rooms: 5000, beacons: 100_000, gateways: 100_000,
  staff: 200_000, tags: 1000, polygon: 2000, open_edges: 2000 });

/**
 * Lists that are too long. Checking such a list for doubles, or each of its items, may take hours.
 * @param {any} file
 * @returns {string[]}
 */
function lengthFaults(file) {
  /** @param {any} holder @param {string} at @param {(keyof typeof MOST)[]} names */
  const of = (holder, at, names) => names.flatMap((name) => (Array.isArray(holder?.[name]) && holder[name].length > MOST[name]
    ? [`${at}/${name} has ${holder[name].length} items, at most ${MOST[name]} are taken`] : []));
  const faults = of(file, '', ['levels', 'beacons', 'gateways', 'staff']);
  if (faults.length > 0) return faults;
  for (const [level, at] of objects(file?.levels, '/levels')) faults.push(...of(level, at, ['rooms']));
  if (faults.length > 0) return faults;
  for (const { room, place } of roomsOf(file)) faults.push(...of(room, place, ['polygon', 'open_edges']));
  for (const [person, at] of objects(file?.staff, '/staff')) faults.push(...of(person, at, ['tags']));
  return faults;
}

/** @param {import('ajv').ErrorObject} error */
function faultText({ instancePath, message, params, data }) {
  const extra = params.additionalProperty ?? params.allowedValues?.join(', ');
  const value = data !== null && typeof data === 'object' ? '' : `, not ${String(JSON.stringify(data)).slice(0, 80)}`;
  return `${instancePath || '/'} ${message}${extra === undefined ? '' : `: ${extra}`}${value}`;
}

/**
 * The objects of a list with their JSON pointers; the schema reports anything else in the list.
 * @param {any} list
 * @param {string} place JSON pointer of the list
 * @returns {[any, string][]}
 */
const objects = (list, place) => (Array.isArray(list) ? list : [])
  .flatMap((one, i) => (one !== null && typeof one === 'object' ? [/** @type {[any, string]} */ ([one, `${place}/${i}`])] : []));

/** @param {any} file @returns {{level: any, room: any, place: string}[]} */
const roomsOf = (file) => objects(file?.levels, '/levels')
  .flatMap(([level, at]) => objects(level.rooms, `${at}/rooms`).map(([room, place]) => ({ level, room, place })));

/** @param {any} file @returns {[any, string][]} */
const placedDevices = (file) => [...objects(file?.beacons, '/beacons'), ...objects(file?.gateways, '/gateways')];

/**
 * Finds duplicate ids, and rooms and levels that do not exist.
 * @param {any} file
 * @returns {string[]}
 */
function crossFaults(file) {
  /** @type {string[]} */
  const faults = [];
  /** @param {string} what @param {[any, string][]} idsAndPlaces */
  const unique = (what, idsAndPlaces) => {
    const seen = new Map();
    for (const [id, place] of idsAndPlaces) {
      if (typeof id !== 'string') continue;
      if (seen.has(id)) faults.push(`${place} ${what} "${id}" is already at ${seen.get(id)}`);
      else seen.set(id, place);
    }
  };
  /** @param {[any, string][]} list @returns {[any, string][]} */
  const ids = (list) => list.map(([{ id }, place]) => [id, place]);
  const levels = objects(file?.levels, '/levels');
  const staff = objects(file?.staff, '/staff');
  const rooms = new Map(roomsOf(file).map(({ level, room }) => [room.id, level.id]));
  unique('level id', ids(levels));
  unique('room id', roomsOf(file).map(({ room, place }) => [room.id, place]));
  unique('beacon id', [
    ...ids(objects(file?.beacons, '/beacons')),
    ...staff.flatMap(([{ tags }, at]) => (Array.isArray(tags) ? tags : []).map((tag, j) => pair(tag, `${at}/tags/${j}`))),
  ]);
  // accounts of gateways and phones share a namespace at the broker
  unique('receiver id', ids([...objects(file?.gateways, '/gateways'), ...staff]));
  for (const [{ room, level }, place] of placedDevices(file)) {
    if (typeof room !== 'string') continue;
    if (!rooms.has(room)) faults.push(`${place}/room there is no room "${room}"`);
    else if (rooms.get(room) !== level) faults.push(`${place}/level room "${room}" is on level "${rooms.get(room)}", not "${level}"`);
  }
  for (const [{ covers: covered }, place] of placedDevices(file)) {
    (Array.isArray(covered) ? covered : []).forEach((id, n) => {
      if (typeof id === 'string' && !rooms.has(id)) faults.push(`${place}/covers/${n} there is no room "${id}"`);
    });
  }
  return faults;
}

/**
 * Finds rooms without area, outside their level or on one another, and devices outside their room.
 * @param {any} file
 * @returns {import('../shared/pieces').Work<string[]>}
 */
function* planFaults(file) {
  /** @type {string[]} */
  const faults = [];
  const drawn = roomsOf(file).filter(({ room }) => isPolygon(room.polygon)).map((one) => ({ ...one, box: boxOf(one.room.polygon) }));
  /** @type {Map<any, typeof drawn>} rooms that were checked already, by level */
  const before = new Map();
  for (const one of drawn) {
    const { level, room, place, box } = one;
    const { width_m: width, height_m: height } = level;
    if (area(room.polygon) < TOLERANCE_M ** 2) faults.push(`${place}/polygon is no area`);
    const out = room.polygon.find((/** @type {[number, number]} */ [x, y]) => Math.min(x, y, width - x, height - y) < -TOLERANCE_M);
    if (out) faults.push(`${place}/polygon corner ${JSON.stringify(out)} lies outside the level of ${width} x ${height} m`);
    const earlier = before.get(level) ?? [];
    before.set(level, earlier);
    for (const other of earlier) {
      if (!boxesOverlap(other.box, box)) continue;
      yield;
      if (!overlap(other.room.polygon, room.polygon)) continue;
      faults.push(`${place}/polygon room "${room.id}" overlaps room "${other.room.id}"`);
      break;
    }
    earlier.push(one);
    yield;
  }
  const polygons = new Map(drawn.map(({ room }) => [room.id, room.polygon]));
  for (const [{ id, room, x_m: x, y_m: y }, place] of placedDevices(file)) {
    const polygon = polygons.get(room);
    if (polygon && Number.isFinite(x) && Number.isFinite(y) && !covers(polygon, [x, y], WALL_M)) {
      faults.push(`${place} "${id}" at ${x}, ${y} m stands outside room "${room}"`);
    }
    yield;
  }
  return faults;
}

/** @param {any} corners */
const isPolygon = (corners) => Array.isArray(corners) && corners.length >= 3
  && corners.every((corner) => Array.isArray(corner) && corner.length === 2 && corner.every(Number.isFinite));

/** Shoelace formula, m². @param {[number, number][]} polygon */
const area = (polygon) => Math.abs(polygon.reduce((sum, [x, y], i) => {
  const [nextX, nextY] = /** @type {[number, number]} */ (polygon[(i + 1) % polygon.length]);
  return sum + x * nextY - nextX * y;
}, 0)) / 2;

/** @param {[number, number][]} polygon @returns {[number, number, number, number]} west, south, east, north */
function boxOf(polygon) {
  const [xs, ys] = [polygon.map(([x]) => x), polygon.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/**
 * Whether rooms in these boxes can overlap; neighbours that touch cannot.
 * @param {ReturnType<typeof boxOf>} a @param {ReturnType<typeof boxOf>} b
 */
const boxesOverlap = (a, b) => a[2] - b[0] > TOLERANCE_M && b[2] - a[0] > TOLERANCE_M
  && a[3] - b[1] > TOLERANCE_M && b[3] - a[1] > TOLERANCE_M;

/** @param {any} id @param {string} place @returns {[any, string]} */
const pair = (id, place) => [id, place];

module.exports = { buildingFaults, checkBuilding, checkText };
