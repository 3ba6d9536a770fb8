// @ts-check
'use strict';

const { isDeepStrictEqual } = require('node:util');

/**
 * What each fixed beacon or gateway (a source) should be heard like in each cell. Pure.
 * @typedef {{id: string, level: string, room: string, x_m: number, y_m: number, tx?: number, approximate?: boolean}} Device
 * @typedef {{id: string, device: Device, room: number, first: number, expected: Float32Array, variance: number, near: Uint32Array}} Source
 *   expected: dBm in cell first + k (further cells are out of reach); variance: of that, dB², where its place in the room is
 *   not known; near: the cells where it is strongest
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
 * @param {import('./constants').Settings} settings
 * @param {Radio} [before] of the same plan, cells and settings
 * @returns {Radio}
 */
function createRadio(building, plan, cells, settings, before) {
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
        : sourceOf(device, roomIndex.get(device.room) ?? -1, plan, cells, settings));
    }
    return index;
  };
  const beacons = add(building.beacons.values(), before?.beacons);
  const gateways = add(building.gateways.values(), before?.gateways);
  /** @param {Map<string, number>} index */
  const loudest = (index) => loudestOf(index.values(), sources, cells.all.length, settings.quietSources);
  const leastDbm = new Int16Array(sources.length).fill(UNHEARD_DBM);
  for (const [id, source] of gateways) leastDbm[source] = building.gateways.get(id)?.min_rssi ?? UNHEARD_DBM;
  return { sources, beacons, gateways, leastDbm, loudest: { phone: loudest(beacons), gateway: loudest(gateways) } };
}

/**
 * @param {Device} device
 * @param {number} room
 * @param {import('./plan').Plan} plan
 * @param {import('./cells').Cells} cells
 * @param {import('./constants').Settings} settings
 * @returns {Source}
 */
function sourceOf(device, room, plan, cells, settings) {
  const { id, level, tx = settings.txDbm } = device;
  const storey = plan.levels.indexOf(level);
  const first = cells.firstOf[Math.max(0, storey - FLOORS)];
  const reach = cells.all.slice(first, cells.firstOf[Math.min(plan.levels.length, storey + FLOORS + 1)]);
  const places = placesOf(device, room, cells);
  /** @param {import('./cells').Cell} cell @param {{x: number, y: number}} place */
  const lossTo = (cell, { x, y }) => {
    const floors = Math.abs(cell.storey - storey);
    const distance = Math.hypot(cell.x - x, cell.y - y, floors * settings.storeyM + settings.aboveM);
    const through = floors > 0 ? floors * settings.floorDb : plan.walls(storey, cell.x, cell.y, x, y) * settings.wallDb;
    return 10 * settings.exponent * Math.log10(Math.max(settings.nearestM, distance)) + through;
  };
  let variance = 0;
  const expected = Float32Array.from(reach, (cell) => {
    let sum = 0;
    let squares = 0;
    for (const place of places) {
      const loss = lossTo(cell, place);
      sum += loss;
      squares += loss * loss;
    }
    const mean = sum / places.length;
    if (cell.room === room) variance = Math.max(variance, squares / places.length - mean * mean);
    return Math.max(settings.weakestDbm, tx - mean);
  });
  const near = [...expected.keys()].sort((a, b) => expected[b] - expected[a]).slice(0, settings.strayCells);
  return { id, device, room, first, expected, variance: places.length > 1 ? variance : 0, near: Uint32Array.from(near, (k) => first + k) };
}

const PLACES = 16; // so many stand for all places of a room

/**
 * Where a device may be: at its place, or, where that was not measured, all over its room.
 * @param {Device} device @param {number} room @param {import('./cells').Cells} cells
 * @returns {{x: number, y: number}[]}
 */
function placesOf({ x_m: x, y_m: y, approximate }, room, cells) {
  const all = approximate ? cells.all.filter((cell) => cell.room === room) : [];
  const every = Math.ceil(all.length / PLACES);
  return all.length > 1 ? all.filter((_, k) => k % every === 0) : [{ x, y }];
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
