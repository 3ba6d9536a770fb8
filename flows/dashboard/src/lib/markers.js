import { createSeating } from './seats.js';
import { centre, drawn, edgesOf, inside, pathOf, signBox } from './geometry.js';

/**
 * What is drawn of a level and of who is on it. Positions in metres on the drawn plan; sizes in pixels on the screen.
 * @typedef {{id: string, room: string, since: number, ts: number, state: string}} Someone
 * @typedef {Someone & {x: number, y: number, aged: boolean, tight: boolean}} Marker aged: there is space for the age;
 *   tight: there is none for a name
 * @typedef {{id: string, name: string, kind: string, limit: number|null, polygon: [number, number][],
 *   open_edges?: number[]}} Room as the building has it
 * @typedef {{id: string, name: string, limit: number|null, kind: string, path: string, centre: [number, number],
 *   sign: import('./geometry.js').Box, taken: import('./geometry.js').Box, avoid: [number, number][],
 *   polygon: [number, number][], openings: string}} DrawnRoom openings: edges without a wall
 */

/** At the scale that shows a whole level on a laptop, in pixels. */
const USUAL_WIDTH = 900;
/** A room's name and number below each other, or in one line. */
const SIGNS_PX = [38, 20];
export const MARKER_PX = 22;
/** Below this many pixels from marker to marker they would cover each other. */
const APART_PX = 24;
/** With so much there is a line for the age below the marker. */
const AGED_PX = 34;
/** So far outside of the screen markers are drawn still: they may reach into it, or be on their way. */
const BEYOND_PX = 120;
/** Wide enough for the widest of the usual fonts. */
const LETTER_PX = 8;
/** The lowest line of a sign in a small room. */
const SIGN_LINE_PX = 20;
/** What stands beside a name that has one line only. */
const COUNT_PX = 60;
const LONGEST = 14;

/**
 * @param {{width_m: number, height_m: number, rooms: Room[], gateways?: {room: string, x_m: number, y_m: number}[]}} level
 * @returns {DrawnRoom[]}
 */
export function drawnRooms({ width_m, height_m, rooms, gateways = [] }) {
  const pixel_m = Math.max(width_m, height_m) / USUAL_WIDTH;
  const signs_m = SIGNS_PX.map((px) => px * pixel_m);
  return rooms.map(({ id, name, limit, kind, polygon, open_edges: open = [] }) => {
    const own = drawn(polygon, height_m);
    /** @type {[number, number][]} */
    const avoid = gateways.filter(({ room }) => room === id).map(({ x_m, y_m }) => [x_m, height_m - y_m]);
    const sign = signBox(own, signs_m);
    const taken = { ...sign, width: Math.min(sign.width, (name.length * LETTER_PX + COUNT_PX) * pixel_m) };
    return { id, name, limit, kind, polygon: own, path: pathOf(own), centre: centre(own), sign, taken, avoid,
      openings: edgesOf(own, open) };
  });
}

/** A text that fits into a marker. @param {string} text */
export const short = (text) => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`);

/** How wide a marker with this text is. @param {string} text */
export const markerWidth = (text) => Math.max(MARKER_PX, Math.round(text.length * LETTER_PX + 12));

/**
 * A level's markers, from snapshot to snapshot.
 * @param {DrawnRoom[]} rooms
 * @param {number} textLength of the longest label, in letters
 */
export function createMarkers(rooms, textLength) {
  const width = markerWidth('m'.repeat(Math.min(textLength, LONGEST))) + 6;
  const aspect = Math.max(1.1, width / (MARKER_PX + 6));
  const byId = new Map(rooms.map((room) => [room.id, room]));
  const seating = createSeating(byId, aspect);

  /**
   * @param {Someone[]} people on the level
   * @param {number} scale pixels a metre
   * @param {import('./geometry.js').Box} [visible] the part of the plan that is on the screen; nobody outside of it is drawn
   * @returns {{markers: Marker[], clusters: {room: string, count: number, stale: number,
   *   x: number, y: number}[]}} several who are in a room too small on the screen to show them apart are its cluster
   */
  function place(people, scale, visible) {
    /** @type {Marker[]} */
    const markers = [];
    /** @type {{room: string, count: number, stale: number, x: number, y: number}[]} */
    const clusters = [];
    for (const [id, here] of byRoom(people)) {
      const room = byId.get(id);
      if (!room) continue; // the building has changed under way
      const { step_m, places } = seating.seat(id, here.map((one) => one.id));
      if (here.length > 1 && (step_m * scale < APART_PX || places.size < here.length)) {
        const stale = here.filter(({ state }) => state === 'stale').length;
        clusters.push({ room: id, count: here.length, stale, x: room.centre[0], y: belowSign(room, clusterRadius(here.length), scale) });
        continue;
      }
      for (const one of here) {
        const tight = step_m * scale < APART_PX;
        const [x, y] = (tight ? null : places.get(one.id)) ?? [room.centre[0], belowSign(room, MARKER_PX / 2, scale)];
        if (visible && !near(visible, x, y, BEYOND_PX / scale)) continue;
        markers.push({ ...one, x, y, aged: step_m * scale >= AGED_PX, tight });
      }
    }
    return { markers, clusters };
  }

  return { place };
}

/** In pixels: the more, the larger. @param {number} count */
export const clusterRadius = (count) => 14 + Math.min(10, count / 10);

/**
 * In a small room: the centre, or as far below it as its name needs, if that is still in the room.
 * @param {DrawnRoom} room @param {number} radius in pixels @param {number} scale
 */
function belowSign({ centre: [x, y], sign, polygon }, radius, scale) {
  const lowest = sign.y + (SIGN_LINE_PX + radius) / scale;
  return lowest > y && inside(polygon, [x, lowest + (radius * 0.6) / scale]) ? lowest : y;
}

/** @param {import('./geometry.js').Box} box @param {number} x @param {number} y @param {number} margin */
const near = (box, x, y, margin) => x > box.x - margin && x < box.x + box.width + margin &&
  y > box.y - margin && y < box.y + box.height + margin;

/** @template {{room: string}} T @param {T[]} people @returns {Map<string, T[]>} */
export function byRoom(people) {
  /** @type {Map<string, T[]>} */
  const rooms = new Map();
  for (const one of people) {
    const others = rooms.get(one.room);
    if (others) others.push(one);
    else rooms.set(one.room, [one]);
  }
  return rooms;
}
