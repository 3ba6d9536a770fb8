/**
 * The stays of a day on a line, and the path through the building.
 * @typedef {{level: string, room: string, enter_ms: number, leave_ms: number, ongoing: boolean}} Stay of the API
 */

const MINUTE_MS = 60_000;
/** Smallest distance of marks, share of the line. */
const MARK_SHARE = 0.07;
const STEPS_MIN = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360];

/**
 * From a little before the first stay to a little after the last.
 * @param {Stay[]} stays
 * @param {{fromMs: number, toMs: number}} day
 * @returns {{fromMs: number, toMs: number}}
 */
export function span(stays, { fromMs, toMs }) {
  if (stays.length === 0) return { fromMs, toMs };
  const first = Math.max(fromMs, Math.min(...stays.map(({ enter_ms: enter }) => enter)));
  const last = Math.min(toMs, Math.max(...stays.map(({ leave_ms: leave }) => leave)));
  const margin = Math.max(60_000, (last - first) * 0.02);
  return { fromMs: Math.max(fromMs, first - margin), toMs: Math.min(toMs, last + margin) };
}

/**
 * @param {Stay[]} stays
 * @param {{fromMs: number, toMs: number}} window
 * @returns {(Stay & {left: number, width: number})[]} shares of the line, 0 to 1
 */
export function bars(stays, { fromMs, toMs }) {
  const whole = toMs - fromMs || 1;
  return stays.filter(({ enter_ms: enter, leave_ms: leave }) => leave > fromMs && enter < toMs).map((stay) => {
    const left = (Math.max(stay.enter_ms, fromMs) - fromMs) / whole;
    const right = (Math.min(stay.leave_ms, toMs) - fromMs) / whole;
    return { ...stay, left, width: right - left };
  });
}

/**
 * Marks on the line: full hours, or round parts or multiples of them.
 * @param {{fromMs: number, toMs: number}} window
 * @param {number} zoneMs offset of local time from UTC
 * @returns {{ms: number, left: number}[]}
 */
export function ticks({ fromMs, toMs }, zoneMs) {
  const whole = toMs - fromMs || 1;
  const step = (STEPS_MIN.find((minutes) => (minutes * MINUTE_MS) / whole >= MARK_SHARE) ?? 360) * MINUTE_MS;
  const first = Math.ceil((fromMs + zoneMs) / step) * step - zoneMs;
  const count = Math.max(0, Math.floor((toMs - first) / step) + 1);
  return Array.from({ length: count }, (_, i) => ({ ms: first + i * step, left: (first + i * step - fromMs) / whole }));
}

/**
 * The path through one level: its rooms in order of entering; a stay on another level ends a leg.
 * @param {Stay[]} stays by time
 * @param {string} level
 * @param {Map<string, [number, number]>} centres of the level's rooms, on the drawing
 * @returns {{legs: [number, number][][], stops: {room: string, x: number, y: number, visits: number, ms: number}[]}}
 */
export function path(stays, level, centres) {
  /** @type {[number, number][][]} */
  const legs = [];
  /** @type {Map<string, {room: string, x: number, y: number, visits: number, ms: number}>} */
  const stops = new Map();
  let away = true;
  for (const { level: on, room, enter_ms: enter, leave_ms: leave } of stays) {
    const centre = centres.get(room);
    if (on !== level || !centre) {
      away = true;
      continue;
    }
    if (away) legs.push([centre]);
    else legs[legs.length - 1].push(centre);
    away = false;
    const stop = stops.get(room) ?? { room, x: centre[0], y: centre[1], visits: 0, ms: 0 };
    stops.set(room, { ...stop, visits: stop.visits + 1, ms: stop.ms + leave - enter });
  }
  return { legs: legs.filter(({ length }) => length > 1), stops: [...stops.values()] };
}
