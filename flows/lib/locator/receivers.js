// @ts-check
'use strict';

const { expectedIn } = require('./source');

/**
 * How much stronger or weaker than expected each gateway hears people, and each beacon is heard by them, dB: an exponential mean over all
 * people, without correction, for display only. Nobody is located by it (`corrections.js`).
 * @typedef {object} Receivers
 * @property {(nowMs: number) => boolean} samples whether this moment counts, of many; nowMs: our clock
 * @property {(cells: [cell: number, probability: number][], remembered: import('./hearing').Remembered,
 *   strength: import('./learned-strengths').Strength, ms: number,
 *   corrections?: Float32Array|null) => void} learn from what is remembered of one person at one moment; cells: where
 *   they may be; strength: of their tag or phone; ms: event time; corrections: dB by source, by which readings were lowered
 * @property {() => Receiver[]} all those that anything was learned of
 * @property {(list: Receiver[]) => void} restore those at the same place go on from there
 * @typedef {import('../locator').Receiver} Receiver
 * @typedef {{meanDb: number, weight: number, readings: number, ms: number}} Learned ms: event time of the newest one
 */

const MEMORY_MS = 600_000; // ten minutes of readings
const GAP_AT_MOST_MS = 2000; // a longer silence does not age the mean, so that it stands on 300 readings even where few people pass
const MAX_READINGS = MEMORY_MS / GAP_AT_MOST_MS; // what is restored weighs as much as so many
const BOUND_DB = 20;
const KNOWN_SHARE = 0.6; // of people whose strength is not known this much better than at first nothing is learned
const MOMENTS_PER_S = 200; // more people are sampled: a mean over ten minutes needs no more

/**
 * @param {import('./radio').Radio} radio
 * @param {import('./constants').Settings} settings
 * @param {Receivers} [before] of another version of the building: what has stayed in its place keeps its mean
 * @returns {Receivers}
 */
function createReceivers({ sources, gateways }, { weakestDbm, hearableDbm, levelDb }, before) {
  /** @type {Learned[]} by source */
  const learned = sources.map(() => ({ meanDb: 0, weight: 0, readings: 0, ms: -Infinity }));
  const kindOf = (/** @type {number} */ k) => (gateways.get(sources[k].id) === k ? 'gateway' : 'beacon');
  let second = 0;
  let moments = 0;
  let every = 1;
  let left = 0;
  let seed = 1;

  /** How many moments pass by until the next one counts: random, so that nobody is always or never among them. */
  function gap() {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * (2 * every - 1));
  }

  /** @type {Receivers} */
  const receivers = {
    samples(nowMs) {
      const now = Math.floor(nowMs / 1000);
      if (now !== second) {
        every = Math.max(1, Math.ceil(moments / MOMENTS_PER_S));
        [second, moments] = [now, 0];
      }
      moments += 1;
      left -= 1;
      if (left >= 0) return false;
      left = gap();
      return true;
    },
    learn(cells, remembered, { meanDb, variance }, ms, corrections = null) {
      if (variance > (KNOWN_SHARE * levelDb) ** 2) return;
      for (let k = 0; k < remembered.count; k += 1) {
        if (remembered.ages[k] > 0) continue; // learned from when it came
        const source = sources[remembered.sources[k]];
        let wanted = meanDb;
        const correctedDb = corrections === null ? 0 : corrections[remembered.sources[k]];
        for (const [cell, probability] of cells) wanted += probability * expectedIn(source, cell, weakestDbm);
        if (wanted < hearableDbm) continue; // only the strongest of such readings arrive: they would say too much
        add(learned[remembered.sources[k]], remembered.levels[k] + correctedDb - wanted, ms);
      }
    },
    all: () => learned.flatMap(({ meanDb, readings }, k) => (readings === 0 ? []
      : [{ kind: kindOf(k), id: sources[k].id, place: placementKey(sources[k].device), offset_db: meanDb, readings }])),
    restore(list) {
      const known = new Map(list.map((one) => [`${one.kind} ${one.id}`, one]));
      sources.forEach(({ id, device }, k) => {
        const one = known.get(`${kindOf(k)} ${id}`);
        if (one?.place !== placementKey(device)) return;
        const { offset_db: meanDb, readings } = one;
        learned[k] = { meanDb, weight: Math.min(readings, MAX_READINGS), readings, ms: -Infinity };
      });
    },
  };
  if (before) receivers.restore(before.all());
  return receivers;
}

/** @param {Learned} learned @param {number} offDb @param {number} ms */
function add(learned, offDb, ms) {
  const passedMs = Math.min(GAP_AT_MOST_MS, Math.max(0, ms - learned.ms));
  learned.ms = Math.max(learned.ms, ms);
  learned.weight = learned.weight * Math.exp(-passedMs / MEMORY_MS) + 1;
  learned.meanDb += (Math.max(-BOUND_DB, Math.min(BOUND_DB, offDb)) - learned.meanDb) / learned.weight;
  learned.readings += 1;
}

/**
 * All that the expected level depends on; another place, power or offset makes what was learned void.
 * @param {import('./radio').Device & {rssi_offset?: number}} device
 */
function placementKey({ level, room, x_m: x, y_m: y, tx, rssi_offset: offset }) {
  return [level, room, x, y, tx ?? '', offset ?? ''].join(' ');
}

module.exports = { createReceivers, placementKey, KNOWN_SHARE };
