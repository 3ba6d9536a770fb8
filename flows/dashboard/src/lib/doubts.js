import { isProbable } from './probable.js';

/**
 * Seconds of the past in which a room was only probable, or was corrected later.
 * @typedef {{ts: number, room: string, probability: number|null, runner_up: string|null, corrected: boolean|null}} Doubt of
 *   `/api/v1/staff/{id}/locations?doubtful=1`
 * @typedef {ReadonlyMap<string, ReadonlyMap<number, Doubt>>} Doubts by staff id and second
 * @typedef {import('./playback.js').Person} Person
 */

const SECOND_MS = 1000;
/** Parts of the line below the player. */
const PARTS = 240;

/** @param {Doubt[]} locations of one person @returns {Map<number, Doubt>} */
export const bySecond = (locations) => new Map(locations.map((one) => [Math.floor(one.ts / SECOND_MS), one]));

/**
 * The same people, with what is to be said of this second. Who is in another room by then is as they are.
 * @template {Person} T
 * @param {T[]} people @param {Doubts} doubts @param {number} ms
 * @returns {(T & Partial<Doubt>)[]}
 */
export function withDoubts(people, doubts, ms) {
  if (doubts.size === 0) return people;
  return people.map((one) => {
    const doubt = doubts.get(one.id)?.get(Math.floor(ms / SECOND_MS));
    return doubt?.room === one.room
      ? { ...one, probability: doubt.probability, runner_up: doubt.runner_up, corrected: doubt.corrected } : one;
  });
}

/**
 * Where in a time the doubts lie.
 * @param {Doubts} doubts @param {{fromMs: number, toMs: number}} window
 * @returns {{left: number, width: number, probable: number, corrected: boolean}[]} parts with any; left and width are shares of the line,
 *   probable of the person-seconds in it that are probable, at most 1
 */
export function doubtLine(doubts, { fromMs, toMs }) {
  const partMs = Math.max(SECOND_MS, (toMs - fromMs) / PARTS);
  /** @type {Map<number, {probable: number, corrected: boolean}>} */
  const parts = new Map();
  for (const doubt of [...doubts.values()].flatMap((its) => [...its.values()])) {
    const at = Math.floor((doubt.ts - fromMs) / partMs);
    if (doubt.ts < fromMs || doubt.ts > toMs) continue;
    const part = parts.get(at) ?? { probable: 0, corrected: false };
    part.probable += isProbable(doubt.probability) ? 1 : 0;
    part.corrected ||= doubt.corrected === true;
    parts.set(at, part);
  }
  const whole = (partMs / SECOND_MS) * Math.max(1, doubts.size);
  const width = partMs / (toMs - fromMs || 1);
  return [...parts].sort(([a], [b]) => a - b).map(([at, { probable, corrected }]) => (
    { left: at * width, width, probable: Math.min(1, probable / whole), corrected }));
}
