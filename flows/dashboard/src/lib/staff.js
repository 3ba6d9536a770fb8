/**
 * The staff table: everybody of the building file, and others who were located.
 * @typedef {{id: string, level: string, room: string, since: number, ts: number, state: string, rssi: number|null,
 *   battery_mv: number|null, probability?: number|null, runner_up?: string|null}} Located of the topic `staff`; the last two where the
 *   room is probable
 * @typedef {{id: string, name: string, state: string, level: string|null, levelName: string|null, room: string|null,
 *   roomName: string|null, since: number|null, ts: number|null, rssi: number|null, battery_mv: number|null,
 *   probability?: number|null, runner_up?: string|null}} Row
 * @typedef {{levels: {id: string, name: string, rooms: {id: string, name: string}[]}[], staff: Record<string, string>}} Building
 */

/** State of somebody without a reading in the last quarter of an hour. */
export const AWAY = 'away';

/** @param {Building} building @returns {Map<string, string>} names of rooms by id */
export const roomNames = ({ levels }) => new Map(levels.flatMap(({ rooms }) => rooms.map(({ id, name }) => [id, name])));

/** @param {Building} building @param {Located[]} people @returns {Row[]} */
export function staffRows(building, people) {
  const rooms = roomNames(building);
  const levels = new Map(building.levels.map(({ id, name }) => [id, name]));
  const located = people.map((one) => ({
    ...one, name: building.staff[one.id] ?? '', levelName: levels.get(one.level) ?? one.level, roomName: rooms.get(one.room) ?? one.room,
  }));
  const here = new Set(people.map(({ id }) => id));
  const away = Object.entries(building.staff).filter(([id]) => !here.has(id)).map(([id, name]) => ({
    id, name, state: AWAY, level: null, levelName: null, room: null, roomName: null, since: null, ts: null, rssi: null, battery_mv: null,
  }));
  return [...located, ...away];
}

/** @type {import('./table.js').Column<Row>[]} */
export const COLUMNS = [
  { key: 'id', title: 'Id', value: ({ id }) => id },
  { key: 'name', title: 'Name', value: ({ name }) => name || null },
  { key: 'room', title: 'Room', value: ({ roomName }) => roomName },
  { key: 'level', title: 'Level', value: ({ levelName }) => levelName },
  { key: 'state', title: 'State', value: ({ state }) => STATES.indexOf(state) },
  { key: 'since', title: 'Since', value: ({ since }) => since, numeric: true },
  { key: 'seen', title: 'Last seen', value: ({ ts }) => ts, numeric: true },
  { key: 'signal', title: 'Signal', value: ({ rssi }) => rssi, numeric: true },
  { key: 'battery', title: 'Tag battery', value: ({ battery_mv }) => battery_mv },
];
const STATES = ['present', 'stale', 'lost', AWAY];

/** Signal strength, 0 to 4 bars. @param {number|null} rssi dBm */
export const bars = (rssi) => (rssi === null ? 0 : rssi > -60 ? 4 : rssi > -72 ? 3 : rssi > -84 ? 2 : 1);
