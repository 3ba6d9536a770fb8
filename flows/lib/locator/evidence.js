// @ts-check
'use strict';

const REACH_DB = 40; // further above or below the threshold makes no difference

/**
 * How well cells explain what was heard and what was not. Works on `mass`, the probability of each cell.
 * @typedef {{kind: 'phone'|'gateway', thresholdDbm: number, nowMs: number}} Silence whose devices may be silent; weaker ones than
 *   the threshold may go unheard; our clock
 * @typedef {{meanDb: number, common: number}} Common what is known of the level of a tag or phone, and the variance, dB², of what
 *   moves all its readings at once
 * @param {import('./radio').Radio} radio
 * @param {import('./constants').Settings} settings
 * @param {Float64Array} mass by cell
 * @param {(source: number, nowMs: number) => boolean} isAlive whether silence of a source says anything
 * @param {Uint16Array} roomOf each cell
 */
function createEvidence(radio, settings, mass, isAlive, roomOf) {
  const { spreadDb, fadingDb, weakestDbm, quietSources, powerNats, unplacedPowerNats, powerFolds } = settings;
  const fading = fadingDb ** 2;
  const logs = new Float64Array(mass.length);
  const offs = new Float64Array(mass.length);
  /** What was heard, for the round at hand. @type {import('./radio').Source[]} */
  const heard = [];
  const weight = new Float64Array(settings.remembered);
  const level = new Float64Array(settings.remembered);
  const quietAt = quietTable(settings);
  /** Of each source, in which round it was last found to be heard (or out), and to be silent. */
  const heardIn = new Uint32Array(radio.sources.length);
  const silentIn = new Uint32Array(radio.sources.length);
  let round = 0;
  const rooms = roomOf.reduce((most, room) => Math.max(most, room), 0) + 1;
  /** Of each room: how much the power of its own devices speaks for it, nats, and in which round that was found. */
  const power = new Float64Array(rooms);
  const foundIn = new Uint32Array(rooms);
  let nats = powerNats;
  /** Devices of each room. @param {Map<string, number>} index */
  const inRooms = (index) => {
    /** @type {number[][]} */
    const found = Array.from({ length: rooms }, () => []);
    for (const source of index.values()) found[radio.sources[source].room]?.push(source);
    return found;
  };
  const devices = { phone: inRooms(radio.beacons), gateway: inRooms(radio.gateways) };

  /** Log probability that nothing is heard of what should be loud in a cell. @param {number} c
   * @param {Silence} silence @param {number} thresholdDbm @param {number} levelDb how strong the tag or phone is if it is there */
  function quiet(c, { kind, nowMs }, thresholdDbm, levelDb) {
    const { who, dbm } = radio.loudest[kind];
    const wholeDb = Math.round(levelDb);
    let logP = 0;
    for (let k = c * quietSources; k < (c + 1) * quietSources && who[k] >= 0; k += 1) {
      const expectedDbm = dbm[k] + wholeDb;
      if (expectedDbm - thresholdDbm < -REACH_DB) break;
      const above = Math.max(expectedDbm - Math.max(thresholdDbm, radio.leastDbm[who[k]]), -REACH_DB);
      if (isSilent(who[k], nowMs)) logP += quietAt[Math.min(above, REACH_DB) + REACH_DB];
    }
    return logP;
  }

  /** Whether a source is silent in this round. @param {number} source @param {number} nowMs */
  function isSilent(source, nowMs) {
    if (silentIn[source] === round) return true;
    if (heardIn[source] === round) return false;
    (isAlive(source, nowMs) ? silentIn : heardIn)[source] = round;
    return silentIn[source] === round;
  }

  /**
   * The rooms whose own devices are heard strongest are likelier, whatever distances and walls say (the plan may be wrong, and a
   * device may stand in a corner): the power of each room's devices against that of the strongest room. It counts more the more
   * of the devices have no place that was measured: distances say little then.
   * @param {import('./hearing').Remembered} remembered
   */
  function comparePowers({ count, levels }) {
    let strongest = 0;
    let unplaced = 0;
    for (let k = 0; k < count; k += 1) {
      const { room, device } = heard[k];
      if (device.approximate) unplaced += 1;
      if (room >= 0) [power[room], foundIn[room]] = [0, round];
    }
    for (let k = 0; k < count; k += 1) {
      const { room } = heard[k];
      if (room >= 0) strongest = Math.max(strongest, power[room] += 10 ** (levels[k] / 10));
    }
    nats = powerNats + ((unplacedPowerNats - powerNats) * unplaced) / Math.max(1, count);
    for (let k = 0; k < count; k += 1) {
      const { room } = heard[k];
      if (room >= 0 && power[room] > 0) power[room] = nats * Math.max(-powerFolds, Math.log(power[room] / strongest));
    }
  }

  /**
   * How much the power of its own devices speaks for a room; one without any that could be heard does not say.
   * @param {number} room @param {Silence} silence
   */
  function powerOf(room, { kind, nowMs }) {
    if (foundIn[room] !== round) {
      foundIn[room] = round;
      power[room] = -nats * (devices[kind][room].some((source) => isSilent(source, nowMs)) ? powerFolds : 1);
    }
    return power[room];
  }

  /**
   * Weigh cells. Readings are normal around what is expected in a cell; a part of each error lasts (spreadDb), a part evens out
   * over the readings (fadingDb); and they share one unknown, normal as well: how strong the tag or phone is. With residuals r
   * and weights w = 1 / variance, log p = -(Σwr² - (Σwr)² / (Σw + 1 / common)) / 2 (Rasmussen and Williams, Gaussian
   * Processes for Machine Learning, 2006, A.3). What was known before counts `kept`, this evidence `share`. Leaves `mass` normalised.
   * @param {Int32Array} at cells @param {number} count of them
   * @param {import('./hearing').Remembered} remembered @param {Common} common @param {Silence} silence
   * @param {number} kept @param {number} share
   * @returns {{offDb: number, placeVariance: number, readingVariance: number}} by how much the readings are above what is
   *   expected, shrunk by `common`; variance of that over the cells, and of the mean of the readings, dB²
   */
  function weigh(at, count, remembered, { meanDb, common }, silence, kept, share) {
    const many = remembered.count;
    let whole = 0;
    let weakest = many < settings.remembered ? -Infinity : Infinity; // what is weaker may have been heard, and not remembered
    round += 1;
    for (let k = 0; k < many; k += 1) {
      const source = remembered.sources[k];
      heard[k] = radio.sources[source];
      weight[k] = 1 / (spreadDb ** 2 + heard[k].variance + fading / remembered.readings[k]);
      level[k] = remembered.levels[k] - meanDb;
      whole += weight[k];
      heardIn[source] = round;
      weakest = Math.min(weakest, remembered.levels[k]);
    }
    const thresholdDbm = Math.round(Math.max(silence.thresholdDbm, weakest));
    comparePowers(remembered);
    let best = -Infinity;
    for (let n = 0; n < count; n += 1) {
      const c = at[n];
      let rr = 0;
      let r0 = 0;
      for (let k = 0; k < many; k += 1) {
        const { first, expected } = heard[k];
        const place = c - first;
        const r = level[k] - (place >= 0 && place < expected.length ? expected[place] : weakestDbm);
        rr += weight[k] * r * r;
        r0 += weight[k] * r;
      }
      offs[n] = r0 / (whole + 1 / common);
      const log = (r0 * offs[n] - rr) / 2 + quiet(c, silence, thresholdDbm, meanDb + offs[n]) + powerOf(roomOf[c], silence);
      logs[n] = kept * Math.log(mass[c]) + share * log;
      if (logs[n] > best) best = logs[n];
    }
    let total = 0;
    for (let n = 0; n < count; n += 1) total += mass[at[n]] = Math.exp(logs[n] - best);
    let off = 0;
    let offSquare = 0;
    for (let n = 0; n < count; n += 1) {
      mass[at[n]] /= total;
      off += mass[at[n]] * offs[n];
      offSquare += mass[at[n]] * offs[n] * offs[n];
    }
    return { offDb: off, placeVariance: Math.max(0, offSquare - off * off), readingVariance: 1 / whole };
  }

  return { weigh };
}

/**
 * Log probability that nothing is heard of a source that should be k - REACH_DB dB above the threshold.
 * @param {import('./constants').Settings} settings
 */
function quietTable({ lostShare, spreadDb, fadingDb }) {
  const spread = Math.hypot(spreadDb, fadingDb);
  return Float64Array.from({ length: 2 * REACH_DB + 1 }, (_, k) =>
    Math.log(lostShare + (1 - lostShare) / (1 + Math.exp((1.702 * (k - REACH_DB)) / spread))));
}

module.exports = { createEvidence };
