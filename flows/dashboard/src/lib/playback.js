/**
 * Playback of stays: people at an instant, and steps of the instant. Times in epoch ms.
 * @typedef {{staff_id: string, level: string, room: string, enter_ms: number, leave_ms: number, duration_s: number,
 *   ongoing: boolean}} Stay of `/api/v1/stays`
 * @typedef {Map<string, Stay[]>} StaysByStaff by staff id, each by time of entering
 * @typedef {{fromMs: number, toMs: number}} Window
 */

/** Playback speeds, seconds a second. */
export const SPEEDS = [1, 5, 10, 30, 60, 300, 1800];
/** Longest playback by default. */
const PLAYBACK_MAX_S = 90;

/** @param {Stay[]} stays @returns {StaysByStaff} in the order of their ids */
export function staysByStaff(stays) {
  /** @type {StaysByStaff} */
  const byStaff = new Map([...new Set(stays.map(({ staff_id: id }) => id))].sort().map((id) => [id, []]));
  for (const stay of stays) /** @type {Stay[]} */ (byStaff.get(stay.staff_id)).push(stay);
  for (const its of byStaff.values()) its.sort((a, b) => a.enter_ms - b.enter_ms);
  return byStaff;
}

/**
 * The stay at an instant. At the instant of a change it is the stay in the next room.
 * @param {Stay[]} stays by time of entering @param {number} ms
 * @returns {Stay|null} null: there is none
 */
export function stayAt(stays, ms) {
  let low = 0;
  let high = stays.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (stays[middle].enter_ms <= ms) low = middle + 1;
    else high = middle;
  }
  const stay = stays[low - 1];
  return stay && ms <= stay.leave_ms ? stay : null;
}

/**
 * People at an instant, as the plan draws them; `ts` is the time of entering. During a stay a person is the same object.
 * @typedef {{id: string, level: string, room: string, since: number, ts: number, state: string}} Person
 * @param {StaysByStaff} byStaff @param {number} ms
 * @returns {Person[]}
 */
export function peopleAt(byStaff, ms) {
  const people = [];
  for (const its of byStaff.values()) {
    const stay = stayAt(its, ms);
    if (stay) people.push(personOf(stay));
  }
  return people;
}

/** @type {WeakMap<Stay, Person>} */
const persons = new WeakMap();

/** @param {Stay} stay @returns {Person} */
function personOf(stay) {
  const { staff_id: id, level, room, enter_ms: since } = stay;
  const person = persons.get(stay) ?? { id, level, room, since, ts: since, state: 'present' };
  persons.set(stay, person);
  return person;
}

/** @param {{level: string}[]} people @returns {Record<string, number>} number of people by level */
export function countLevels(people) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { level } of people) counts[level] = (counts[level] ?? 0) + 1;
  return counts;
}

/**
 * The level with most people; among equals the shown one, then the first of the building.
 * @param {Record<string, number>} counts @param {string[]} levels ids @param {string} shown id
 */
export function busiest(counts, levels, shown) {
  const count = (/** @type {string} */ id) => counts[id] ?? 0;
  return levels.reduce((best, id) => (count(id) > count(best) ? id : best), levels.includes(shown) ? shown : levels[0]);
}

/** @param {number} ms @param {Window} window @returns {number} clamped to the window */
export const clamp = (ms, { fromMs, toMs }) => Math.min(Math.max(ms, fromMs), toMs);

/**
 * The instant after some time of playback.
 * @param {number} atMs @param {number} passedMs real time @param {number} speed @param {Window} window
 * @returns {{atMs: number, ended: boolean}}
 */
export function advance(atMs, passedMs, speed, window) {
  const next = clamp(atMs + passedMs * speed, window);
  return { atMs: next, ended: next >= window.toMs };
}

/** The slowest speed for a playback of usual length. @param {Window} window */
export const usualSpeed = ({ fromMs, toMs }) =>
  SPEEDS.find((speed) => (toMs - fromMs) / 1000 / speed <= PLAYBACK_MAX_S) ?? SPEEDS[SPEEDS.length - 1];

/** Usual steps, minutes. */
const STEPS_MIN = [1 / 6, 0.5, 1, 5, 15, 60, 360, 1440];
/** Largest number of steps in a window. */
const STEPS_MAX = 60;

/** Length of a step forward or back. @param {Window} window @returns {number} ms */
export const stepOf = ({ fromMs, toMs }) =>
  60_000 * (STEPS_MIN.find((minutes) => minutes * 60_000 * STEPS_MAX >= toMs - fromMs) ?? STEPS_MIN[STEPS_MIN.length - 1]);
