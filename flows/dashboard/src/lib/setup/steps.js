/**
 * Undo history of a draft. Each step has its chosen thing, since a pointer may lead elsewhere in another step.
 * @typedef {{file: import('./things.js').BuildingFile, chosen: string}} Step chosen: pointer of a thing; '': none
 * @typedef {{past: Step[], now: Step, future: Step[]}} Steps
 */

/** Steps are small, since a file shares unchanged parts with the one before. */
const STEPS_MAX = 200;

/** @param {Step['file']} file @returns {Steps} */
export const begin = (file) => ({ past: [], now: { file, chosen: '' }, future: [] });

/** @param {Steps} steps @param {Step['file']} file @param {string} [chosen] @returns {Steps} */
export function step({ past, now, future }, file, chosen = now.chosen) {
  if (file === now.file) return { past, now: { file, chosen }, future };
  return { past: [...past, now].slice(-STEPS_MAX), now: { file, chosen }, future: [] };
}

/** @param {Steps} steps @returns {Steps} */
export function undo({ past, now, future }) {
  const before = past.at(-1);
  return before ? { past: past.slice(0, -1), now: before, future: [now, ...future] } : { past, now, future };
}

/** @param {Steps} steps @returns {Steps} */
export function redo({ past, now, future }) {
  const [next, ...later] = future;
  return next ? { past: [...past, now], now: next, future: later } : { past, now, future };
}
