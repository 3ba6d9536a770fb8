import { createSeating } from './seats.js';
import { inside } from '../../../lib/building/geometry.js';
import { centre, drawn, edgesOf, pathOf, signBox } from './geometry.js';

/**
 * Drawn rooms and markers of people of a level. Positions in metres on the drawn plan; sizes in pixels on the screen.
 * @typedef {{id: string, room: string, since: number, ts: number, state: string}} Person
 * @typedef {Person & {x: number, y: number, aged: boolean, lifted: boolean, tight: boolean}} Marker aged: there is space for the age;
 *   lifted: higher than its place, since else the age would lie on a wall; tight: there is no space for a name
 * @typedef {{id: string, name: string, kind: string, limit: number|null, polygon: [number, number][],
 *   open_edges?: number[]}} Room of the building
 * @typedef {{id: string, name: string, limit: number|null, kind: string, path: string, centre: [number, number],
 *   sign: import('./geometry.js').Box, taken: import('./geometry.js').Box, small: import('./geometry.js').Box, avoid: [number, number][],
 *   polygon: [number, number][], openings: string}} DrawnRoom small: where a marker would cover the sign on a phone; openings: edges
 *   without a wall
 */

/** Width of a whole level on a laptop, pixels. */
const USUAL_WIDTH = 900;
/** On a phone. */
const SMALL_WIDTH = 340;
/** Heights of a sign: name and number in two lines, or in one. */
const SIGNS_PX = [38, 20];
export const MARKER_PX = 22;
/** Closer markers would cover each other. */
const APART_PX = 24;
/** The age below a marker. */
const AGE_PX = Object.freeze({ width: 26, height: 14 });
/** A marker is lifted by so much, and its age is so much closer to it. */
export const LIFT_PX = Object.freeze({ marker: 8, age: 3 });
/** With this distance there is space for it. */
const AGED_PX = 34;
/** Markers this far outside the screen are drawn too: they may reach into it, or move in. */
const BEYOND_PX = 120;
/** Width of a letter in the widest usual font. */
const LETTER_PX = 8;
/** The lowest line of a sign in a small room. */
const SIGN_LINE_PX = 20;
/** Width of the number beside a one-line name. */
const COUNT_PX = 60;
const TEXT_MAX = 14;

/**
 * @param {{width_m: number, height_m: number, rooms: Room[], gateways?: {room: string, x_m: number, y_m: number}[]}} level
 * @returns {DrawnRoom[]}
 */
export function drawnRooms({ width_m, height_m, rooms, gateways = [] }) {
  const pixel_m = Math.max(width_m, height_m) / USUAL_WIDTH;
  const smallPixel_m = Math.max(width_m, height_m) / SMALL_WIDTH;
  const signs_m = SIGNS_PX.map((px) => px * pixel_m);
  return rooms.map(({ id, name, limit, kind, polygon, open_edges: open = [] }) => {
    const own = drawn(polygon, height_m);
    /** @type {[number, number][]} */
    const avoid = gateways.filter(({ room }) => room === id).map(({ x_m, y_m }) => [x_m, height_m - y_m]);
    const sign = signBox(own, signs_m);
    const textPx = name.length * LETTER_PX + COUNT_PX;
    const taken = { ...sign, width: Math.min(sign.width, textPx * pixel_m) };
    const small = { ...sign, width: Math.min(sign.width, (textPx + MARKER_PX / 2) * smallPixel_m),
      height: (SIGN_LINE_PX + MARKER_PX / 2) * smallPixel_m };
    return { id, name, limit, kind, polygon: own, path: pathOf(own), centre: centre(own), sign, taken, small, avoid,
      openings: edgesOf(own, open) };
  });
}

/** Shortens a text to fit into a marker. @param {string} text */
export const short = (text) => (text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX - 1)}…`);

/** Width of a marker with a text, pixels. @param {string} text */
export const markerWidth = (text) => Math.max(MARKER_PX, Math.round(text.length * LETTER_PX + 12));

/**
 * Markers of a level; people keep their places from snapshot to snapshot.
 * @param {DrawnRoom[]} rooms
 * @param {number} textLength of the longest label, in letters
 */
export function createMarkers(rooms, textLength) {
  const width = markerWidth('m'.repeat(Math.min(textLength, TEXT_MAX))) + 6;
  const aspect = Math.max(1.1, width / (MARKER_PX + 6));
  const byId = new Map(rooms.map((room) => [room.id, room]));
  const seating = createSeating(byId, aspect);

  /**
   * @param {Person[]} people on the level
   * @param {number} scale pixels a metre
   * @param {import('./geometry.js').Box} [visible] the part of the plan on the screen; people outside it are not drawn
   * @returns {{markers: Marker[], clusters: {room: string, count: number, stale: number,
   *   x: number, y: number}[]}} a room that is too small to show several people apart has a cluster
   */
  function place(people, scale, visible) {
    /** @type {Marker[]} */
    const markers = [];
    /** @type {{room: string, count: number, stale: number, x: number, y: number}[]} */
    const clusters = [];
    for (const [id, here] of byRoom(people)) {
      const room = byId.get(id);
      if (!room) continue; // the building has changed meanwhile
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
        const aged = step_m * scale >= AGED_PX;
        markers.push({ ...one, x, y, aged, lifted: aged && isWalled(room.polygon, x, y, scale), tight });
      }
    }
    return { markers, clusters };
  }

  return { place };
}

/**
 * Whether a wall goes through the age below a marker.
 * @param {DrawnRoom['polygon']} polygon @param {number} x @param {number} y @param {number} scale
 */
function isWalled(polygon, x, y, scale) {
  const lowest = y + (MARKER_PX / 2 + AGE_PX.height) / scale;
  return [-AGE_PX.width, AGE_PX.width].some((dx) => !inside(polygon, [x + dx / 2 / scale, lowest]));
}

/** Radius of a cluster by its number of people, pixels. @param {number} count */
export const clusterRadius = (count) => 14 + Math.min(10, count / 10);

/**
 * y of a marker in a small room: the centre, or below the name if that is still in the room.
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
