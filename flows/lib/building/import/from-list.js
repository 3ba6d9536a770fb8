// @ts-check
'use strict';

const { isDemo } = require('../demo');
const { indexBuilding } = require('..');
const { nameFault } = require('../awkward');
const { importRows } = require('./beacons');
const { readMac } = require('./mac');
const { createNameIndex, fold, foldMore, idFrom, uniqueId } = require('./names');
const { decode, readRows } = require('./rows');
const { inOrder, storeyOf } = require('./storeys');
const { isTiled, spreadDevices, withTiles } = require('./tiles');

/**
 * Makes a building from an installer's list: its levels and rooms, with the beacons in them. Names stay as written; rooms are tiles
 * (`schematic`) until somebody draws the plan.
 * @typedef {import('..').BuildingFile} BuildingFile
 * @typedef {import('..').Level} Level
 * @typedef {{id: string, name: string, fresh: boolean, beacons: number}} ListedRoom beacons: their number; fresh: created by this list
 * @typedef {{id: string, name: string, fresh: boolean, schematic: boolean, rooms: ListedRoom[]}} ListedLevel
 * @typedef {object} FromList
 * @property {BuildingFile} file
 * @property {ListedLevel[]} levels lowest first
 * @property {string[]} added beacon ids
 * @property {string[]} unchanged beacon ids that were in the same room already
 * @property {import('./rows').Fault[]} faults refused rows, by line
 * @property {string[]} notes on odd rows that were imported unchanged
 */

const NAME_LENGTH_MAX = 120;
const LEVELS_MAX = 200;
/** Leaves room for a number at the end of an id. */
const ID_STEM_MAX = 60;

/**
 * An empty building, to import a list into. Staff belong to no room and stay.
 * @param {string} name @param {BuildingFile['staff']} [staff]
 * @returns {BuildingFile}
 */
const emptyBuilding = (name, staff = []) => ({ building: name, levels: [], beacons: [], gateways: [], staff });

/**
 * The building that a list is imported into.
 * @param {BuildingFile} before the building in use
 * @param {{how: 'new'|'add'|'', name: string}} wish how: '' replaces the demo, and adds to any other building; name: '' keeps the name
 * @returns {{anew: boolean, base: BuildingFile}}
 */
function baseOf(before, { how, name }) {
  const demo = isDemo(before);
  const anew = how === 'new' || (how === '' && demo);
  return { anew, base: anew ? emptyBuilding(name || 'My building', demo ? [] : before.staff) : { ...before, building: name || before.building } };
}

/**
 * @param {Uint8Array} bytes the list
 * @param {BuildingFile} base checked, or an empty building; it is not changed
 * @returns {import('../../shared/pieces').Work<FromList>} the caller checks the file: a list without a good row makes no building
 * @throws {import('./rows').ImportError} when the list cannot be read at all
 */
function* fromListWork(bytes, base) {
  return yield* fromRows(yield* readRows(decode(bytes)), base);
}

/**
 * As `fromListWork`, of rows that were read.
 * @param {{rows: import('./rows').Row[], faults: import('./rows').Fault[]}} list @param {BuildingFile} base
 * @returns {import('../../shared/pieces').Work<FromList>}
 */
function* fromRows(list, base) {
  const { levels, fresh } = yield* withListedRooms(base.levels, yield* placingRows(list.rows, base));
  yield;
  const { file: imported, added, unchanged, faults } = yield* importRows(list, { ...base, levels }, { makesRooms: true });
  const tiledLevels = new Set(levels.filter(isTiled).map(({ id }) => id));
  const file = spreadDevices(imported, tiledLevels);
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { room } of file.beacons) counts.set(room, (counts.get(room) ?? 0) + 1);
  const listed = levels.map(({ id, name, schematic = false, rooms }) => ({ id, name, fresh: fresh.has(id), schematic,
    rooms: rooms.map((room) => ({ id: room.id, name: room.name, fresh: fresh.has(room.id), beacons: counts.get(room.id) ?? 0 })) }));
  return { file, levels: listed, added, unchanged, faults, notes: notesOn(listed) };
}

/**
 * Rows that bring a beacon. A refused row makes no room: it may as well be a heading, a total, or a typing error.
 * @param {import('./rows').Row[]} rows @param {BuildingFile} base
 * @returns {import('../../shared/pieces').Work<import('./rows').Row[]>}
 */
function* placingRows(rows, base) {
  const { isRegistered } = indexBuilding(base);
  const isName = (/** @type {string} */ name) => name !== '' && name.length <= NAME_LENGTH_MAX && nameFault(name) === null;
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {import('./rows').Row[]} */
  const placing = [];
  for (const row of rows) {
    yield;
    const mac = readMac(row.mac);
    if (!('beacon' in mac) || isRegistered(mac.beacon) || seen.has(mac.beacon) || !isName(row.level) || !isName(row.location)) continue;
    seen.add(mac.beacon);
    placing.push(row);
  }
  return placing;
}

/**
 * Adds levels and rooms that the rows name for the first time. A level that was drawn or has a picture gets no rooms, since a tile
 * has no place on its plan.
 * @param {Level[]} before @param {import('./rows').Row[]} rows
 * @returns {import('../../shared/pieces').Work<{levels: Level[], fresh: Set<string>}>} fresh: ids of new levels and rooms
 */
function* withListedRooms(before, rows) {
  /** @type {Set<string>} */
  const fresh = new Set();
  const levelIds = new Set(before.map(({ id }) => id));
  // no id is what a row calls another room
  const roomIds = new Set([...before.flatMap((level) => level.rooms.map(({ id }) => id)),
    ...rows.flatMap(({ location }) => [location, fold(location)])]);
  /** @param {Level} level */
  const entry = (level) => {
    /** @type {{id: string, name: string}[]} */
    const rooms = level.rooms;
    return { level, tiled: isTiled(level), more: rooms.slice(0, 0), names: createNameIndex(rooms, (room) => room) };
  };
  const all = before.map(entry);
  const levelNames = createNameIndex(all, ({ level }) => level);
  for (const { level: levelName, location } of rows) {
    yield;
    const known = levelNames.find(levelName);
    if (known.length > 1) continue; // each row is reported as a fault
    let [one] = known;
    if (!one) {
      if (all.length >= LEVELS_MAX) continue;
      const id = uniqueId(idFrom(levelName) || `level-${all.length + 1}`, levelIds);
      one = entry(withTiles({ id, name: levelName, rooms: [] }, []));
      all.push(one);
      levelNames.add(one);
      fresh.add(id);
    }
    if (one.names.find(location).length > 0 || !one.tiled) continue;
    const number = one.level.rooms.length + one.more.length + 1;
    const room = { id: uniqueId(`${one.level.id}-${idFrom(location) || `room-${number}`}`.toLowerCase().slice(0, ID_STEM_MAX), roomIds), name: location };
    one.more.push(room);
    one.names.add(room);
    fresh.add(room.id);
  }
  const extended = all.map(({ level, more }) => (more.length === 0 ? level : withTiles(level, [...level.rooms, ...more])));
  const wasInOrder = inOrder(before).every((level, i) => level === before[i]);
  return { levels: wasInOrder ? inOrder(extended) : extended, fresh };
}

/** @param {ListedLevel[]} levels */
function notesOn(levels) {
  /** @type {string[]} */
  const notes = [];
  levels.forEach((level, i) => {
    const twin = levels.slice(0, i).find(({ name }) => storeyOf(name) !== null && storeyOf(name) === storeyOf(level.name));
    if (twin && level.fresh) notes.push(`"${twin.name}" and "${level.name}" may be the same level`);
    /** @type {Map<string, string>} */
    const seen = new Map();
    for (const { name, fresh } of level.rooms) {
      const key = foldMore(name) || name;
      if (fresh && seen.has(key)) notes.push(`"${seen.get(key)}" and "${name}" on ${level.name} may be the same room`);
      seen.set(key, name);
    }
  });
  const typical = levels.reduce((sum, { rooms }) => sum + rooms.length, 0) / Math.max(1, levels.length);
  for (const { name, fresh, rooms } of levels) {
    if (fresh && rooms.length === 1 && typical >= 4) notes.push(`"${name}" has one room only: a typing error?`);
  }
  return notes;
}

module.exports = { fromListWork, fromRows, baseOf, emptyBuilding };
