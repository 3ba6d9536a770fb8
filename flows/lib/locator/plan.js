// @ts-check
'use strict';

/**
 * What the polygons say about walking and about walls. Pure.
 * @typedef {[ax: number, ay: number, bx: number, by: number]} Edge metres
 * @typedef {{id: string, level: string, storey: number, passage: boolean, polygon: [number, number][], gaps: Edge[]}} Room
 *   storey: index of its level; passage: people walk through it (corridor, lobby, core);
 *   gaps: edges without a wall
 * @typedef {{width: number, height: number, raster: Int16Array}} Storey the room at each RASTER_M × RASTER_M, or -1
 * @typedef {object} Plan
 * @property {(Room & {core: boolean, open: boolean})[]} rooms open: opens into the rooms beside it, without walls
 * @property {string[]} levels ids, lowest first
 * @property {(a: number, b: number) => boolean} passable whether there is a way from room a straight into room b
 * @property {(storey: number, ax: number, ay: number, bx: number, by: number) => number} walls how many walls lie
 *   between two points of a level, metres
 */

const RASTER_M = 0.5;
const DOOR_M = 0.9; // a door needs that much common wall
const FURTHEST_ROOMS = 32767; // what the raster can tell apart

/**
 * @param {Pick<import('../building').Building, 'levels'>} building
 * @returns {Plan}
 */
function createPlan(building) {
  /** @type {Plan['rooms']} */
  const rooms = building.levels.flatMap((level, storey) => level.rooms.map((room) => {
    const { kind = 'room' } = room;
    return { id: room.id, level: level.id, storey, passage: kind !== 'room', core: kind === 'core', open: false, polygon: room.polygon,
      gaps: gapsOf(room) };
  }));
  if (rooms.length > FURTHEST_ROOMS) throw new RangeError(`${rooms.length} rooms; the locator takes ${FURTHEST_ROOMS} at most`);
  const storeys = building.levels.map((level, storey) => rasterOf(level, storey, rooms));
  const beside = neighbours(storeys, rooms.length);
  const joined = beside.map((others, r) => new Set([...others].filter((other) => shareGap(rooms[r], rooms[other]))));
  // Rooms open into whatever lies beside them where no passage does: an open-plan area, divided on paper only.
  rooms.forEach((room, r) => { room.open = !room.passage && ![...beside[r]].some((other) => rooms[other].passage); });

  return {
    rooms,
    levels: building.levels.map(({ id }) => id),
    passable: (a, b) => beside[a].has(b)
      && (rooms[a].passage || rooms[b].passage || rooms[a].open || rooms[b].open || joined[a].has(b)),
    walls: (storey, ax, ay, bx, by) => {
      const { width, height, raster } = storeys[storey];
      const steps = Math.max(1, Math.ceil(Math.hypot(bx - ax, by - ay) / RASTER_M));
      let count = 0;
      let last = -1;
      let [lastX, lastY] = [ax, ay]; // the last point in that room: the wall lies between it and the first point in the next one
      for (let step = 0; step <= steps; step += 1) {
        const x = ax + ((bx - ax) * step) / steps;
        const y = ay + ((by - ay) * step) / steps;
        const room = raster[clamp(Math.floor(y / RASTER_M), height) * width + clamp(Math.floor(x / RASTER_M), width)];
        if (room < 0) continue;
        if (room !== last && last >= 0 && !(rooms[last].open && rooms[room].open)) {
          const through = joined[last].has(room)
            && [rooms[last], rooms[room]].some((one) => isInGap(x, y, one) || isInGap(lastX, lastY, one));
          if (!through) count += 1;
        }
        last = room;
        lastX = x;
        lastY = y;
      }
      return count;
    },
  };
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

/** @param {number} value @param {number} size */
const clamp = (value, size) => Math.min(size - 1, Math.max(0, value));

/**
 * @param {{width_m: number, height_m: number}} level
 * @param {number} storey
 * @param {Room[]} rooms
 * @returns {Storey}
 */
function rasterOf({ width_m: widthM, height_m: heightM }, storey, rooms) {
  const width = Math.ceil(widthM / RASTER_M);
  const height = Math.ceil(heightM / RASTER_M);
  const raster = new Int16Array(width * height).fill(-1);
  rooms.forEach((room, r) => {
    if (room.storey !== storey) return;
    const { left, right, bottom, top } = bounds(room.polygon);
    for (let row = clamp(Math.floor(bottom / RASTER_M), height); row <= clamp(Math.floor(top / RASTER_M), height); row += 1) {
      for (let column = clamp(Math.floor(left / RASTER_M), width); column <= clamp(Math.floor(right / RASTER_M), width); column += 1) {
        if (inside(room.polygon, (column + 0.5) * RASTER_M, (row + 0.5) * RASTER_M)) raster[row * width + column] = r;
      }
    }
  });
  return { width, height, raster };
}

/**
 * Which rooms share at least DOOR_M of wall.
 * @param {Storey[]} storeys
 * @param {number} count
 */
function neighbours(storeys, count) {
  /** @type {Map<number, number>} metres of common wall, by a · count + b */
  const common = new Map();
  /** @param {number} a @param {number} b */
  const touch = (a, b) => {
    if (a < 0 || b < 0 || a === b) return;
    const key = Math.min(a, b) * count + Math.max(a, b);
    common.set(key, (common.get(key) ?? 0) + RASTER_M);
  };
  for (const { width, raster } of storeys) {
    for (let k = 0; k < raster.length; k += 1) {
      if ((k + 1) % width > 0) touch(raster[k], raster[k + 1]);
      if (k + width < raster.length) touch(raster[k], raster[k + width]);
    }
  }
  /** @type {Set<number>[]} */
  const beside = Array.from({ length: count }, () => new Set());
  for (const [key, metres] of common) {
    if (metres < DOOR_M) continue;
    beside[Math.floor(key / count)].add(key % count);
    beside[key % count].add(Math.floor(key / count));
  }
  return beside;
}

/** @param {[number, number][]} polygon */
function bounds(polygon) {
  const xs = polygon.map(([x]) => x);
  const ys = polygon.map(([, y]) => y);
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}

/** Even-odd rule. @param {[number, number][]} polygon @param {number} x @param {number} y */
function inside(polygon, x, y) {
  let odd = false;
  polygon.forEach(([ax, ay], i) => {
    const [bx, by] = polygon[(i || polygon.length) - 1];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  });
  return odd;
}

module.exports = { createPlan, inside, bounds };
