/**
 * The steps of a draft, so that each can be undone. What was chosen belongs to a step, since a pointer leads elsewhere in
 * another one.
 * @typedef {{file: import('./things.js').BuildingFile, chosen: string}} Step chosen: pointer of a thing, '' is none
 * @typedef {{past: Step[], now: Step, future: Step[]}} Steps
 */

/** A file shares with the one before what has not changed: steps are small. */
const MOST = 200;

/** @param {Step['file']} file @returns {Steps} */
export const begin = (file) => ({ past: [], now: { file, chosen: '' }, future: [] });

/** @param {Steps} steps @param {Step['file']} file @param {string} [chosen] @returns {Steps} */
export function step({ past, now, future }, file, chosen = now.chosen) {
  if (file === now.file) return { past, now: { file, chosen }, future };
  return { past: [...past, now].slice(-MOST), now: { file, chosen }, future: [] };
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
