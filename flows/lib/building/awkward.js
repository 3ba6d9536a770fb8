// @ts-check
'use strict';

const { readBeacon } = require('./ids');
const { fold } = require('./import/names');

/**
 * What an earlier version took and a new edit may not bring: beacon ids that can never match, equal names of rooms on a level, names
 * with characters that nobody sees, `tuning`. A building that has them goes on with them, with warnings.
 * @typedef {{key: string, fault: string}} Awkward key: what it is, wherever it stands; fault: `<JSON pointer> <what and why>`
 * @typedef {import('./index').BuildingFile} BuildingFile
 */

/**
 * Control characters (NUL, tab, line ends), line and paragraph separators, what is not shown (marks of direction, marks without width,
 * fillers) and what stands for a lost letter. Joiners and the choice of a letter's shape are part of some scripts and of emoji.
 */
const UNSEEN = /[\p{Cc}\u2028\u2029\u2800\ufff9-\ufffd]|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/u;

/**
 * Why a name is not taken.
 * @param {string} name
 * @returns {string|null} null: it is taken
 */
function nameFault(name) {
  const found = UNSEEN.exec(name);
  if (found) {
    const code = /** @type {number} */ (found[0].codePointAt(0));
    return `the name ${JSON.stringify(name).slice(0, 80)} has the character U+${code.toString(16).toUpperCase().padStart(4, '0')} (${kindOf(code)}): take it out`;
  }
  if (!name.isWellFormed()) return `the name ${JSON.stringify(name).slice(0, 80)} has half a character: write it again`;
  return fold(name) === '' ? 'the name is only spaces' : null;
}

const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** @param {number} code */
function kindOf(code) {
  if (code === 0) return 'NUL';
  if ([0x0a, 0x0d, 0x85, 0x2028, 0x2029].includes(code)) return 'a line end';
  if (code < 0xa0) return 'a control character';
  if (code === 0xfffd) return 'a letter that was lost between two encodings';
  return DIRECTION.test(String.fromCodePoint(code)) ? 'a mark of the direction of writing' : 'nobody sees it';
}

/**
 * @param {BuildingFile} file checked by the schema
 * @returns {Awkward[]}
 */
function awkwardOf(file) {
  /** @type {Awkward[]} */
  const found = [];
  /** @param {string} pointer @param {string} id */
  const beacon = (pointer, id) => {
    const read = readBeacon(id);
    if ('reason' in read) found.push({ key: `beacon ${id}`, fault: `${pointer} the beacon id "${id}" ${read.reason}` });
    else if (read.beacon !== id) found.push({ key: `beacon ${id}`, fault: `${pointer} the beacon id "${id}" is written ${read.beacon}` });
  };
  /** @param {string} pointer @param {string} owner @param {string} name */
  const named = (pointer, owner, name) => {
    const fault = nameFault(name);
    if (fault) found.push({ key: `name ${owner} ${name}`, fault: `${pointer} ${fault}` });
  };
  named('/building', 'building', file.building);
  file.levels.forEach((level, i) => {
    named(`/levels/${i}/name`, `level ${level.id}`, level.name);
    /** @type {Map<string, string>} */
    const rooms = new Map();
    level.rooms.forEach(({ id, name }, j) => {
      const pointer = `/levels/${i}/rooms/${j}/name`;
      named(pointer, `room ${id}`, name);
      const other = rooms.get(fold(name));
      if (other === undefined) rooms.set(fold(name), id);
      else {
        found.push({ key: `room ${[other, id].sort().join(' ')} ${fold(name)}`,
          fault: `${pointer} "${name}" is also the name of room "${other}" on level "${level.id}": HACS knows rooms by name` });
      }
    });
  });
  if (file.tuning) {
    found.push({ key: 'tuning', fault: '/tuning is not used any more, take it out: the locator has no numbers that depend on a building' });
  }
  file.beacons.forEach(({ id }, i) => beacon(`/beacons/${i}/id`, id));
  file.staff.forEach(({ id, name, tags = [] }, i) => {
    named(`/staff/${i}/name`, `staff ${id}`, name);
    tags.forEach((tag, j) => beacon(`/staff/${i}/tags/${j}`, tag));
  });
  return found;
}

/**
 * What an edit brings that was not there before.
 * @param {BuildingFile} next checked by the schema
 * @param {BuildingFile[]} before buildings that were in use
 * @returns {string[]} faults
 */
function newAwkward(next, before) {
  const awkward = awkwardOf(next);
  if (awkward.length === 0) return [];
  const known = new Set(before.flatMap((file) => awkwardOf(file)).map(({ key }) => key));
  return awkward.filter(({ key }) => !known.has(key)).map(({ fault }) => fault);
}

/** @param {BuildingFile} file @returns {string[]} */
const warningsOf = (file) => awkwardOf(file).map(({ fault }) => fault);

module.exports = { awkwardOf, newAwkward, warningsOf, nameFault };
