import { duration } from './times.js';

/**
 * Steps of colour scales for rooms. A step is a class of style.css (`occupancy-3`, `patrol-1`) with its colours in light and dark;
 * its text says the same without colour.
 * @typedef {{step: string, text: string}} Shade
 */

/** @type {{share: number, step: string, text: string}[]} up to this share of the limit */
const FULLNESS = [
  { share: 0.5, step: 'occupancy-1', text: 'up to half full' },
  { share: 0.8, step: 'occupancy-2', text: 'filling up' },
  { share: 1, step: 'occupancy-3', text: 'nearly full or full' },
  { share: Infinity, step: 'occupancy-4', text: 'over its limit' },
];
const EMPTY = { step: 'occupancy-0', text: 'empty' };
const UNLIMITED = { step: 'occupancy-1', text: 'no limit' };

/** @param {number} count of people @param {number|null} limit @returns {Shade} */
export function byOccupancy(count, limit) {
  if (count === 0) return EMPTY;
  if (limit === null) return UNLIMITED;
  const { step, text } = FULLNESS.find(({ share }) => count / limit <= share) ?? FULLNESS[3];
  return { step, text };
}

const MINUTE_MS = 60_000;

/** @type {{ms: number, step: string, text: string}[]} up to this age */
const AGES = [
  { ms: 0, step: 'patrol-0', text: 'somebody is there' },
  { ms: 15 * MINUTE_MS, step: 'patrol-1', text: 'up to 15 min ago' },
  { ms: 30 * MINUTE_MS, step: 'patrol-2', text: 'up to 30 min ago' },
  { ms: 60 * MINUTE_MS, step: 'patrol-3', text: 'up to 1 h ago' },
  { ms: Infinity, step: 'patrol-4', text: 'longer ago' },
];
const NEVER = { step: 'patrol-5', text: 'not in the time that is known' };

/** @param {number|null} ageMs since the last visit; 0: somebody is there; null: not known @returns {Shade} */
export function byPatrol(ageMs) {
  if (ageMs === null) return NEVER;
  const { step, text } = AGES.find(({ ms }) => ageMs <= ms) ?? AGES[4];
  return { step, text };
}

/** @type {{share: number, step: string}[]} up to this share of the room where most time was spent */
const HEAT = [1, 2, 3, 4, 5].map((step) => ({ share: step / 5, step: `heat-${step}` }));
const COLD = { step: 'heat-0', text: 'nobody' };

/** @param {number} ms that people spent in a room @param {number} mostMs the largest of all rooms @returns {Shade} */
export const byPresence = (ms, mostMs) => (ms === 0 ? COLD : heatScale(mostMs)[1 + HEAT.findIndex(({ share }) => ms <= share * mostMs)]);

/** @param {number} mostMs @returns {Shade[]} */
export const heatScale = (mostMs) => [COLD, ...HEAT.map(({ share, step }) => ({ step, text: `up to ${duration(share * mostMs)}` }))];

/** @type {{ms: number, step: string, text: string}[]} */
const GAPS = [
  { ms: 15 * MINUTE_MS, step: 'patrol-1', text: 'never empty for more than 15 min' },
  { ms: 30 * MINUTE_MS, step: 'patrol-2', text: 'up to 30 min' },
  { ms: 60 * MINUTE_MS, step: 'patrol-3', text: 'up to 1 h' },
  { ms: Infinity, step: 'patrol-4', text: 'empty for longer' },
];
const UNVISITED = { step: 'patrol-5', text: 'not visited' };

/** @param {number} longestMs without anybody @param {boolean} visited @returns {Shade} */
export const byGap = (longestMs, visited) => (visited ? GAPS.find(({ ms }) => longestMs <= ms) ?? GAPS[3] : UNVISITED);

/** Steps of each scale, for legends. @type {Record<'occupancy'|'patrol'|'gap', Shade[]>} */
export const LEGENDS = {
  occupancy: [EMPTY, ...FULLNESS.map(({ step, text }) => ({ step, text }))],
  patrol: [...AGES.map(({ step, text }) => ({ step, text })), NEVER],
  gap: [...GAPS.map(({ step, text }) => ({ step, text })), UNVISITED],
};
