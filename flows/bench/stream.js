// @ts-check
'use strict';

const { covers } = require('../lib/building/geometry');

/**
 * Readings of many staff for the benchmark: half of them stand, half walk from cell to cell. Phones send their ten
 * strongest beacons every 1 to 4 s, every gateway sends each second the tags that it received; ten receive each tag.
 * @typedef {import('../lib/live/readings').Batch} Batch
 */

const PHONE_READINGS = 10;
const TAG_GATEWAYS = 10;
const BATCH_READINGS = 500; // contract
const NOISE_DB = 5;
const LATENCY_MS = 60;
const CELL_M = 2;
const [POWER_DBM, SLOPE_DB, WALL_DB, FLOOR_DB] = [-59, 22, 4, 18];

/**
 * @param {import('../lib/building').Building} building who has no tag carries a phone
 * @param {number} startMs
 */
function createStream(building, startMs) {
  const rnd = random(1);
  const cells = cellsOf(building);
  const phoneBeacons = cells.map((cell) => strongest([...building.beacons.values()], cell, PHONE_READINGS));
  const tagGateways = cells.map((cell) => strongest([...building.gateways.values()], cell, TAG_GATEWAYS));
  let people = building.file.staff.map(({ id, tags = [] }) => ({
    id, tag: tags[0], cell: Math.floor(rnd() * cells.length), walks: rnd() < 0.5, everyS: 1 + Math.floor(rnd() * 4),
  }));
  let nowMs = startMs;

  /** @param {number} dbm */
  const noisy = (dbm) => Math.round(dbm + (rnd() + rnd() + rnd() - 1.5) * 2 * NOISE_DB);

  return {
    /** Batches of the next second, in the order of arrival. @returns {{batch: Batch, atMs: number}[]} */
    second() {
      /** @type {Batch[]} */
      const batches = [];
      /** @type {Map<string, Batch['readings']>} */
      const byGateway = new Map([...building.gateways.keys()].map((id) => [id, []]));
      people.forEach((person, n) => {
        if (person.walks) person.cell = Math.floor(rnd() * 4) > 0 ? person.cell : (person.cell + 1) % cells.length;
        if (person.tag) {
          for (const { id, dbm } of tagGateways[person.cell]) byGateway.get(id)?.push({ beacon: person.tag, rssi: noisy(dbm) });
        } else if ((nowMs / 1000 + n) % person.everyS < 1) {
          const readings = phoneBeacons[person.cell].map(({ id, dbm }) => ({ beacon: id, rssi: noisy(dbm) }));
          batches.push({ kind: 'phone', receiver: person.id, ts: nowMs + (n % 1000), readings });
        }
      });
      let phase = 0;
      for (const [receiver, readings] of byGateway) {
        const ts = nowMs + (phase += 137) % 1000;
        for (let k = 0; k < readings.length; k += BATCH_READINGS) {
          batches.push({ kind: 'gateway', receiver, ts, readings: readings.slice(k, k + BATCH_READINGS) });
        }
      }
      nowMs += 1000;
      return batches.map((batch) => ({ batch, atMs: batch.ts + LATENCY_MS })).sort((a, b) => a.atMs - b.atMs);
    },
    /** Frees the memory of all people. */
    end() {
      people = [];
    },
  };
}

/**
 * Places people may be at: a grid over each room.
 * @typedef {{x: number, y: number, room: string, storey: number}} Cell
 * @param {import('../lib/building').Building} building @returns {Cell[]}
 */
const cellsOf = ({ levels }) => levels.flatMap(({ rooms, width_m: width, height_m: height }, storey) => rooms.flatMap(({ id, polygon }) => {
  /** @type {Cell[]} */
  const found = [];
  for (let x = CELL_M / 2; x < width; x += CELL_M) {
    for (let y = CELL_M / 2; y < height; y += CELL_M) if (covers(polygon, [x, y])) found.push({ x, y, room: id, storey });
  }
  return found;
}));

/**
 * The strongest devices in a cell with their levels.
 * @param {import('../lib/building').Beacon[]} devices @param {Cell} cell @param {number} most
 */
function strongest(devices, { x, y, room, storey }, most) {
  const levels = devices.map(({ id, level, room: its, x_m: atX, y_m: atY }) => {
    const floors = Math.abs(storey - Number(level.slice(1)) + 1);
    const throughDb = floors * FLOOR_DB + (its === room ? 0 : WALL_DB);
    const lossDb = SLOPE_DB * Math.log10(Math.max(1, Math.hypot(x - atX, y - atY, 4 * floors))) + throughDb;
    return { id, dbm: POWER_DBM - lossDb };
  });
  return levels.sort((a, b) => b.dbm - a.dbm).slice(0, most);
}

/** Uniform in [0, 1), the same for the same seed (mulberry32). @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

module.exports = { createStream };
