// @ts-check
'use strict';

const { createBuilding, indexBuilding } = require('..');
const { inOneGo } = require('../../shared/pieces');
const { nameFault } = require('../awkward');
const { borderDistance, covers } = require('../geometry');
const { readBeacon } = require('../ids');
const { createNameIndex } = require('./names');
const { decode, readRows } = require('./rows');

/**
 * Imports an installer's list of beacons into a building file. Each row is imported unchanged, or reported with its line and
 * reason; nothing is guessed and nothing is dropped silently.
 * @typedef {import('..').BuildingFile} BuildingFile
 * @typedef {import('./rows').Fault} Fault kind: `mac_missing`, `mac_length`, `mac_digit`, `mac_separators`, `mac_form`, `duplicate`,
 *   `registered`, `level_missing`, `level_unknown`, `location_missing`, `location_unknown`, `name`, `columns`, `quotes`
 * @typedef {object} Imported
 * @property {BuildingFile} file the building with the new beacons
 * @property {string[]} added beacon ids; each is in the middle of its room, marked `approximate`
 * @property {string[]} unchanged beacon ids that were registered in the same room already
 * @property {Fault[]} faults refused rows, by line
 */

/**
 * @param {Uint8Array} bytes the list
 * @param {unknown} building a parsed building file; it is not changed
 * @returns {Imported}
 * @throws {import('..').BuildingError} when the building itself has faults
 * @throws {import('./rows').ImportError} when the list cannot be read at all
 */
function importBeacons(bytes, building) {
  createBuilding(building, 'the building file');
  const imported = inOneGo(importWork(bytes, /** @type {BuildingFile} */ (building)));
  createBuilding(imported.file, 'the building with the new beacons');
  return imported;
}

/**
 * As `importBeacons`, without the checks of the building before and after.
 * @param {Uint8Array} bytes @param {BuildingFile} building checked
 * @returns {import('../../shared/pieces').Work<Imported>}
 * @throws {import('./rows').ImportError}
 */
function* importWork(bytes, building) {
  return yield* importRows(yield* readRows(decode(bytes)), building);
}

/**
 * As `importWork`, of rows that were read.
 * @param {{rows: import('./rows').Row[], faults: Fault[]}} list @param {BuildingFile} building checked
 * @param {{makesRooms?: boolean}} [options] makesRooms: rooms of good rows were made; that of a refused row is missing for that reason only
 * @returns {import('../../shared/pieces').Work<Imported>}
 */
function* importRows({ rows, faults: unread }, building, { makesRooms = false } = {}) {
  const before = indexBuilding(building);
  const faults = [...unread];
  const file = { ...building, beacons: [...building.beacons] };
  /** @type {Map<string, number>} line of each imported beacon */
  const lineOf = new Map();
  /** @type {string[]} */
  const added = [];
  /** @type {string[]} */
  const unchanged = [];

  const findRoom = createRoomFinder(file.levels);
  const placeOf = memoize((/** @type {import('./rows').Row} */ { level, location }) => findRoom(level, location),
    ({ level, location }) => `${level}\n${location}`);
  const middleOf = memoize((/** @type {import('..').Room} */ { polygon }) => middle(polygon), ({ id }) => id);

  for (const row of rows) {
    yield;
    const mac = readMac(row.mac);
    const place = withNames(placeOf(row), row);
    let problems = [mac, place].flatMap((one) => ('reason' in one ? [one] : []));
    if ('beacon' in mac) {
      const known = registrationOf(mac.beacon, before);
      const first = lineOf.get(mac.beacon);
      if (first !== undefined) problems.push({ kind: 'duplicate', reason: `${mac.beacon} is already on line ${first}, which counts` });
      else if (known && !('room' in place && known.room === place.room.id)) problems.push({ kind: 'registered', reason: known.reason });
    }
    if (makesRooms) problems = withoutConsequences(problems);
    if (problems.length > 0 || !('beacon' in mac) || !('room' in place)) {
      faults.push({ line: row.line, text: row.text, kind: problems[0]?.kind ?? 'columns', reason: problems.map(({ reason }) => reason).join('; ') });
      continue;
    }
    lineOf.set(mac.beacon, row.line);
    if (before.beacons.has(mac.beacon)) {
      unchanged.push(mac.beacon);
      continue;
    }
    const [x, y] = middleOf(place.room);
    file.beacons.push({ id: mac.beacon, level: place.level.id, room: place.room.id, x_m: x, y_m: y, approximate: true });
    added.push(mac.beacon);
  }
  return { file, added, unchanged, faults: faults.sort((a, b) => a.line - b.line) };
}

/**
 * A place, or why there is none: of a name with characters that nobody sees, that.
 * @template {object} P @param {P} place @param {import('./rows').Row} row
 * @returns {P|{kind: string, reason: string}}
 */
function withNames(place, { level, location }) {
  if (!('reason' in place)) return place;
  const faults = /** @type {const} */ ([['level', level], ['location', location]])
    .flatMap(([what, name]) => (name !== '' && nameFault(name) !== null ? [`${what}: ${nameFault(name)}`] : []));
  return faults.length > 0 ? { kind: 'name', reason: faults.join('; ') } : place;
}

/**
 * Problems of a row where rooms are made of good rows: that its room is missing follows from any other one.
 * @param {{kind: string, reason: string}[]} problems
 */
function withoutConsequences(problems) {
  const causes = problems.filter(({ kind }) => !kind.endsWith('_unknown'));
  return causes.length > 0 ? causes : problems;
}

/**
 * Caches results by key, since lists repeat the same rooms.
 * @template I, O @param {(input: I) => O} work @param {(input: I) => string} keyOf @returns {(input: I) => O}
 */
function memoize(work, keyOf) {
  /** @type {Map<string, O>} */
  const known = new Map();
  return (input) => {
    const key = keyOf(input);
    const result = known.get(key) ?? work(input);
    known.set(key, result);
    return result;
  };
}

/**
 * @param {string} beacon
 * @param {import('..').Building} building
 * @returns {{room: string|null, reason: string}|null}
 */
function registrationOf(beacon, building) {
  const fixed = building.beacons.get(beacon);
  if (fixed) return { room: fixed.room, reason: `${beacon} is registered in "${building.roomName(fixed.room)}" on level ${fixed.level} already` };
  const owner = building.tagOwner.get(beacon);
  return owner === undefined ? null : { room: null, reason: `${beacon} is the tag of staff member ${owner}` };
}

/**
 * Finds levels and rooms by the names that people write. Case and spaces do not count; an ambiguous name is refused.
 * @typedef {import('..').Level} Level
 * @typedef {import('..').Room} Room
 */

/** Number of names in a message. */
const LISTED_MAX = 12;
/** Steps of the search grid for the middle of a room; finer than a beacon is placed by eye. */
const STEPS = 24;

/**
 * Finds rooms of levels by names as they are written.
 * @param {Level[]} levels
 */
function createRoomFinder(levels) {
  const byLevel = createNameIndex(levels, (one) => one);
  /** @type {Map<Level, ReturnType<typeof createNameIndex<Room>>>} */
  const rooms = new Map();

  /** @param {Level} level @param {string} location */
  function roomsOf(level, location) {
    const index = rooms.get(level) ?? createNameIndex(level.rooms, (room) => room);
    rooms.set(level, index);
    return index.find(location);
  }

  /**
   * @param {string} level as written
   * @param {string} location as written
   * @returns {{level: Level, room: Room}|{kind: string, reason: string}}
   */
  return function findRoom(level, location) {
    const lacking = [...(level === '' ? ['level'] : []), ...(location === '' ? ['location'] : [])];
    if (lacking.length > 0) return { kind: `${lacking[0]}_missing`, reason: `the ${lacking.join(' and the ')} ${lacking.length > 1 ? 'are' : 'is'} missing` };
    const [found, ...others] = byLevel.find(level);
    if (!found) return { kind: 'level_unknown', reason: `there is no level "${level}"; there is ${list(levels.map((one) => one.id))}` };
    if (others.length > 0) return { kind: 'level_unknown', reason: `"${level}" may be ${list([found, ...others].map((one) => one.id))}` };
    const [room, ...more] = roomsOf(found, location);
    if (room && more.length === 0) return { level: found, room };
    if (room) return { kind: 'location_unknown', reason: `"${location}" may be ${list([room, ...more].map((one) => one.id))}` };
    const elsewhere = levels.filter((one) => roomsOf(one, location).length > 0).map((one) => one.id);
    const hint = elsewhere.length > 0 ? `it is on ${list(elsewhere)}` : `there is ${list(found.rooms.map((one) => one.name))}`;
    return { kind: 'location_unknown', reason: `there is no room "${location}" on level ${found.id}; ${hint}` };
  };
}

/** @param {string[]} names */
const list = (names) => names.slice(0, LISTED_MAX).join(', ') + (names.length > LISTED_MAX ? ` and ${names.length - LISTED_MAX} more` : '');

/**
 * A point well inside a room: the grid point farthest from the walls.
 * @param {[number, number][]} polygon
 * @returns {[number, number]} metres, rounded to the decimetre where that is inside
 */
function middle(polygon) {
  const [xs, ys] = [polygon.map(([x]) => x), polygon.map(([, y]) => y)];
  const [west, south] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - west, Math.max(...ys) - south];
  /** @type {{point: [number, number], distance: number}} */
  let best = { point: /** @type {[number, number]} */ (polygon[0]), distance: -1 };
  for (let i = 1; i < STEPS; i += 1) {
    for (let j = 1; j < STEPS; j += 1) {
      /** @type {[number, number]} */
      const point = [west + (width * i) / STEPS, south + (height * j) / STEPS];
      const distance = covers(polygon, point, 0) ? borderDistance(polygon, point) : -1;
      if (distance > best.distance) best = { point, distance };
    }
  }
  /** @type {[number, number]} */
  const round = [Math.round(best.point[0] * 10) / 10, Math.round(best.point[1] * 10) / 10];
  return covers(polygon, round, 0) ? round : best.point;
}

const MAC_DIGITS = 12;
/** A text that was meant as one of the longer forms. */
const LONG = /^[0-9A-F-]{32,}$/;
const PLACEHOLDER = /^(?:0{12}|F{12})$/;
/** As spreadsheets write a MAC that looks like a number. */
const CALCULATED = /^\d[.,]?\d*E\+\d+$/;
const LETTERS_MAX = 5;

/**
 * Parses a beacon id that an installer wrote. Nothing is completed or corrected.
 * @param {string} text
 * @returns {{beacon: string}|{kind: string, reason: string}}
 */
function readMac(text) {
  if (text === '') return { kind: 'mac_missing', reason: 'the MAC is missing' };
  const read = readBeacon(text);
  if ('beacon' in read) return read;
  const upper = text.trim().toUpperCase();
  if (LONG.test(upper) || !/[0-9A-Z]/.test(upper)) return { kind: 'mac_form', reason: `the beacon id ${read.reason}` };
  const digits = upper.replace(/[:-]/g, '');
  if (PLACEHOLDER.test(digits)) return { kind: 'mac_form', reason: `the MAC ${read.reason}` };
  if (CALCULATED.test(upper)) return { kind: 'mac_digit', reason: 'a spreadsheet has made a number of the MAC: format its column as text, and write it again' };
  const strange = [...new Set(digits.match(/[^0-9A-F]/gu) ?? [])];
  const reasons = [
    ...(strange.length > 0 ? [`${lettersOf(strange)} in the MAC is no hex digit`] : []),
    ...(digits.length === MAC_DIGITS ? [] : [`the MAC has ${digits.length} digits, not ${MAC_DIGITS}`]),
  ];
  const kind = strange.length > 0 ? 'mac_digit' : digits.length === MAC_DIGITS ? 'mac_separators' : 'mac_length';
  return { kind, reason: reasons.join(', ') || 'the separators in the MAC stand at odd places' };
}

/** @param {string[]} letters */
const lettersOf = (letters) => letters.slice(0, LETTERS_MAX).map((letter) => `"${letter}"`).join(' and ')
  + (letters.length > LETTERS_MAX ? ' and others' : '');

module.exports = { importBeacons, importRows, middle, readMac };
