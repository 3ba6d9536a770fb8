import { labelOf } from './fields.js';
import { same } from './merge.js';
import { KIND_NAMES, everything } from './things.js';

/**
 * Differences between two building files, thing by thing and in numbers.
 * @typedef {import('./things.js').BuildingFile} BuildingFile
 * @typedef {'added'|'removed'|'changed'} What
 * @typedef {{kind: import('./things.js').Kind|'building', id: string, name: string, what: What, fields: string[]}} Difference
 *   fields: changed fields of a changed thing
 * @typedef {{added: number, removed: number, changed: number}} Count
 * @typedef {Record<'levels'|'rooms'|'beacons'|'gateways'|'staff', Count> & {other: boolean}} Changes of `/api/v1/building`
 */

/** @param {BuildingFile} before @param {BuildingFile} after @returns {Difference[]} */
export function differences(before, after) {
  if (before === after) return [];
  const [earlier, now] = [indexOf(before), indexOf(after)];
  /** @type {Difference[]} */
  const found = [];
  for (const [key, { kind, thing }] of now) {
    const was = earlier.get(key)?.thing;
    if (!was) found.push(differenceOf(kind, thing, 'added'));
    else if (!same(was, thing)) found.push(differenceOf(kind, thing, 'changed', fieldsBetween(was, thing)));
  }
  for (const [key, { kind, thing }] of earlier) if (!now.has(key)) found.push(differenceOf(kind, thing, 'removed'));
  if (before.building !== after.building) found.push({ kind: 'building', id: '', name: after.building, what: 'changed', fields: ['building'] });
  if (found.length > 0 || same(before, after)) return found;
  return [{ kind: 'building', id: '', name: after.building, what: 'changed', fields: ['order'] }];
}

/** @param {BuildingFile} file @returns {Map<string, {kind: import('./things.js').Kind, thing: import('./things.js').Thing}>} */
const indexOf = (file) => new Map(everything(file).map(({ kind, thing, level, pointer }) => [
  `${kind} ${thing.id ?? pointer}`, { kind, thing: kind === 'level' ? withoutRooms(thing) : kind === 'room' ? { ...thing, level } : thing },
]));

/** A level without its rooms, which are counted separately. @param {import('./things.js').Thing} level */
const withoutRooms = ({ rooms: _rooms, ...level }) => level;

/**
 * @param {import('./things.js').Kind} kind @param {import('./things.js').Thing} thing @param {What} what @param {string[]} [fields]
 * @returns {Difference}
 */
const differenceOf = (kind, { id = '', name = '' }, what, fields = []) => ({ kind, id, name, what, fields });

/** @param {import('./things.js').Thing} before @param {import('./things.js').Thing} after */
const fieldsBetween = (before, after) => [...new Set([...Object.keys(before), ...Object.keys(after)])]
  .filter((key) => !same(before[key], after[key]));

/** Text of a difference: "Room l1-cafe Café changed: Name, Kind". @param {Difference} one */
export function differenceText({ kind, id, name, what, fields }) {
  if (kind === 'building') return fields[0] === 'order' ? 'The order of something changed' : `The building is called “${name}”`;
  const named = name && kind !== 'beacon' && kind !== 'gateway' ? ` ${name}` : '';
  return `${KIND_NAMES[kind]} ${id || '(without an id)'}${named} ${what}${fields.length > 0 ? `: ${fields.map((key) => labelOf(kind, key)).join(', ')}` : ''}`;
}

const ONE = { levels: 'level', rooms: 'room', beacons: 'beacon', gateways: 'gateway', staff: 'staff member' };

/** Text of counted changes: "2 beacons added, 1 room changed". @param {Changes} changes */
export function changesText({ other, ...counts }) {
  const words = Object.entries(counts).flatMap(([list, count]) => /** @type {const} */ (['added', 'changed', 'removed'])
    .filter((what) => count[what] > 0).map((what) => {
      const one = ONE[/** @type {keyof typeof ONE} */ (list)];
      return `${count[what]} ${one}${count[what] === 1 ? '' : 's'} ${what}`;
    }));
  if (other) words.push(words.length > 0 ? 'name changed' : 'name or order changed');
  return words.join(', ') || 'nothing';
}

/** Text of a clash of a merge: "Room l1-cafe: name". @param {string[]} way of `merge.js` */
export function clashText(way) {
  const [list, id, inner, room, ...rest] = way;
  if (list === 'building' || id === undefined) return 'The name of the building';
  if (inner === 'rooms' && room !== undefined) return `Room ${room}${rest.length > 0 ? `: ${rest.join(' ')}` : ''}`;
  const kind = { levels: 'Level', beacons: 'Beacon', gateways: 'Gateway', staff: 'Staff member' }[list] ?? list;
  return `${kind} ${id}${inner === undefined ? '' : `: ${[inner, room, ...rest].filter(Boolean).join(' ')}`}`;
}
