// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const { setImmediate: yieldToEventLoop } = require('node:timers/promises');
const { LRUCache } = require('lru-cache');
const checks = require('./checks');
const { inPieces } = require('../shared/pieces');

/**
 * @typedef {{id: string, name: string, polygon: [number, number][], kind?: 'room'|'corridor'|'lobby'|'core', limit?: number,
 *   open_edges?: number[]}} Room
 * @typedef {{id: string, name: string, width_m: number, height_m: number, plan?: string, schematic?: boolean,
 *   rooms: Room[]}} Level schematic: its rooms are tiles, nothing of it is measured
 * @typedef {{id: string, level: string, room: string, x_m: number, y_m: number, tx?: number,
 *   approximate?: boolean, covers?: string[]}} Beacon
 * @typedef {{id: string, level: string, room: string, x_m: number, y_m: number, rssi_offset?: number, min_rssi?: number,
 *   window_ms?: number, approximate?: boolean, covers?: string[]}} Gateway
 * @typedef {{id: string, name: string, tags?: string[], tag_tx?: number}} Staff
 * @typedef {{building: string, levels: Level[], beacons: Beacon[], gateways: Gateway[], staff: Staff[],
 *   tuning?: Record<string, number>, learned_offsets?: boolean}} BuildingFile tuning: of former releases, not used;
 *   learned_offsets: false: those of gateways and beacons are learned, and not used
 */

/** The building file is refused; `faults` has all faults, each with its JSON pointer. */
class BuildingError extends Error {
  /** @param {string} source @param {string[]} faults */
  constructor(source, faults) {
    super(`${source} is refused:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'BuildingError';
    this.faults = faults;
  }
}

/**
 * A checked building, looked up by id.
 * @typedef {object} Building
 * @property {BuildingFile} file its source
 * @property {string} name
 * @property {Level[]} levels in the file's order
 * @property {Map<string, Room & {level: string}>} rooms by room id
 * @property {Map<string, Beacon>} beacons fixed ones, by id
 * @property {Map<string, Gateway>} gateways by id
 * @property {Map<string, Staff>} staff by id
 * @property {Map<string, string>} tagOwner beacon id of a tag → staff id
 * @property {(beacon: string) => boolean} isRegistered
 * @property {Map<string, string>} formerRooms names of rooms that the file no longer lists, by room id
 * @property {(room: string) => string} roomName name of a present or former room; of an unknown one its id
 * @property {string} digest of the content, whatever its layout
 */

/**
 * Digests of checked contents without faults. A change is checked at several places, and a check is expensive.
 * @type {LRUCache<string, true>}
 */
const checkedGood = new LRUCache({ max: 16 });

/** @param {unknown} data a parsed building file @returns {string} the same for any layout of the same content */
const digestOf = (data) => createHash('sha256').update(JSON.stringify(data) ?? '').digest('hex');

/**
 * Checks a parsed building file and indexes it.
 * @param {unknown} data
 * @param {string} [source] name in messages
 * @returns {Building}
 * @throws {BuildingError}
 */
function createBuilding(data, source = 'the building') {
  const digest = digestOf(data);
  const faults = checkedGood.has(digest) ? [] : checks.buildingFaults(data);
  if (faults.length > 0) throw new BuildingError(source, faults);
  checkedGood.set(digest, true);
  return indexBuilding(/** @type {BuildingFile} */ (data), digest);
}

/**
 * Finds the faults of a parsed building file, with breaks for other work of the event loop.
 * @param {unknown} data
 * @param {string} [digest]
 * @returns {Promise<string[]>} as from `buildingFaults`
 */
async function faultsOf(data, digest = digestOf(data)) {
  if (checkedGood.has(digest)) return [];
  const faults = await inPieces(checks.checkBuilding(data));
  if (faults.length === 0) checkedGood.set(digest, true);
  return faults;
}

/** @param {BuildingFile} file checked @param {string} [digest] @returns {Building} */
function indexBuilding(file, digest = digestOf(file)) {
  const beacons = new Map(file.beacons.map((beacon) => [beacon.id, beacon]));
  const tagOwner = new Map(file.staff.flatMap(({ id, tags = [] }) => tags.map((tag) => [tag, id])));
  const rooms = new Map(file.levels.flatMap((level) => level.rooms.map((room) => [room.id, { ...room, level: level.id }])));
  /** @type {Map<string, string>} */
  const formerRooms = new Map();
  return {
    file,
    name: file.building,
    levels: file.levels,
    rooms,
    beacons,
    gateways: new Map(file.gateways.map((gateway) => [gateway.id, gateway])),
    staff: new Map(file.staff.map((person) => [person.id, person])),
    tagOwner,
    isRegistered: (beacon) => beacons.has(beacon) || tagOwner.has(beacon),
    formerRooms,
    roomName: (room) => rooms.get(room)?.name ?? formerRooms.get(room) ?? room,
    digest,
  };
}

/**
 * @param {string} text content of a building file
 * @param {string} source name in messages
 * @returns {Building}
 * @throws {BuildingError}
 */
const parseBuilding = (text, source) => createBuilding(parse(text, source), source);

/**
 * As `parseBuilding`, with breaks for other work of the event loop.
 * @param {string} text
 * @param {string} source
 * @returns {Promise<Building>}
 * @throws {BuildingError}
 */
const readBuilding = async (text, source) => makeBuilding(parse(text, source), source);

/**
 * As `createBuilding`, with breaks for other work of the event loop.
 * @param {any} data @param {string} source @returns {Promise<Building>} @throws {BuildingError}
 */
async function makeBuilding(data, source) {
  const digest = digestOf(data);
  const faults = await faultsOf(data, digest);
  if (faults.length > 0) throw new BuildingError(source, faults);
  await yieldToEventLoop();
  return indexBuilding(data, digest);
}

/** @param {string} text @param {string} source @returns {any} @throws {BuildingError} */
function parse(text, source) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BuildingError(source, [`/ is not JSON: ${error instanceof Error ? error.message : error}`]);
  }
}

/**
 * @param {string} file
 * @returns {Building}
 * @throws {BuildingError}
 */
function loadBuilding(file) {
  let text;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new BuildingError(file, [`/ cannot be read: ${error instanceof Error ? error.message : error}`]);
  }
  return parseBuilding(text, file);
}

module.exports = {
  createBuilding, makeBuilding, parseBuilding, readBuilding, loadBuilding, indexBuilding, faultsOf, digestOf, BuildingError,
};
