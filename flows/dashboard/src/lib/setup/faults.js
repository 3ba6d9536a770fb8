import { labelOf } from './fields.js';
import { at, called, parts } from './things.js';

/**
 * Faults of a building from the server, each at its form field, with readable texts.
 * @typedef {{pointer: string, reason: string}} Fault of the server
 * @typedef {{thing: string, kind: import('./things.js').Kind|null, field: string, index: number|null, reason: string}} Placed
 *   thing: pointer, '': the file; field: '': the whole thing; index: in a list of the field (a tag, a corner)
 */

const REQUIRED = /^must have required property '([^']+)'$/;
/** A thing without a level has no room either, and gets both at once. */
const OF_ROOM = /^must have required property 'level'$/;
/** Texts for patterns of the schema. @type {Record<string, string>} */
const PATTERNS = {
  id: 'may have letters, digits, "_", "." and "-", at most 64, and begins with a letter or digit',
  beacon: 'is no beacon id: a MAC has 12 hex digits (C2A628384B08)',
  plan: 'is no name of a picture (png, jpg, svg, webp)',
};

/** @param {import('./things.js').BuildingFile} file @param {Fault[]} faults @returns {Placed[]} */
export const placeFaults = (file, faults) => faults.filter(({ reason }) => !OF_ROOM.test(reason)).map(({ pointer, reason }) => {
  const place = parts(pointer);
  if (!place) return { thing: '', kind: null, field: pointer.slice(1), index: null, reason: readable(file, reason) };
  const { thing, kind, inside } = place;
  const missing = REQUIRED.exec(reason)?.[1];
  if (missing !== undefined && inside === '') return { thing, kind, field: missing, index: null, reason: 'is missing' };
  const [named = '', number] = inside.split('/');
  const field = named === '' && / id "/.test(reason) ? 'id' : named;
  const index = number === undefined ? null : Number(number);
  return { thing, kind, field, index, reason: faultText(file, kind, field, index, reason) };
});

/**
 * @param {import('./things.js').BuildingFile} file @param {string} kind @param {string} field @param {number|null} index
 * @param {string} reason
 */
function faultText(file, kind, field, index, reason) {
  const asked = kind === 'beacon' && field === 'id' ? 'beacon' : field === 'tags' ? 'beacon' : field === 'plan' ? 'plan' : 'id';
  const words = reason.startsWith('must match pattern') ? PATTERNS[asked] : readable(file, reason);
  return field === 'polygon' && index !== null ? `corner ${index + 1}: ${words}` : words;
}

/** Replaces pointers by names. @param {unknown} file @param {string} reason */
const readable = (file, reason) => reason.replace(/\/(?:levels|beacons|gateways|staff)\/\d+[\w/]*/g, (pointer) => {
  const place = parts(pointer);
  return place ? called(place.kind, at(file, place.thing)) : pointer;
});

/** Faults of a thing by field. @param {Placed[]} placed @param {string} thing @returns {Map<string, Placed[]>} */
export function faultsOf(placed, thing) {
  /** @type {Map<string, Placed[]>} */
  const fields = new Map();
  for (const one of placed) if (one.thing === thing) fields.set(one.field, [...fields.get(one.field) ?? [], one]);
  return fields;
}

/** A fault with its thing: "Beacon A0…: Room is missing". @param {import('./things.js').BuildingFile} file @param {Placed} fault */
export function sentence(file, { thing, kind, field, reason }) {
  if (kind === null) return [field, reason].filter(Boolean).join(' ');
  return `${called(kind, at(file, thing))}: ${[labelOf(kind, field), reason].filter(Boolean).join(' ')}`;
}
