/**
 * Stays played back: who was where at an instant, and how the instant moves. Times in epoch ms.
 * @typedef {{staff_id: string, level: string, room: string, enter_ms: number, leave_ms: number, duration_s: number,
 *   ongoing: boolean}} Stay as `/api/v1/stays` tells it
 * @typedef {Map<string, Stay[]>} Trails by staff id, each by time of entering
 * @typedef {{fromMs: number, toMs: number}} Window
 */

/** Seconds of then that pass in one second. */
export const SPEEDS = [1, 5, 10, 30, 60, 300, 1800];
/** Nobody likes to look on for longer. */
const AT_MOST_S = 90;

/** @param {Stay[]} stays @returns {Trails} in the order of their ids */
export function trailsOf(stays) {
  /** @type {Trails} */
  const trails = new Map([...new Set(stays.map(({ staff_id: id }) => id))].sort().map((id) => [id, []]));
  for (const stay of stays) /** @type {Stay[]} */ (trails.get(stay.staff_id)).push(stay);
  for (const trail of trails.values()) trail.sort((a, b) => a.enter_ms - b.enter_ms);
  return trails;
}

/**
 * The stay somebody was in. Who goes from one room to the next is in the next one at that very instant.
 * @param {Stay[]} trail by time of entering @param {number} ms
 * @returns {Stay|null} null: was not heard then
 */
export function stayAt(trail, ms) {
  let low = 0;
  let high = trail.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (trail[middle].enter_ms <= ms) low = middle + 1;
    else high = middle;
  }
  const stay = trail[low - 1];
  return stay && ms <= stay.leave_ms ? stay : null;
}

/**
 * Everybody who was there at an instant, as the plan draws people; `ts` is when they entered.
 * @param {Trails} trails @param {number} ms
 * @returns {{id: string, level: string, room: string, since: number, ts: number, state: string}[]}
 */
export function peopleAt(trails, ms) {
  const people = [];
  for (const [id, trail] of trails) {
    const stay = stayAt(trail, ms);
    if (stay) people.push({ id, level: stay.level, room: stay.room, since: stay.enter_ms, ts: stay.enter_ms, state: 'present' });
  }
  return people;
}

/** @param {{level: string}[]} people @returns {Record<string, number>} how many are on each level */
export function countLevels(people) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { level } of people) counts[level] = (counts[level] ?? 0) + 1;
  return counts;
}

/**
 * Where most of them are, of as many the level that is shown, then the first of the building.
 * @param {Record<string, number>} counts @param {string[]} levels ids @param {string} shown id
 */
export function busiest(counts, levels, shown) {
  const count = (/** @type {string} */ id) => counts[id] ?? 0;
  return levels.reduce((best, id) => (count(id) > count(best) ? id : best), levels.includes(shown) ? shown : levels[0]);
}

/** @param {number} ms @param {Window} window @returns {number} within it */
export const clamp = (ms, { fromMs, toMs }) => Math.min(Math.max(ms, fromMs), toMs);

/**
 * The instant after some time of playing.
 * @param {number} atMs @param {number} passedMs of the one who looks on @param {number} speed @param {Window} window
 * @returns {{atMs: number, ended: boolean}}
 */
export function advance(atMs, passedMs, speed, window) {
  const next = clamp(atMs + passedMs * speed, window);
  return { atMs: next, ended: next >= window.toMs };
}

/** The slowest speed at which a window does not take long. @param {Window} window */
export const usualSpeed = ({ fromMs, toMs }) =>
  SPEEDS.find((speed) => (toMs - fromMs) / 1000 / speed <= AT_MOST_S) ?? SPEEDS[SPEEDS.length - 1];

/** Steps that people think in, minutes. */
const STEPS_MIN = [1 / 6, 0.5, 1, 5, 15, 60, 360, 1440];
/** So many of them make a window. */
const STEPS = 60;

/** How far a step forward or back leads. @param {Window} window @returns {number} ms */
export const stepOf = ({ fromMs, toMs }) =>
  60_000 * (STEPS_MIN.find((minutes) => minutes * 60_000 * STEPS >= toMs - fromMs) ?? STEPS_MIN[STEPS_MIN.length - 1]);
