import { add, find, holderOf } from './things.js';

/**
 * Applies a link to the set-up: `?add=beacon&id=C2A628384B08` adds that beacon to the plan if it is not there.
 * @param {import('./things.js').BuildingFile} file
 * @param {Record<string, string>} query of the address
 * @returns {{file: import('./things.js').BuildingFile, pointer: string, isNew: boolean}|null} null: the link adds nothing
 */
export function applyLink(file, { add: kind, id }) {
  if (!id || (kind !== 'beacon' && kind !== 'gateway')) return null;
  const there = kind === 'beacon' ? holderOf(file, id)?.pointer : find(file, kind, id);
  return there ? { file, pointer: there, isNew: false } : { ...add(file, `/${kind}s`, { id }), isNew: true };
}
