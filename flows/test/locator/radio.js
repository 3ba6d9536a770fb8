// @ts-check
'use strict';

/**
 * Readings by distance, walls and floors, with noise: for tests of logic, not of accuracy.
 * @typedef {{room: string, x: number, y: number}} Place
 * @typedef {import('../../lib/live/readings').Batch} Batch
 */

const AUDIBLE_DBM = -96;
const [POWER_DBM, SLOPE_DB, WALL_DB, FLOOR_DB, ABOVE_M] = [-59, 22, 5, 18, 1.2];

/** Uniform in [0, 1), the same for the same seed (mulberry32). @param {number} seed */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Normal with spread 1. @param {() => number} rnd */
const normal = (rnd) => Math.sqrt(-2 * Math.log(1 - rnd())) * Math.cos(2 * Math.PI * rnd());

/**
 * @param {import('../../lib/building').Building} building @param {number} [seed] @param {number} [spreadDb]
 * @param {{floorDb?: number, storeyM?: number}} [between] levels: what a floor takes, and how high a storey is
 */
function createEther(building, seed = 1, spreadDb = 3, { floorDb = FLOOR_DB, storeyM = ABOVE_M } = {}) {
  const rnd = random(seed);

  /** What a device is heard like at a place, dBm, or null. @param {import('../../lib/building').Beacon} device @param {Place} place */
  function rssi(device, { room, x, y }) {
    const floors = device.level === building.rooms.get(room)?.level ? 0 : 1;
    const metres = Math.max(1, Math.hypot(device.x_m - x, device.y_m - y, floors > 0 ? storeyM : ABOVE_M));
    const lossDb = SLOPE_DB * Math.log10(metres) + (floors > 0 ? floorDb : device.room === room ? 0 : WALL_DB);
    const level = POWER_DBM - lossDb + spreadDb * normal(rnd);
    return level < AUDIBLE_DBM ? null : Math.round(level);
  }

  return {
    rnd,
    /** A phone's batch. @param {Place} place @param {number} ts @param {string} [receiver] @returns {Batch} */
    phone(place, ts, receiver = '0') {
      const readings = [...building.beacons].flatMap(([beacon, device]) => {
        const dbm = rssi(device, place);
        return dbm === null ? [] : [{ beacon, rssi: dbm }];
      });
      return { kind: 'phone', receiver, ts, readings };
    },
    /**
     * What all gateways report of a tag within a second, each at a time of its own.
     * @param {Place} place @param {number} ts @param {string} [tag] @returns {Batch[]}
     */
    gateways(place, ts, tag = 'C0FFEE000001') {
      return [...building.gateways].flatMap(([receiver, device], i) => {
        const dbm = rssi(device, place);
        return dbm === null ? [] : [{ kind: /** @type {const} */ ('gateway'), receiver, ts: ts + ((i * 137) % 1000), readings: [{ beacon: tag, rssi: dbm }] }];
      }).sort((a, b) => a.ts - b.ts);
    },
  };
}

/** Middles of the rooms of the house. @type {Record<string, Place>} */
const PLACES = Object.fromEntries(['G', 'U'].flatMap((level) => [
  ['a', 5, 11], ['b', 15, 11], ['c', 25, 11], ['hall', 15, 4.5], ['lift', 33, 9],
].map(([room, x, y]) => [`${level}-${room}`, { room: `${level}-${room}`, x: Number(x), y: Number(y) }])));

module.exports = { createEther, normal, random, PLACES };
