// @ts-check
'use strict';

const { thresholdOf } = require('./sightings');

/**
 * Whether somebody stands still: whoever does goes on being heard as before, whatever the reason for how they are heard.
 * Walls, furniture and the body make errors that last as long as nobody moves, so the same signals again are no further
 * evidence for a change of room; other signals are. A hidden Markov model of two states; people live in slots of shared
 * arrays, a mean and its weight for each of the `remembered` sources. While somebody stands, these means are what the belief
 * weighs: fading and turns of the body even out, and do not add up to evidence for another room.
 * @typedef {ReturnType<typeof createMotion>} Motion
 * @param {import('./tuning').Tuning} tuning
 */
function createMotion({
  remembered, rememberAtMost, fadeShare, noiseDb, changeDb, lostShare, goneShare, hearableDbm, wholeReadings, standS, settledS,
  settledAtMostS, walkS, stoodS, stoodShare, phoneWalkShare, gatewayWalkShare, forgetMs,
}) {
  const noise = noiseDb ** 2;
  const change = changeDb ** 2;
  let source = new Uint16Array(0);
  let mean = new Int16Array(0); // in 1 / PARTS dBm
  let weight = new Uint16Array(0); // in 1 / TENTHS readings
  let still = new Float32Array(0);
  let lately = new Float32Array(0); // its mean over the last seconds

  /** Somebody new in this slot. @param {number} slot */
  function open(slot) {
    if (slot >= still.length) {
      const length = Math.ceil((slot + 1) * 1.0625);
      still = longer(still, new Float32Array(length));
      lately = longer(lately, new Float32Array(length));
      source = longer(source, new Uint16Array(length * remembered));
      mean = longer(mean, new Int16Array(length * remembered));
      weight = longer(weight, new Uint16Array(length * remembered));
    }
    still[slot] = 0.5;
    lately[slot] = 1;
    weight.fill(0, slot * remembered, (slot + 1) * remembered);
  }

  /** Where a source is remembered; where it is not, the place that is worth least. @param {number} slot @param {number} which */
  function placeOf(slot, which) {
    let least = slot * remembered;
    for (let k = least; k < (slot + 1) * remembered; k += 1) {
      if (source[k] === which && weight[k] > 0) return k;
      if (weight[k] < weight[least]) least = k;
    }
    return least;
  }

  /**
   * @param {number} slot
   * @param {import('./sightings').Heard} heard
   * @param {number} seconds since the last time
   * @param {number} surelyS for how long they were beyond doubt in this room
   * @returns {number} probability of standing still
   */
  function update(slot, heard, seconds, surelyS) {
    const isNew = seconds * 1000 > forgetMs;
    if (isNew) open(slot);
    const before = still[slot];
    const standsS = standS + Math.max(0, Math.min(surelyS, settledAtMostS) - settledS);
    const prior = before * Math.exp(-seconds / standsS) + (1 - before) * (1 - Math.exp(-seconds / walkS));
    const nats = changed(slot, heard) + missing(slot, heard);
    const odds = (prior / (1 - prior)) * Math.exp(Math.max(-MOST_NATS, Math.min(MOST_NATS, nats)));
    still[slot] = odds / (1 + odds);
    if (!isNew) lately[slot] += (still[slot] - lately[slot]) * (1 - Math.exp(-seconds / stoodS));
    remember(slot, heard, isNew ? 0 : seconds);
    return still[slot];
  }

  /** How surely somebody stood over the last seconds: 0 for whoever walked, 1 for whoever did not. @param {number} slot
   * @param {import('./sightings').Heard['kind']} kind by what they are heard */
  function stood(slot, kind) {
    const walkShare = kind === 'phone' ? phoneWalkShare : gatewayWalkShare;
    return Math.max(0, Math.min(1, (lately[slot] - walkShare) / (stoodShare - walkShare)));
  }

  /** Log likelihood of "as before" against "changed" of what was heard. @param {number} slot @param {import('./sightings').Heard} heard */
  function changed(slot, { kind, sources, rssis }) {
    const weakest = kind === 'phone' ? weakestOf(slot) : Infinity;
    let nats = 0;
    for (let n = 0; n < sources.length; n += 1) {
      const k = placeOf(slot, sources[n]);
      if (source[k] === sources[n] && weight[k] >= TENTHS) nats += asBefore(rssis[n] - mean[k] / PARTS, noise * (1 + TENTHS / weight[k]));
      // what was not heard as yet is no stronger than the weakest that was
      else if (rssis[n] > weakest) nats += Math.min(0, asBefore(rssis[n] - weakest, 2 * noise));
    }
    return nats;
  }

  /** @param {number} residual dB @param {number} same its variance while nothing changed */
  function asBefore(residual, same) {
    const other = same + change;
    return (Math.log(other / same) - residual * residual * (1 / same - 1 / other)) / 2;
  }

  /** The weakest mean of what is well remembered, dBm; Infinity where that is too little to tell. @param {number} slot */
  function weakestOf(slot) {
    let weakest = Infinity;
    let many = 0;
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
      if (weight[k] < WELL) continue;
      weakest = Math.min(weakest, mean[k] / PARTS);
      many += 1;
    }
    return many > 1 ? weakest : Infinity;
  }

  /** The same of what was not heard, though it was loud. @param {number} slot @param {import('./sightings').Heard} heard */
  function missing(slot, heard) {
    let nats = 0;
    if (heard.kind === 'gateway') return nats;
    const threshold = thresholdOf(heard, wholeReadings, hearableDbm);
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
      if (weight[k] < WELL || heard.sources.includes(source[k])) continue;
      // the mean is one of those that were heard: where some were not, the truth is below it
      const above = mean[k] / PARTS - noiseDb - threshold;
      nats += Math.min(0, Math.log((lostShare + (1 - lostShare) / (1 + Math.exp((1.702 * above) / noiseDb))) / goneShare));
    }
    return nats;
  }

  /**
   * What the belief is to weigh: while somebody stands, the means of what is heard instead of the readings; and what is known to
   * be within reach, though it was not heard this time.
   * @param {number} slot @param {import('./sightings').Heard} heard
   * @returns {{rssis: number[], known: number[]}} rssis: of its sources
   */
  function steady(slot, { sources, rssis }) {
    const share = still[slot] * still[slot]; // the mean lags behind whoever walks
    if (still[slot] < 0.5) return { rssis, known: sources };
    const evened = rssis.map((rssi, n) => {
      const k = placeOf(slot, sources[n]);
      return source[k] === sources[n] && weight[k] >= TENTHS ? rssi + share * (mean[k] / PARTS - rssi) : rssi;
    });
    const known = sources.slice();
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
      if (weight[k] >= WELL && !sources.includes(source[k])) known.push(source[k]);
    }
    return { rssis: evened, known };
  }

  /** Means of what was heard since somebody stands. @param {number} slot @param {import('./sightings').Heard} heard
   * @param {number} seconds since the last time */
  function remember(slot, { kind, sources, rssis }, seconds) {
    const kept = still[slot] ** (kind === 'phone' ? fadeShare : seconds);
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) weight[k] *= kept;
    for (let n = 0; n < sources.length; n += 1) {
      const k = placeOf(slot, sources[n]);
      if (source[k] !== sources[n]) {
        if (weight[k] > TENTHS) continue;
        source[k] = sources[n];
        weight[k] = 0;
        mean[k] = 0;
      }
      weight[k] = Math.min(rememberAtMost * TENTHS, weight[k] + TENTHS);
      mean[k] = Math.round(mean[k] + (rssis[n] * PARTS - mean[k]) * Math.min(1, TENTHS / weight[k]));
    }
  }

  return { open, update, stood, steady };
}

const MOST_NATS = 30;
const PARTS = 100;
const TENTHS = 10;
const WELL = 2 * TENTHS; // of so many readings

/**
 * @template {Uint16Array|Int16Array|Float32Array} T
 * @param {T} array
 * @param {T} into
 * @returns {T}
 */
function longer(array, into) {
  into.set(array);
  return into;
}

module.exports = { createMotion };
