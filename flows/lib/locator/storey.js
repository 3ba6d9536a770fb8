// @ts-check
'use strict';

const { distancesIn, neighbours, placeAt, rasterOf, touchingOf, DOOR_M, FAR, RASTER_M } = require('./raster');

/**
 * The rooms and walls of one level. Pure; made in pieces, since a level may have thousands of rooms.
 * @typedef {[ax: number, ay: number, bx: number, by: number]} Edge metres
 * @typedef {{id: string, level: string, passage: boolean, core: boolean, open: boolean, polygon: [number, number][], gaps: Edge[]}} Room
 *   passage: people walk through it (corridor, lobby, core); open: opens into the rooms beside it, without walls; gaps: edges
 *   without a wall
 * @typedef {object} Storey rooms are known by their index on this level
 * @property {Room[]} rooms
 * @property {number} width in RASTER_M @property {number} height in RASTER_M
 * @property {Int16Array} raster the room at each RASTER_M × RASTER_M, or -1
 * @property {Uint8Array} far how far it is to another room, or out of all rooms, in RASTER_M; rooms that open into each other are one
 * @property {Set<number>[]} beside rooms that share at least DOOR_M of wall
 * @property {Set<number>[]} joined … of which DOOR_M is open
 * @property {number[][]} touching rooms that lie next to each other, if only at a corner; what is no room counts as one, the last
 */

/** @param {import('../building').Level} level @returns {import('../shared/pieces').Work<Storey>} */
function* storeyOf(level) {
  const rooms = level.rooms.map((room) => {
    const { id, kind = 'room', polygon } = room;
    return { id, level: level.id, passage: kind !== 'room', core: kind === 'core', open: false, polygon, gaps: gapsOf(room) };
  });
  const width = Math.ceil(level.width_m / RASTER_M);
  const height = Math.ceil(level.height_m / RASTER_M);
  const raster = yield* rasterOf(rooms, width, height);
  const beside = yield* neighbours(raster, width, rooms.length);
  /** @type {Set<number>[]} */
  const joined = [];
  for (const [r, others] of beside.entries()) {
    joined.push(new Set([...others].filter((other) => shareGap(rooms[r], rooms[other]))));
    // Rooms open into whatever lies beside them where no passage does: an open-plan area, divided on paper only.
    rooms[r].open = !rooms[r].passage && ![...others].some((other) => rooms[other].passage);
    yield;
  }
  const far = yield* distancesIn(raster, width, rooms);
  return { rooms, width, height, raster, far, beside, joined, touching: yield* touchingOf(raster, width, rooms.length) };
}

/**
 * How many walls lie between two points of a level.
 * @param {Storey} storey @param {number} ax metres @param {number} ay @param {number} bx @param {number} by
 * @param {number} [most] more are not counted
 */
function wallsBetween(storey, ax, ay, bx, by, most = Infinity) {
  const { rooms, raster, far, joined } = storey;
  const steps = Math.max(1, Math.ceil(Math.hypot(bx - ax, by - ay) / RASTER_M));
  let count = 0;
  let last = -1;
  let [lastX, lastY] = [ax, ay]; // the last point in that room: the wall lies between it and the first point in the next one
  for (let step = 0; step <= steps;) {
    const x = ax + ((bx - ax) * step) / steps;
    const y = ay + ((by - ay) * step) / steps;
    const at = placeAt(storey, x, y);
    const room = raster[at];
    if (room >= 0) {
      if (room !== last && last >= 0 && !(rooms[last].open && rooms[room].open)) {
        const through = joined[last].has(room)
          && [rooms[last], rooms[room]].some((one) => isInGap(x, y, one) || isInGap(lastX, lastY, one));
        if (!through && ++count > most) return count;
      }
      last = room;
      lastX = x;
      lastY = y;
    }
    step += Math.max(1, far[at] - 2); // up to there is no wall: one less is on this side, and a sample may lie in the next square
  }
  return count;
}

/**
 * How many walls there are at least from any of some places into each room, and out of all rooms (the last): as many as the
 * shortest way from room to room has (Dijkstra's algorithm, where each step costs one wall or none).
 * @param {Storey} storey @param {{x: number, y: number}[]} places metres @param {number} most below FAR; what is further is FAR
 * @returns {Uint8Array} by room
 */
function fewestWalls(storey, places, most) {
  const { rooms, touching } = storey;
  const fewest = new Uint8Array(rooms.length + 1).fill(FAR);
  const starts = places.map(({ x, y }) => roomAt(storey, x, y));
  if (starts.includes(rooms.length)) starts.push(...touching[rooms.length]); // from where there is no room, the first is free
  let near = [...new Set(starts)];
  for (const room of near) fewest[room] = 0;
  for (let count = 0; near.length > 0 && count <= most; count += 1) {
    /** @type {number[]} */
    const behind = [];
    for (const room of near) { // grows
      if (fewest[room] !== count) continue; // reached through fewer walls
      for (const other of touching[room]) {
        const free = isFree(storey, room, other);
        const walls = count + (free ? 0 : 1);
        if (walls >= fewest[other] || walls > most) continue;
        fewest[other] = walls;
        (free ? near : behind).push(other);
      }
    }
    near = behind;
  }
  return fewest;
}

/**
 * Whether one may get from a room into one that touches it without a wall; the way out counts none, the way back in does.
 * @param {Storey} storey @param {number} room @param {number} other
 */
const isFree = ({ rooms, joined }, room, other) => other === rooms.length || joined[room]?.has(other)
  || (rooms[other].open && (room === rooms.length || rooms[room].open));

/** The room at a point as the raster has it; the number of rooms where there is none. @param {Storey} storey @param {number} x
 * @param {number} y */
function roomAt(storey, x, y) {
  const room = storey.raster[placeAt(storey, x, y)];
  return room < 0 ? storey.rooms.length : room;
}

/** @param {import('../building').Room} room @returns {Edge[]} */
const gapsOf = ({ polygon, open_edges: open = [] }) => open.filter((edge) => edge < polygon.length)
  .map((edge) => [...polygon[edge], ...polygon[(edge + 1) % polygon.length]]);

/** How far a point is from a segment, metres. @param {number} x @param {number} y @param {Edge} edge */
function distanceTo(x, y, [ax, ay, bx, by]) {
  const square = (bx - ax) ** 2 + (by - ay) ** 2;
  const along = square === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / square));
  return Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay));
}

/** @param {number} x @param {number} y @param {Room} room */
const isInGap = (x, y, { gaps }) => gaps.some((edge) => distanceTo(x, y, edge) <= RASTER_M);

/** Whether an edge without a wall of one room runs along the other room for DOOR_M at least. @param {Room} a @param {Room} b */
const shareGap = (a, b) => a.gaps.some((edge) => runsAlong(edge, b)) || b.gaps.some((edge) => runsAlong(edge, a));

/** @param {Edge} edge @param {Room} room */
function runsAlong([ax, ay, bx, by], { polygon }) {
  const lengthM = Math.hypot(bx - ax, by - ay);
  const parts = Math.max(1, Math.ceil(lengthM / RASTER_M));
  let metres = 0;
  for (let part = 0; part < parts; part += 1) {
    const x = ax + ((bx - ax) * (part + 0.5)) / parts;
    const y = ay + ((by - ay) * (part + 0.5)) / parts;
    const near = polygon.some(([cx, cy], k) => distanceTo(x, y, [cx, cy, ...polygon[(k + 1) % polygon.length]]) <= RASTER_M);
    if (near) metres += lengthM / parts;
  }
  return metres >= Math.min(DOOR_M, lengthM);
}

module.exports = { storeyOf, wallsBetween, fewestWalls, roomAt };
