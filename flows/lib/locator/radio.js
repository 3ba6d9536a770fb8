// @ts-check
'use strict';

const { isDeepStrictEqual } = require('node:util');

/**
 * What each fixed beacon or gateway (a source) should be heard like in each cell. Pure.
 * @typedef {{id: string, level: string, room: string, x_m: number, y_m: number, z_m?: number, tx?: number}} Device
 * @typedef {{id: string, device: Device, room: number, first: number, expected: Float32Array, east: Float32Array, north: Float32Array,
 *   near: Uint32Array}} Source expected: dBm in cell first + k (further cells are out of reach); east, north: which way it
 *   lies from there, horizontal part of the unit vector; near: the cells where it is strongest
 * @typedef {{who: Int32Array, dbm: Int16Array}} Loudest of each cell the `quietSources` strongest sources, strongest
 *   first (-1: no more), and how strong they should be
 * @typedef {object} Radio
 * @property {Source[]} sources
 * @property {Map<string, number>} beacons index into sources by id
 * @property {Map<string, number>} gateways
 * @property {{phone: Loudest, gateway: Loudest}} loudest
 * @property {Int16Array} leastDbm of each source: what is weaker is not told
 */

const UNHEARD_DBM = -999;
const FLOORS = 2; // sources further up or down are not heard

/**
 * @param {Pick<import('../building').Building, 'beacons'|'gateways'>} building
 * @param {import('./plan').Plan} plan
 * @param {import('./cells').Cells} cells
 * @param {import('./tuning').Tuning} tuning
 * @param {Radio} [before] of the same plan, cells and tuning
 * @returns {Radio}
 */
function createRadio(building, plan, cells, tuning, before) {
  /** @type {Source[]} */
  const sources = [];
  const roomIndex = new Map(plan.rooms.map(({ id }, r) => [id, r]));
  /** @param {Iterable<Device>} devices @param {Map<string, number>|undefined} known where those of before are */
  const add = (devices, known) => {
    const index = new Map();
    for (const device of devices) {
      const old = before?.sources[known?.get(device.id) ?? -1];
      index.set(device.id, sources.length);
      sources.push(isDeepStrictEqual(old?.device, device) ? /** @type {Source} */ (old)
        : sourceOf(device, roomIndex.get(device.room) ?? -1, plan, cells, tuning));
    }
    return index;
  };
  const beacons = add(building.beacons.values(), before?.beacons);
  const gateways = add(building.gateways.values(), before?.gateways);
  /** @param {Map<string, number>} index */
  const loudest = (index) => loudestOf(index.values(), sources, cells.all.length, tuning.quietSources);
  const leastDbm = new Int16Array(sources.length).fill(UNHEARD_DBM);
  for (const [id, source] of gateways) leastDbm[source] = building.gateways.get(id)?.min_rssi ?? UNHEARD_DBM;
  return { sources, beacons, gateways, leastDbm, loudest: { phone: loudest(beacons), gateway: loudest(gateways) } };
}

/**
 * @param {Device} device
 * @param {number} room
 * @param {import('./plan').Plan} plan
 * @param {import('./cells').Cells} cells
 * @param {import('./tuning').Tuning} tuning
 * @returns {Source}
 */
function sourceOf(device, room, plan, cells, tuning) {
  const { id, level, x_m: x, y_m: y, z_m: z, tx } = device;
  const storey = plan.levels.indexOf(level);
  const first = cells.firstOf[Math.max(0, storey - FLOORS)];
  const reach = cells.all.slice(first, cells.firstOf[Math.min(plan.levels.length, storey + FLOORS + 1)]);
  const above = z === undefined ? tuning.aboveM : z - tuning.carriedM;
  /** @param {import('./cells').Cell} cell metres */
  const distanceTo = (cell) => Math.hypot(cell.x - x, cell.y - y, Math.abs(cell.storey - storey) * tuning.storeyM + above);
  const expected = Float32Array.from(reach, (cell) => {
    const floors = Math.abs(cell.storey - storey);
    const distance = distanceTo(cell);
    const through = floors > 0 ? floors * tuning.floorDb : plan.walls(storey, cell.x, cell.y, x, y) * tuning.wallDb;
    const loss = 10 * tuning.exponent * Math.log10(Math.max(tuning.nearestM, distance)) + through;
    return Math.max(tuning.weakestDbm, (tx ?? tuning.txDbm) - tuning.carriedDb - loss);
  });
  const near = [...expected.keys()].sort((a, b) => expected[b] - expected[a]).slice(0, tuning.strayCells);
  const east = Float32Array.from(reach, (cell) => (x - cell.x) / Math.max(0.1, distanceTo(cell)));
  const north = Float32Array.from(reach, (cell) => (y - cell.y) / Math.max(0.1, distanceTo(cell)));
  return { id, device, room, first, expected, east, north, near: Uint32Array.from(near, (k) => first + k) };
}

/**
 * @param {Iterable<number>} which
 * @param {Source[]} sources
 * @param {number} count of cells
 * @param {number} most
 * @returns {Loudest}
 */
function loudestOf(which, sources, count, most) {
  const who = new Int32Array(count * most).fill(-1);
  const dbm = new Int16Array(count * most).fill(UNHEARD_DBM);
  for (const source of which) {
    const { first, expected } = sources[source];
    expected.forEach((exact, k) => {
      const level = Math.round(exact);
      const end = (first + k + 1) * most;
      let at = end;
      while (at > end - most && level > dbm[at - 1]) at -= 1;
      if (at === end) return;
      who.copyWithin(at + 1, at, end - 1);
      dbm.copyWithin(at + 1, at, end - 1);
      who[at] = source;
      dbm[at] = level;
    });
  }
  return { who, dbm };
}

module.exports = { createRadio };
