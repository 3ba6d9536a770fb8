/**
 * The things of a building file. A file is never changed in place; a thing is known by its JSON pointer, as the faults of the
 * server name it. The file comes from people, so any field of a thing may be missing.
 * @typedef {'level'|'room'|'beacon'|'gateway'|'staff'} Kind
 * @typedef {Record<string, any>} Thing
 * @typedef {{building: string, levels: Thing[], beacons: Thing[], gateways: Thing[], staff: Thing[]}} BuildingFile
 * @typedef {{pointer: string, kind: Kind, thing: Thing, level: string|undefined}} Found level: the id of the level it is on
 */

/** @type {Record<Kind, string>} */
export const WORDS = { level: 'Level', room: 'Room', beacon: 'Beacon', gateway: 'Gateway', staff: 'Staff member' };

/** @type {Record<string, Kind>} */
const KINDS = { levels: 'level', beacons: 'beacon', gateways: 'gateway', staff: 'staff' };
const THING = /^(\/levels\/\d+\/rooms\/\d+|\/(?:levels|beacons|gateways|staff)\/\d+)(?:\/(.*))?$/;

/**
 * A pointer as the thing that it leads to and the way inside, '' is the thing itself.
 * @param {string} pointer
 * @returns {{thing: string, kind: Kind, inside: string}|null} null: it leads to no thing
 */
export function parts(pointer) {
  const [, thing, inside = ''] = THING.exec(pointer) ?? [];
  if (thing === undefined) return null;
  return { thing, kind: thing.includes('/rooms/') ? 'room' : KINDS[thing.split('/')[1]], inside };
}

/** @param {unknown} file @param {string} pointer @returns {any} */
export const at = (file, pointer) => pointer.split('/').slice(1).reduce((/** @type {any} */ one, key) => one?.[key], file);

/**
 * The file with a value at a place: undefined takes away what is there, `-` at the end appends to a list.
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

/** Everything in a file, in its order. @param {BuildingFile} file @returns {Found[]} */
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
 * Append a thing to a list.
 * @param {BuildingFile} file @param {string} list pointer @param {Thing} thing
 * @returns {{file: BuildingFile, pointer: string}} pointer of the new one
 */
export const add = (file, list, thing) => ({ file: put(file, `${list}/-`, thing), pointer: `${list}/${at(file, list).length}` });

/**
 * The open edges of a room under its new corners: an edge stays open where both its corners are still neighbours. Corners that were
 * only moved keep their numbers.
 * @param {Thing} room @param {unknown} polygon
 * @returns {number[]|undefined} undefined: none is left
 */
function edgesUnder({ polygon: before, open_edges: open }, polygon) {
  if (!Array.isArray(polygon) || !Array.isArray(before) || !Array.isArray(open)) return undefined;
  if (polygon.length === before.length) return open;
  /** @param {any[]} corners @param {number} edge */
  const ends = (corners, edge) => JSON.stringify([corners[edge], corners[(edge + 1) % corners.length]]);
  const wanted = new Set(open.map((edge) => ends(before, edge)));
  const left = [...polygon.keys()].filter((edge) => wanted.has(ends(polygon, edge)));
  return left.length > 0 ? left : undefined;
}

/**
 * Change fields of a thing; undefined takes one away. What stands in a room or on a level follows when that gets another id, and so
 * do the open edges of a room when it gets other corners.
 * @param {BuildingFile} file @param {string} pointer @param {Thing} changes @returns {BuildingFile}
 */
export function change(file, pointer, changes) {
  const before = at(file, pointer);
  const edges = 'polygon' in changes && before.open_edges !== undefined ? { open_edges: edgesUnder(before, changes.polygon) } : {};
  const after = Object.fromEntries(Object.entries({ ...before, ...edges, ...changes }).filter(([, value]) => value !== undefined));
  const next = put(file, pointer, after);
  const kind = parts(pointer)?.kind;
  if ((kind !== 'room' && kind !== 'level') || before.id === after.id || after.id === undefined) return next;
  if (everything(file).filter((one) => one.kind === kind && one.thing.id === before.id).length !== 1) return next; // whose are they?
  const follow = (/** @type {Thing} */ one) => (one[kind] === before.id ? { ...one, [kind]: after.id } : one);
  return { ...next, beacons: next.beacons.map(follow), gateways: next.gateways.map(follow) };
}

/** An id that nothing of the kind has yet. @param {BuildingFile} file @param {Kind} kind @param {string} stem */
export function freeId(file, kind, stem) {
  const taken = new Set(everything(file).filter((one) => one.kind === kind).map(({ thing }) => thing.id));
  let number = 1;
  while (taken.has(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}

/** What a thing is called. @param {Kind} kind @param {Thing|undefined} thing */
export const called = (kind, thing) => [WORDS[kind], thing?.id ?? '(without an id)', kind === 'beacon' || kind === 'gateway' ? '' : thing?.name]
  .filter(Boolean).join(' ');

/**
 * Give a tag to somebody; who had it has it no longer.
 * @param {BuildingFile} file @param {string} pointer of the staff member @param {string} tag
 * @returns {BuildingFile}
 */
export function giveTag(file, pointer, tag) {
  const without = (/** @type {string[]} */ tags) => tags.filter((other) => other !== tag);
  const staff = file.staff.map((one) => (one.tags?.includes(tag) ? { ...one, tags: without(one.tags) } : one));
  const own = at({ staff }, pointer).tags ?? [];
  return put({ ...file, staff }, `${pointer}/tags`, [...own, tag]);
}

/** Whose a beacon id is in the file. @param {BuildingFile} file @param {string} id @returns {Found|null} */
export const holderOf = (file, id) => everything(file).find(({ kind, thing }) => (kind === 'beacon' && thing.id === id)
  || (kind === 'staff' && thing.tags?.includes(id))) ?? null;
