// @ts-check
'use strict';

const { DEFAULTS } = require('../lib/locator/constants');
const { expectedIn } = require('../lib/locator/source');

/**
 * Readings of many staff for the benchmark: half of them stand, half walk from cell to cell. Phones send their nine
 * strongest beacons every 1 to 4 s, every gateway sends each second the tags that it received; about eight receive each tag.
 * @typedef {import('../lib/intake/readings').Batch} Batch
 */

const PHONE_READINGS = 9;
const TAG_GATEWAYS = 8;
const BATCH_READINGS = 500; // contract
const NOISE_DB = 5;
const LATENCY_MS = 60;

/**
 * @param {import('../lib/building').Building} building staff with an odd index carry a tag, the others a phone
 * @param {import('../lib/locator/model').Model} model
 * @param {number} startMs
 */
function createStream(building, { cells, radio }, startMs) {
  const rnd = random(1);
  const beacons = [...radio.beacons];
  const gateways = [...radio.gateways];
  const phoneBeacons = cells.all.map((_, c) => strongest(beacons, c, PHONE_READINGS));
  const tagGateways = cells.all.map((_, c) => strongest(gateways, c, TAG_GATEWAYS));
  let people = building.file.staff.map(({ id, tags = [] }) => ({
    id, tag: tags[0], cell: Math.floor(rnd() * cells.all.length), walks: rnd() < 0.5, everyS: 1 + Math.floor(rnd() * 4),
  }));
  let nowMs = startMs;

  /** The strongest devices in a cell with their levels. @param {[string, number][]} devices @param {number} c @param {number} most */
  function strongest(devices, c, most) {
    const levels = devices.map(([id, source]) => ({ id, dbm: expectedIn(radio.sources[source], c, DEFAULTS.weakestDbm) }));
    return levels.sort((a, b) => b.dbm - a.dbm).slice(0, most);
  }

  /** @param {number} dbm */
  const noisy = (dbm) => Math.round(dbm + (rnd() + rnd() + rnd() - 1.5) * 2 * NOISE_DB);

  /** @param {number} from */
  function stepFrom(from) {
    const steps = cells.start[from + 1] - cells.start[from];
    return cells.target[cells.start[from] + Math.floor(rnd() * steps)];
  }

  return {
    /** Batches of the next second, in the order of arrival. @returns {{batch: Batch, atMs: number}[]} */
    second() {
      /** @type {Batch[]} */
      const batches = [];
      /** @type {Map<string, Batch['readings']>} */
      const byGateway = new Map(gateways.map(([id]) => [id, []]));
      people.forEach((person, n) => {
        if (person.walks) person.cell = stepFrom(person.cell);
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
