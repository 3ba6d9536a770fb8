import { byOccupancy, byPatrol } from './colours.js';
import { sureText } from './probable.js';
import { duration } from './times.js';

/**
 * Rooms, gateways and people of the floor page.
 */

/**
 * @param {import('./markers.js').DrawnRoom[]} rooms
 * @param {Map<string, unknown[]>} people by room id
 * @param {'occupancy'|'patrol'} colour
 * @param {Map<string, number>} patrolled last visit by room id, epoch ms
 * @param {number} nowMs
 */
export function shadedRooms(rooms, people, colour, patrolled, nowMs) {
  return rooms.map((room) => {
    const count = people.get(room.id)?.length ?? 0;
    const lastMs = patrolled.get(room.id);
    const age = count > 0 ? 0 : lastMs === undefined ? null : Math.max(1, nowMs - lastMs);
    const occupancy = byOccupancy(count, room.limit);
    const shade = colour === 'patrol' ? byPatrol(age) : occupancy;
    const crowded = room.limit !== null && count > room.limit;
    const of = room.limit === null ? '' : ` / ${room.limit}`;
    const patrol = age === 0 ? '' : age === null ? '' : `, last patrol ${duration(age)} ago`;
    return { ...room, count, shade, crowded, age, note: `${room.name} ${count}${of}${crowded ? ', over its limit' : ''}${patrol}` };
  });
}

/** Texts of gateway states. */
const GATEWAY_STATES = { online: 'online', offline: 'offline', silent: 'silent: nothing comes from it', unknown: 'not heard from yet' };

/**
 * @param {{height_m: number, gateways: {id: string, x_m: number, y_m: number}[]}} level
 * @param {Record<string, string>} states by id
 */
export const drawnGateways = ({ height_m, gateways }, states) => gateways.map(({ id, x_m, y_m }) => {
  const state = states[id] ?? 'unknown';
  return { id, x: x_m, y: height_m - y_m, state, note: `Gateway ${id}: ${GATEWAY_STATES[/** @type {keyof typeof GATEWAY_STATES} */ (state)] ?? state}` };
});

/**
 * @param {{id: string, since: number, ts: number, state: string, probability?: number|null, runner_up?: string|null}} one
 * @param {string|undefined} name
 * @param {number} nowMs
 * @param {(room: string) => string} [roomName]
 */
export function personNote(one, name, nowMs, roomName = (room) => room) {
  const { id, since, ts, state } = one;
  const sure = sureText(one, roomName);
  return `${id}${name ? ` ${name}` : ''}: ${sure ? `probably here (${sure})` : 'here'} for ${duration(nowMs - since)}, ` +
    `heard ${duration(nowMs - ts)} ago${state === 'stale' ? ', stale' : ''}`;
}
