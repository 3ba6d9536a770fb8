// @ts-check
'use strict';

const { createBuilding, indexBuilding } = require('..');
const { inOneGo } = require('../../shared/pieces');
const { nameFault } = require('../awkward');
const { readMac } = require('./mac');
const { findRoom, middle } = require('./place');
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

  const placeOf = memoize((/** @type {import('./rows').Row} */ { level, location }) => findRoom(file.levels, level, location), ({ level, location }) => `${level}\n${location}`);
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

module.exports = { importBeacons, importWork, importRows };
