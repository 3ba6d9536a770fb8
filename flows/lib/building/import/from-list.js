// @ts-check
'use strict';

const { isDemo } = require('../demo');
const { importWork } = require('./beacons');
const { idFrom, fold, foldMore, free } = require('./names');
const { decode, readRows } = require('./rows');
const { inOrder, storeyOf } = require('./storeys');
const { isTiled, spread, tiled } = require('./tiles');

/**
 * A building out of an installer's list: the levels and rooms that it names are made, its beacons stand in them. Names stay as
 * they are written; the plan is rooms as tiles (`schematic`), until somebody draws it.
 * @typedef {import('..').BuildingFile} BuildingFile
 * @typedef {import('..').Level} Level
 * @typedef {{id: string, name: string, fresh: boolean, beacons: number}} MadeRoom beacons: how many stand in it; fresh: made by this list
 * @typedef {{id: string, name: string, fresh: boolean, schematic: boolean, rooms: MadeRoom[]}} MadeLevel
 * @typedef {object} FromList
 * @property {BuildingFile} file
 * @property {MadeLevel[]} levels lowest first
 * @property {string[]} added beacon ids
 * @property {string[]} unchanged beacon ids that were in just that room already
 * @property {import('./rows').Fault[]} faults rows that were not taken, by line
 * @property {string[]} notes what looks odd and was taken as it stands
 */

const LONGEST_NAME = 120;
const MOST_LEVELS = 200;
/** An id has room for a number behind it. */
const LONGEST_STEM = 60;

/**
 * A building without levels, for a list to fill. Staff belong to no room and stay.
 * @param {string} name @param {BuildingFile['staff']} [staff]
 * @returns {BuildingFile}
 */
const blank = (name, staff = []) => ({ building: name, levels: [], beacons: [], gateways: [], staff });

/**
 * What a list is to fill.
 * @param {BuildingFile} before what is there
 * @param {{how: 'new'|'add'|'', name: string}} wish how: '' replaces the demo and adds to one's own; name: '' is the one of before, or none
 * @returns {{anew: boolean, base: BuildingFile}}
 */
function baseOf(before, { how, name }) {
  const demo = isDemo(before);
  const anew = how === 'new' || (how === '' && demo);
  return { anew, base: anew ? blank(name || 'My building', demo ? [] : before.staff) : { ...before, building: name || before.building } };
}

/**
 * @param {Uint8Array} bytes the list
 * @param {BuildingFile} base checked, or `blank`; it is left as it is
 * @returns {import('../../shared/pieces').Work<FromList>} its file is to be checked: a list without a good row makes no building
 * @throws {import('./rows').ImportError} when the list cannot be read at all
 */
function* fromListWork(bytes, base) {
  const { rows } = yield* readRows(decode(bytes));
  const { levels, fresh } = extended(base.levels, rows);
  yield;
  const { file: imported, added, unchanged, faults } = yield* importWork(bytes, { ...base, levels });
  const tiledLevels = new Set(levels.filter(isTiled).map(({ id }) => id));
  const file = spread(imported, tiledLevels);
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { room } of file.beacons) counts.set(room, (counts.get(room) ?? 0) + 1);
  const told = levels.map(({ id, name, schematic = false, rooms }) => ({ id, name, fresh: fresh.has(id), schematic,
    rooms: rooms.map((room) => ({ id: room.id, name: room.name, fresh: fresh.has(room.id), beacons: counts.get(room.id) ?? 0 })) }));
  return { file, levels: told, added, unchanged, faults, notes: notesOn(told) };
}

/**
 * What a list may name a thing by, kept while it grows.
 * @template T
 * @param {T[]} all @param {(one: T) => {id: string, name: string}} of
 */
function byNames(all, of) {
  /** @type {Map<string, Set<T>>} */
  const names = new Map();
  /** @param {T} one */
  const add = (one) => {
    for (const key of [fold(of(one).id), fold(of(one).name)]) names.set(key, (names.get(key) ?? new Set()).add(one));
  };
  all.forEach(add);
  return {
    add,
    /** @param {string} written */
    find: (written) => [...names.get(fold(written)) ?? []],
  };
}

/**
 * The levels with those and the rooms that are named for the first time. A level that was drawn or has a picture gets no rooms: a
 * tile would stand somewhere on it.
 * @param {Level[]} before @param {import('./rows').Row[]} rows
 * @returns {{levels: Level[], fresh: Set<string>}} fresh: ids of what is new
 */
function extended(before, rows) {
  /** @type {Set<string>} */
  const fresh = new Set();
  const levelIds = new Set(before.map(({ id }) => id));
  const roomIds = new Set(before.flatMap((level) => level.rooms.map(({ id }) => id)));
  /** @param {Level} level */
  const entry = (level) => {
    /** @type {{id: string, name: string}[]} */
    const rooms = level.rooms;
    return { level, more: rooms.slice(0, 0), names: byNames(rooms, (room) => room) };
  };
  const all = before.map(entry);
  const levelNames = byNames(all, ({ level }) => level);
  for (const { level: levelName, location } of rows) {
    if (![levelName, location].every((name) => name !== '' && name.length <= LONGEST_NAME)) continue;
    const known = levelNames.find(levelName);
    let one = known.find(({ level }) => level.id === levelName) ?? known[0];
    if (known.length > 1 && one?.level.id !== levelName) continue; // told row by row
    if (!one) {
      if (all.length >= MOST_LEVELS) continue;
      const id = free(idFrom(levelName) || `level-${all.length + 1}`, levelIds);
      one = entry(tiled({ id, name: levelName, rooms: [] }, []));
      all.push(one);
      levelNames.add(one);
      fresh.add(id);
    }
    if (one.names.find(location).length > 0 || !isTiled(one.level)) continue;
    const number = one.level.rooms.length + one.more.length + 1;
    const room = { id: free(`${one.level.id}-${idFrom(location) || `room-${number}`}`.toLowerCase().slice(0, LONGEST_STEM), roomIds), name: location };
    one.more.push(room);
    one.names.add(room);
    fresh.add(room.id);
  }
  const grown = all.map(({ level, more }) => (more.length === 0 ? level : tiled(level, [...level.rooms, ...more])));
  const wasInOrder = inOrder(before).every((level, i) => level === before[i]);
  return { levels: wasInOrder ? inOrder(grown) : grown, fresh };
}

/** @param {MadeLevel[]} levels */
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
    const empty = level.rooms.filter(({ fresh, beacons }) => fresh && beacons === 0).map(({ name }) => `"${name}"`);
    if (empty.length > 0) notes.push(`${empty.join(', ')} on ${level.name}: no beacon yet, its row was refused`);
  });
  const typical = levels.reduce((sum, { rooms }) => sum + rooms.length, 0) / Math.max(1, levels.length);
  for (const { name, fresh, rooms } of levels) {
    if (fresh && rooms.length === 1 && typical >= 4) notes.push(`"${name}" has one room only: a slip of the pen?`);
  }
  return notes;
}

module.exports = { fromListWork, baseOf, blank };
