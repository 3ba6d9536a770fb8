// @ts-check
'use strict';

const { createModel } = require('../../lib/locator/model');
const { DEFAULTS } = require('../../lib/locator/constants');
const { expectedIn } = require('../../lib/locator/source');

/**
 * Readings that the locator's own picture of radio would give, with noise: for tests of logic, not of accuracy.
 * @typedef {{room: string, x: number, y: number}} Place
 * @typedef {import('../../lib/intake/readings').Batch} Batch
 */

const AUDIBLE_DBM = -96;

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

/** @param {import('../../lib/building').Building} building @param {number} [seed] @param {number} [spreadDb] */
function createEther(building, seed = 1, spreadDb = 3) {
  const { plan, cells, radio } = createModel(building, DEFAULTS);
  const rnd = random(seed);

  /** What a source is heard like at a place, dBm, or null. @param {number|undefined} source @param {Place} place */
  function rssi(source, { room, x, y }) {
    const r = plan.rooms.findIndex(({ id }) => id === room);
    let best = -1;
    let bestM = Infinity;
    cells.all.forEach((cell, c) => {
      const away = Math.hypot(cell.x - x, cell.y - y);
      if (cell.room === r && away < bestM) [best, bestM] = [c, away];
    });
    const level = expectedIn(radio.sources[source ?? -1], best, DEFAULTS.weakestDbm) + spreadDb * normal(rnd);
    return level < AUDIBLE_DBM ? null : Math.round(level);
  }

  return {
    rnd,
    /** A phone's batch. @param {Place} place @param {number} ts @param {string} [receiver] @returns {Batch} */
    phone(place, ts, receiver = '0') {
      const readings = [...radio.beacons].flatMap(([beacon, source]) => {
        const dbm = rssi(source, place);
        return dbm === null ? [] : [{ beacon, rssi: dbm }];
      });
      return { kind: 'phone', receiver, ts, readings };
    },
    /**
     * What all gateways report of a tag within a second, each at a time of its own.
     * @param {Place} place @param {number} ts @param {string} [tag] @returns {Batch[]}
     */
    gateways(place, ts, tag = 'C0FFEE000001') {
      return [...radio.gateways].flatMap(([receiver, source], i) => {
        const dbm = rssi(source, place);
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
