/**
 * Things of a building file. A file is never changed in place; a thing is identified by its JSON pointer, as in faults of the
 * server. People write the file, so any field of a thing may be missing.
 * @typedef {'level'|'room'|'beacon'|'gateway'|'staff'} Kind
 * @typedef {Record<string, any>} Thing
 * @typedef {{building: string, levels: Thing[], beacons: Thing[], gateways: Thing[], staff: Thing[]}} BuildingFile
 * @typedef {{pointer: string, kind: Kind, thing: Thing, level: string|undefined}} Found level: id of its level
 */

/** Names of the kinds. @type {Record<Kind, string>} */
export const KIND_NAMES = { level: 'Level', room: 'Room', beacon: 'Beacon', gateway: 'Gateway', staff: 'Staff member' };

/** @type {Record<string, Kind>} */
const KINDS = { levels: 'level', beacons: 'beacon', gateways: 'gateway', staff: 'staff' };
const THING = /^(\/levels\/\d+\/rooms\/\d+|\/(?:levels|beacons|gateways|staff)\/\d+)(?:\/(.*))?$/;

/**
 * Splits a pointer into its thing and the path inside; '': the thing itself.
 * @param {string} pointer
 * @returns {{thing: string, kind: Kind, inside: string}|null} null: not the pointer of a thing
 */
export function parts(pointer) {
  const [, thing, inside = ''] = THING.exec(pointer) ?? [];
  if (thing === undefined) return null;
  return { thing, kind: thing.includes('/rooms/') ? 'room' : KINDS[thing.split('/')[1]], inside };
}

/** @param {unknown} file @param {string} pointer @returns {any} */
export const at = (file, pointer) => pointer.split('/').slice(1).reduce((/** @type {any} */ one, key) => one?.[key], file);

/**
 * Sets a value in a file: undefined removes it, `-` at the end appends to a list.
 * @template T @param {T} file @param {string} pointer @param {unknown} value @returns {T}
 */
export function put(file, pointer, value) {
  /** @param {any} whole @param {string[]} way @returns {any} */
  const changed = (whole, [key, ...rest]) => {
    const copy = Array.isArray(whole) ? [...whole] : { ...whole };
    if (rest.length > 0) copy[key] = changed(copy[key], rest);
    else if (value !== undefined) copy[key === '-' ? copy.length : key] = value;
    else if (Array.isArray(copy)) copy.splice(Number(key), 1);
    else delete copy[key];
    return copy;
  };
  return changed(file, pointer.split('/').slice(1));
}

/** All things of a file, in its order. @param {BuildingFile} file @returns {Found[]} */
export function everything(file) {
  const levels = file.levels.flatMap((level, i) => [
    { pointer: `/levels/${i}`, kind: /** @type {Kind} */ ('level'), thing: level, level: level.id },
    ...level.rooms.map((/** @type {Thing} */ room, /** @type {number} */ j) => ({
      pointer: `/levels/${i}/rooms/${j}`, kind: /** @type {Kind} */ ('room'), thing: room, level: level.id,
    })),
  ]);
  /** @param {'beacons'|'gateways'|'staff'} list */
  const rest = (list) => file[list].map((thing, i) => ({ pointer: `/${list}/${i}`, kind: KINDS[list], thing, level: thing.level }));
  return [...levels, ...rest('beacons'), ...rest('gateways'), ...rest('staff')];
}

/** @param {BuildingFile} file @param {Kind} kind @param {string} id @returns {string|null} pointer */
export const find = (file, kind, id) => everything(file).find((one) => one.kind === kind && one.thing.id === id)?.pointer ?? null;

/**
 * Appends a thing to a list.
 * @param {BuildingFile} file @param {string} list pointer @param {Thing} thing
 * @returns {{file: BuildingFile, pointer: string}} pointer of the new thing
 */
export const add = (file, list, thing) => ({ file: put(file, `${list}/-`, thing), pointer: `${list}/${at(file, list).length}` });

/**
 * Open edges of a room after a change of its corners: an edge stays open where both its corners are still neighbours. Corners that
 * were only moved keep their numbers.
 * @param {Thing} room @param {unknown} polygon
 * @returns {number[]|undefined} undefined: none
 */
function openEdgesAfter({ polygon: before, open_edges: open }, polygon) {
  if (!Array.isArray(polygon) || !Array.isArray(before) || !Array.isArray(open)) return undefined;
  if (polygon.length === before.length) return open;
  /** @param {any[]} corners @param {number} edge */
  const ends = (corners, edge) => JSON.stringify([corners[edge], corners[(edge + 1) % corners.length]]);
  const wanted = new Set(open.map((edge) => ends(before, edge)));
  const left = [...polygon.keys()].filter((edge) => wanted.has(ends(polygon, edge)));
  return left.length > 0 ? left : undefined;
}

/**
 * Changes fields of a thing; undefined removes one. A new id of a room or level is applied to its devices too, and new corners of a
 * room to its open edges.
 * @param {BuildingFile} file @param {string} pointer @param {Thing} changes @returns {BuildingFile}
 */
export function change(file, pointer, changes) {
  const before = at(file, pointer);
  const edges = 'polygon' in changes && before.open_edges !== undefined ? { open_edges: openEdgesAfter(before, changes.polygon) } : {};
  const after = Object.fromEntries(Object.entries({ ...before, ...edges, ...changes }).filter(([, value]) => value !== undefined));
  const next = put(file, pointer, after);
  const kind = parts(pointer)?.kind;
  if ((kind !== 'room' && kind !== 'level') || before.id === after.id || after.id === undefined) return next;
  if (everything(file).filter((one) => one.kind === kind && one.thing.id === before.id).length !== 1) return next; // ambiguous
  const follow = (/** @type {Thing} */ one) => (one[kind] === before.id ? { ...one, [kind]: after.id } : one);
  return { ...next, beacons: next.beacons.map(follow), gateways: next.gateways.map(follow) };
}

/** An unused id of a kind. @param {BuildingFile} file @param {Kind} kind @param {string} stem */
export function freeId(file, kind, stem) {
  const taken = new Set(everything(file).filter((one) => one.kind === kind).map(({ thing }) => thing.id));
  let number = 1;
  while (taken.has(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}

/** Kind, id and name of a thing as text. @param {Kind} kind @param {Thing|undefined} thing */
export const called = (kind, thing) => [KIND_NAMES[kind], thing?.id ?? '(without an id)', kind === 'beacon' || kind === 'gateway' ? '' : thing?.name]
  .filter(Boolean).join(' ');

/**
 * Gives a tag to a staff member, and takes it from any other.
 * @param {BuildingFile} file @param {string} pointer of the staff member @param {string} tag
 * @returns {BuildingFile}
 */
export function giveTag(file, pointer, tag) {
  const without = (/** @type {string[]} */ tags) => tags.filter((other) => other !== tag);
  const staff = file.staff.map((one) => (one.tags?.includes(tag) ? { ...one, tags: without(one.tags) } : one));
  const own = at({ staff }, pointer).tags ?? [];
  return put({ ...file, staff }, `${pointer}/tags`, [...own, tag]);
}

/** The beacon or staff member with a beacon id. @param {BuildingFile} file @param {string} id @returns {Found|null} */
export const holderOf = (file, id) => everything(file).find(({ kind, thing }) => (kind === 'beacon' && thing.id === id)
  || (kind === 'staff' && thing.tags?.includes(id))) ?? null;
