import { labelOf } from './fields.js';
import { same } from './merge.js';
import { WORDS, everything } from './things.js';

/**
 * What is different between two building files, thing by thing and in numbers.
 * @typedef {import('./things.js').BuildingFile} BuildingFile
 * @typedef {'added'|'removed'|'changed'} What
 * @typedef {{kind: import('./things.js').Kind|'building', id: string, name: string, what: What, fields: string[]}} Difference
 *   fields: which ones of a changed thing
 * @typedef {{added: number, removed: number, changed: number}} Count
 * @typedef {Record<'levels'|'rooms'|'beacons'|'gateways'|'staff', Count> & {other: boolean}} Changes as `/api/v1/building` tells them
 */

/** @param {BuildingFile} before @param {BuildingFile} after @returns {Difference[]} */
export function differences(before, after) {
  if (before === after) return [];
  const [earlier, now] = [indexed(before), indexed(after)];
  /** @type {Difference[]} */
  const found = [];
  for (const [key, { kind, thing }] of now) {
    const was = earlier.get(key)?.thing;
    if (!was) found.push(told(kind, thing, 'added'));
    else if (!same(was, thing)) found.push(told(kind, thing, 'changed', fieldsBetween(was, thing)));
  }
  for (const [key, { kind, thing }] of earlier) if (!now.has(key)) found.push(told(kind, thing, 'removed'));
  if (before.building !== after.building) found.push({ kind: 'building', id: '', name: after.building, what: 'changed', fields: ['building'] });
  if (found.length > 0 || same(before, after)) return found;
  return [{ kind: 'building', id: '', name: after.building, what: 'changed', fields: ['order'] }];
}

/** @param {BuildingFile} file @returns {Map<string, {kind: import('./things.js').Kind, thing: import('./things.js').Thing}>} */
const indexed = (file) => new Map(everything(file).map(({ kind, thing, level, pointer }) => [
  `${kind} ${thing.id ?? pointer}`, { kind, thing: kind === 'level' ? bare(thing) : kind === 'room' ? { ...thing, level } : thing },
]));

/** A level by itself; its rooms are counted apart. @param {import('./things.js').Thing} level */
const bare = ({ rooms: _rooms, ...level }) => level;

/**
 * @param {import('./things.js').Kind} kind @param {import('./things.js').Thing} thing @param {What} what @param {string[]} [fields]
 * @returns {Difference}
 */
const told = (kind, { id = '', name = '' }, what, fields = []) => ({ kind, id, name, what, fields });

/** @param {import('./things.js').Thing} before @param {import('./things.js').Thing} after */
const fieldsBetween = (before, after) => [...new Set([...Object.keys(before), ...Object.keys(after)])]
  .filter((key) => !same(before[key], after[key]));

/** A difference in words: "Room l1-cafe Café changed: Name, Kind". @param {Difference} one */
export function inWords({ kind, id, name, what, fields }) {
  if (kind === 'building') return fields[0] === 'order' ? 'The order of something changed' : `The building is called “${name}”`;
  const named = name && kind !== 'beacon' && kind !== 'gateway' ? ` ${name}` : '';
  return `${WORDS[kind]} ${id || '(without an id)'}${named} ${what}${fields.length > 0 ? `: ${fields.map((key) => labelOf(kind, key)).join(', ')}` : ''}`;
}

const ONE = { levels: 'level', rooms: 'room', beacons: 'beacon', gateways: 'gateway', staff: 'staff member' };

/** Counted, in words: "2 beacons added, 1 room changed". @param {Changes} changes */
export function changesText({ other, ...counts }) {
  const words = Object.entries(counts).flatMap(([list, count]) => /** @type {const} */ (['added', 'changed', 'removed'])
    .filter((what) => count[what] > 0).map((what) => {
      const one = ONE[/** @type {keyof typeof ONE} */ (list)];
      return `${count[what]} ${one}${count[what] === 1 ? '' : 's'} ${what}`;
    }));
  if (other) words.push(words.length > 0 ? 'name changed' : 'name or order changed');
  return words.join(', ') || 'nothing';
}

/** Where a merge has found both sides at work: "Room l1-cafe: name". @param {string[]} way of `merge.js` */
export function clashText(way) {
  const [list, id, inner, room, ...rest] = way;
  if (list === 'building' || id === undefined) return 'The name of the building';
  if (inner === 'rooms' && room !== undefined) return `Room ${room}${rest.length > 0 ? `: ${rest.join(' ')}` : ''}`;
  const kind = { levels: 'Level', beacons: 'Beacon', gateways: 'Gateway', staff: 'Staff member' }[list] ?? list;
  return `${kind} ${id}${inner === undefined ? '' : `: ${[inner, room, ...rest].filter(Boolean).join(' ')}`}`;
}
