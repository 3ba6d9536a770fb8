// @ts-check
'use strict';

const { digestOf, indexBuilding, isDemo } = require('..');
const { nameFault } = require('../awkward');
const { importRows, readMac } = require('./beacons');
const { createNameIndex, fold, foldMore, idFrom, uniqueId } = require('./names');
const { decode, readRows } = require('./rows');

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
  const demo = isDemo(digestOf(before));
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

/**
 * A plan for a level of which only the names of rooms are known: rooms as tiles of equal size, row by row. Nothing is measured.
 * Pure.
 * @typedef {import('..').Room} Room
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

/**
 * Storey numbers from names of levels: B2, B1, G or 0, M, 1, 2, …, roof. Pure.
 */

/** Numbers of storeys without one: lower ground, mezzanine, roof. */
const [LOWER_GROUND, MEZZANINE, ROOF] = [-0.5, 0.5, 1000];

/** The first match counts. @type {[RegExp, (found: RegExpExecArray) => number][]} */
const FORMS = [
  [/^(?:b|basement|sub-?basement|cellar)[ ._-]*(\d{1,3})?\b/, ([, number]) => -Number(number ?? 1)],
  [/^(?:lg|lower ground)\b/, () => LOWER_GROUND],
  [/^(?:ug|upper ground)\b/, () => MEZZANINE],
  [/^(?:g|gf|ground)(?:[ ._-]*(?:floor|level))?\b/, () => 0],
  [/^(?:m|mezz|mezzanine)\b/, () => MEZZANINE],
  [/^(?:r|rf|roof|rooftop)\b/, () => ROOF],
  [/^(?:(?:l|lvl|level|f|fl|floor|storey|story)[ ._-]*)?(-?\d{1,3})(?:st|nd|rd|th|f)?\b/, ([, number]) => Number(number)],
];

/**
 * @param {string} name as people write it: "B1", "Ground floor", "3rd floor", "L3"
 * @returns {number|null} 0: ground; negative: below it; null: not known
 */
function storeyOf(name) {
  const text = name.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
  for (const [form, number] of FORMS) {
    const found = form.exec(text);
    if (found) return number(found);
  }
  return null;
}

/**
 * Sorts levels, the lowest first. Levels of unknown storey come last, in their present order.
 * @template {{name: string}} T
 * @param {T[]} levels
 * @returns {T[]}
 */
const inOrder = (levels) => levels.map((level, i) => ({ level, i, storey: storeyOf(level.name) ?? Infinity }))
  .sort((a, b) => (a.storey === b.storey ? a.i - b.i : a.storey - b.storey)).map(({ level }) => level);

/** Preview of an import as text for a terminal. Pure. */

/** Number of names of rooms in a line that are there already. */
const LISTED_MAX = 8;

/** @param {number} count @param {string} one */
const counted = (count, one) => `${count} ${one}${count === 1 ? '' : 's'}`;

/**
 * @param {FromList} made
 * @param {{list: string, anew: boolean, before: string}} about before: name of the building in use
 * @returns {string}
 */
function previewText({ file, levels, added, unchanged, faults, notes }, { list, anew, before }) {
  const rooms = levels.reduce((sum, level) => sum + level.rooms.length, 0);
  const lines = levels.map(({ id, name, schematic, rooms: its }) => {
    const beacons = its.reduce((sum, room) => sum + room.beacons, 0);
    const listed = its.filter(({ fresh }, i) => fresh || i < LISTED_MAX); // what is made is shown, all of it
    const names = listed.map((room) => room.name).join(', ') + (its.length > listed.length ? ` and ${its.length - listed.length} more` : '');
    return `  ${name}${id === name ? '' : ` (${id})`}: ${counted(its.length, 'room')}, ${counted(beacons, 'beacon')}${schematic ? '' : ', drawn'}\n      ${names}`;
  });
  return [
    `${file.building}, ${anew ? `a new building in place of "${before}"` : `with what ${list} adds`}:`,
    ...lines,
    `${counted(levels.length, 'level')}, ${counted(rooms, 'room')}; ${counted(added.length, 'beacon')} new, ${unchanged.length} there already. `
      + 'Rooms of a list are drawn as tiles: their places are not measured.',
    ...(notes.length > 0 ? ['', 'Look at these, they are imported unchanged:', ...notes.map((note) => `  ${note}`)] : []),
    ...(faults.length > 0 ? ['', `${counted(faults.length, 'row')} refused:`,
      ...faults.map(({ line, text, reason }) => `  ${list}:${line}: ${reason}\n      ${text}`)] : []),
  ].join('\n');
}

module.exports = { fromListWork, fromRows, baseOf, emptyBuilding, storeyOf, inOrder, previewText, spreadDevices, withTiles };
