/**
 * Use of rooms in a time: people, durations and gaps. Times in epoch ms.
 * @typedef {import('./playback.js').Stay} Stay
 * @typedef {import('./playback.js').Window} Window
 * @typedef {{levels: {id: string, name: string, rooms: {id: string, name: string}[]}[]}} Building
 * @typedef {object} Figures
 * @property {string} id of the room
 * @property {string} name
 * @property {string} level
 * @property {string} levelName
 * @property {number} visits
 * @property {number} staff different people
 * @property {number} ms sum of all people
 * @property {number} coveredMs with somebody there
 * @property {number} longestGapMs with nobody there
 * @property {number|null} lastMs end of the last stay; null: none
 */

/**
 * @param {Building} building
 * @param {Stay[]} stays
 * @param {Window} window stays are cut to it
 * @param {string|null} level only this one; null: all
 * @returns {Figures[]} rooms of the building in their order, then former ones
 */
export function roomFigures(building, stays, window, level) {
  /** @type {Map<string, Stay[]>} */
  const byRoom = new Map();
  const levels = building.levels.filter(({ id }) => level === null || id === level);
  const names = new Map(building.levels.map(({ id, name }) => [id, name]));
  const rooms = levels.flatMap((one) => one.rooms.map(({ id, name }) => ({ id, name, level: one.id, levelName: one.name })));
  const known = new Set(building.levels.flatMap((one) => one.rooms.map(({ id }) => id)));
  for (const stay of stays) {
    if (stay.leave_ms < window.fromMs || stay.enter_ms > window.toMs) continue;
    const others = byRoom.get(stay.room);
    if (others) others.push(stay);
    else byRoom.set(stay.room, [stay]);
    if (known.has(stay.room)) continue;
    known.add(stay.room);
    rooms.push({ id: stay.room, name: stay.room, level: stay.level, levelName: names.get(stay.level) ?? stay.level });
  }
  return rooms.map((room) => ({ ...room, ...figuresOf(byRoom.get(room.id) ?? [], window) }));
}

/** @param {Stay[]} stays of one room @param {Window} window */
function figuresOf(stays, window) {
  const parts = stays.map(({ enter_ms: enter, leave_ms: leave }) => [Math.max(enter, window.fromMs), Math.min(leave, window.toMs)])
    .sort(([a], [b]) => a - b);
  let ms = 0;
  let coveredMs = 0;
  let longestGapMs = 0;
  let untilMs = window.fromMs; // end of the covered part so far
  for (const [start, end] of parts) {
    ms += end - start;
    longestGapMs = Math.max(longestGapMs, start - untilMs);
    coveredMs += Math.max(0, end - Math.max(start, untilMs));
    untilMs = Math.max(untilMs, end);
  }
  return { visits: stays.length, staff: new Set(stays.map(({ staff_id: id }) => id)).size, ms, coveredMs,
    longestGapMs: Math.max(longestGapMs, window.toMs - untilMs), lastMs: parts.length > 0 ? untilMs : null };
}

/** Sums of all rooms. @param {Figures[]} figures */
export const summary = (figures) => ({
  rooms: figures.length,
  visited: figures.filter(({ visits }) => visits > 0).length,
  visits: figures.reduce((sum, { visits }) => sum + visits, 0),
  ms: figures.reduce((sum, { ms }) => sum + ms, 0),
});

/** @param {Figures} figures @param {Window} window @returns {number} the share of the time with anybody there, 0 to 1 */
export const covered = ({ coveredMs }, { fromMs, toMs }) => (toMs > fromMs ? coveredMs / (toMs - fromMs) : 0);

const ROOM = /** @type {import('./table.js').Column<Figures>[]} */ ([
  { key: 'name', title: 'Room', value: ({ name }) => name },
  { key: 'level', title: 'Level', value: ({ levelName }) => levelName },
]);
/** @type {import('./table.js').Column<Figures>} */
const VISITS = { key: 'visits', title: 'Visits', value: ({ visits }) => visits, numeric: true };

/** Columns of the tables of both maps. @type {Record<'presence'|'patrols', import('./table.js').Column<Figures>[]>} */
export const COLUMNS = {
  presence: [...ROOM, { key: 'time', title: 'Time', value: ({ ms }) => ms, numeric: true }, VISITS,
    { key: 'staff', title: 'SDAs', value: ({ staff }) => staff, numeric: true }],
  patrols: [...ROOM, { key: 'gap', title: 'Longest gap', value: ({ longestGapMs }) => longestGapMs, numeric: true },
    { key: 'covered', title: 'Covered', value: ({ coveredMs }) => coveredMs, numeric: true }, VISITS,
    { key: 'last', title: 'Last', value: ({ lastMs }) => lastMs, numeric: true }],
};
