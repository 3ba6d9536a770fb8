// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { setImmediate: yieldToEventLoop } = require('node:timers/promises');
const { LRUCache } = require('lru-cache');
const { TookTooLong } = require('../shared/deadline');
const { inPieces } = require('../shared/pieces');
const { newAwkward, warningsOf } = require('./awkward');
const checks = require('./checks');
const { UnreadableText, parseText, readTextSync } = require('./source');

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
 * @property {string[]} warnings what a new edit may not bring, as faults
 */

/**
 * Digests of checked contents without faults. A change is checked at several places, and a check is expensive.
 * @type {LRUCache<string, true>}
 */
const checkedGood = new LRUCache({ max: 16 });

/** @param {unknown} data a parsed building file @returns {string} the same for any layout of the same content */
const digestOf = (data) => createHash('sha256').update(JSON.stringify(data) ?? '').digest('hex');

/** Texts without faults: that of an edit is written and read again. @type {LRUCache<string, true>} */
const goodTexts = new LRUCache({ max: 16 });

/** @param {string} text */
const textKey = (text) => createHash('sha256').update(text).digest('hex');

/** Takes the text of a checked building, so that it is not checked again when it is read. @param {string} text */
const trustText = (text) => { goodTexts.set(textKey(text), true); };

/** A start and a command wait so long for a check. */
const CHECK_WITHIN_MS = 20_000;

/**
 * Checks a parsed building file and indexes it.
 * @param {unknown} data
 * @param {string} [source] name in messages
 * @returns {Building}
 * @throws {BuildingError}
 */
function createBuilding(data, source = 'the building') {
  const { digest, faults } = checked(data);
  if (faults.length > 0) throw new BuildingError(source, faults);
  checkedGood.set(digest, true);
  return indexBuilding(/** @type {BuildingFile} */ (data), digest);
}

/** @param {unknown} data @returns {{digest: string, faults: string[]}} */
function checked(data) {
  try {
    const digest = digestOf(data);
    return { digest, faults: checkedGood.has(digest) ? [] : checks.buildingFaults(data, CHECK_WITHIN_MS) };
  } catch (error) {
    return { digest: '', faults: [faultOf(error)] };
  }
}

/** Whatever ends a check is a fault of the file: it must not end who reads it. @param {unknown} error */
const faultOf = (error) => (error instanceof UnreadableText || error instanceof TookTooLong ? `/ ${error.message}`
  : `/ cannot be checked: ${error instanceof Error ? error.message : error}`);

/**
 * Finds the faults of a parsed building file, with breaks for other work of the event loop.
 * @param {unknown} data
 * @param {string} [digest]
 * @returns {Promise<string[]>} as from `buildingFaults`
 */
async function faultsOf(data, digest = digestOf(data)) {
  if (checkedGood.has(digest)) return [];
  const faults = await inPieces(checks.checkBuilding(data), CHECK_WITHIN_MS);
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
  /** @type {string[]|null} */
  let warnings = null;
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
    get warnings() { return (warnings ??= warningsOf(file)); },
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
 * As `parseBuilding`, checked in a thread, so that no text keeps others waiting.
 * @param {string} text
 * @param {string} source
 * @param {BuildingFile[]} [before] buildings that were in use: what they have is taken again; without them anything is
 * @returns {Promise<Building>}
 * @throws {BuildingError}
 */
async function readBuilding(text, source, before) {
  const { data, faults } = await inspect(text, before);
  if (faults.length > 0) throw new BuildingError(source, faults);
  await yieldToEventLoop();
  return indexBuilding(data);
}

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

/**
 * Checks the text of a building in a thread.
 * @param {string|Uint8Array} content of a building file
 * @param {BuildingFile[]} [before] as of `readBuilding`
 * @returns {Promise<{data: any, faults: string[]}>} data: null with faults
 */
async function inspect(content, before) {
  try {
    const isKnown = typeof content === 'string' && goodTexts.has(textKey(content));
    const { text, faults } = isKnown ? { text: content, faults: [] } : await checks.checkText(content);
    if (text === null) return { data: null, faults };
    if (!isKnown) trustText(text);
    await yieldToEventLoop();
    const data = JSON.parse(text);
    await yieldToEventLoop();
    checkedGood.set(digestOf(data), true);
    const awkward = before ? newAwkward(data, before) : [];
    return { data: awkward.length > 0 ? null : data, faults: awkward };
  } catch (error) {
    return { data: null, faults: [faultOf(error)] };
  }
}

/** @param {string} text @param {string} source @returns {any} @throws {BuildingError} */
function parse(text, source) {
  try {
    return parseText(text);
  } catch (error) {
    throw new BuildingError(source, [faultOf(error)]);
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
    text = readTextSync(file);
  } catch (error) {
    throw new BuildingError(file, [readFault(error)]);
  }
  return parseBuilding(text, file);
}

/** Of a file that cannot be read. @param {unknown} error @returns {string} */
const readFault = (error) => (error instanceof UnreadableText ? `/ ${error.message}`
  : `/ cannot be read: ${error instanceof Error ? error.message : error}`);

/**
 * The building that stands in a node of the editor.
 * @param {unknown} value the path of a building file, or its content
 * @returns {Building}
 * @throws {BuildingError}
 */
function buildingOfNode(value) {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '') throw new BuildingError('the site', ['/ there is no building: give the path of a building file, or its content']);
  return text.startsWith('{') ? parseBuilding(text, 'the building of the site') : loadBuilding(text);
}

/** Digest of the shipped building/demo.json; a test compares it with the file. native/demo.cksum is the same for the launcher. */
const DEMO_DIGEST = 'fdff6c7cdc0ee55cef6ea652fdc4ef8b63ffdff3585f76c08b7cfe102e1c93db';

/** Whether a building is the unchanged demo. @param {string} digest of the building */
const isDemo = (digest) => digest === DEMO_DIGEST;

module.exports = {
  createBuilding, makeBuilding, parseBuilding, readBuilding, inspect, loadBuilding, indexBuilding, faultsOf, digestOf, readFault,
  trustText, BuildingError, buildingOfNode, isDemo,
};
