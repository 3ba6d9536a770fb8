// @ts-check
'use strict';

/**
 * What is remembered of a person's readings: for each of the strongest devices its level, averaged over `hearingS`, or over
 * `gaps` of its gaps where it is heard more rarely than that. People live in slots of shared arrays.
 * @typedef {ReturnType<typeof createHearing>} Hearing
 * @typedef {{count: number, sources: Int32Array, levels: Float64Array, readings: Float64Array, ages: Float64Array}} Remembered
 *   the first `count` of each: index into the radio's sources, dBm, how many readings that is the mean of, age in seconds
 * @param {import('./constants').Settings} settings
 */
function createHearing({ remembered, hearingS, gaps, fadesOut }) {
  let source = new Uint16Array(0);
  let level = new Int16Array(0); // in 1 / PARTS dBm
  let weight = new Float32Array(0); // readings, faded, at heardMs
  let gapS = new Float32Array(0); // mean time between two readings
  let heardMs = new Float64Array(0);
  /** @type {Remembered} */
  const all = {
    count: 0, sources: new Int32Array(remembered), levels: new Float64Array(remembered), readings: new Float64Array(remembered),
    ages: new Float64Array(remembered),
  };

  /** Somebody new in this slot. @param {number} slot */
  function open(slot) {
    const end = (slot + 1) * remembered;
    if (end > source.length) {
      const length = Math.ceil((slot + 1) * 1.0625) * remembered;
      source = longer(source, new Uint16Array(length));
      level = longer(level, new Int16Array(length));
      weight = longer(weight, new Float32Array(length));
      gapS = longer(gapS, new Float32Array(length));
      heardMs = longer(heardMs, new Float64Array(length));
    }

    weight.fill(0, slot * remembered, end);
  }

  /** @param {number} k an entry */
  const averagingS = (k) => Math.max(hearingS, gaps * (gapS[k] - LEAST_GAP_S));

  /** How many readings an entry is still worth; 0 when it is forgotten. @param {number} k @param {number} ms */
  function worth(k, ms) {
    const ageS = (ms - heardMs[k]) / 1000;
    const overS = averagingS(k);
    return weight[k] === 0 || ageS > fadesOut * overS ? 0 : weight[k] * Math.exp(-ageS / overS);
  }

  /** Where a device is remembered; where it is not, a free entry or the weakest. @param {number} slot @param {number} which
   * @param {number} ms */
  function entryOf(slot, which, ms) {
    let least = -1;
    let weakest = Infinity;
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
      if (weight[k] > 0 && source[k] === which) return k;
      const value = worth(k, ms) === 0 ? -Infinity : level[k];
      if (value < weakest) [least, weakest] = [k, value];
    }
    return least;
  }

  return {
    open,
    /** Take what was heard. @param {number} slot @param {import('./sightings').Heard} heard strongest first @param {number} ms */
    add(slot, { sources, rssis }, ms) {
      for (let n = 0; n < sources.length; n += 1) {
        const k = entryOf(slot, sources[n], ms);
        const before = worth(k, ms);
        if (source[k] !== sources[n] || weight[k] === 0) {
          if (before > 0 && level[k] > rssis[n] * PARTS) continue; // all that is remembered is stronger
          source[k] = sources[n];
          weight[k] = 0;
          gapS[k] = LEAST_GAP_S;
        } else {
          gapS[k] += GAP_SHARE * (Math.min(LONGEST_GAP_S, (ms - heardMs[k]) / 1000) - gapS[k]);
        }
        const kept = weight[k] === 0 ? 0 : before;
        level[k] = Math.round((kept * level[k] + rssis[n] * PARTS) / (kept + 1));
        weight[k] = kept + 1;
        heardMs[k] = ms;
      }
    },
    /** What is remembered at a moment. @param {number} slot @param {number} ms @returns {Remembered} valid until the next call */
    recall(slot, ms) {
      all.count = 0;
      for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
        const readings = worth(k, ms);
        if (readings === 0) continue;
        all.sources[all.count] = source[k];
        all.levels[all.count] = level[k] / PARTS;
        all.readings[all.count] = readings;
        all.ages[all.count++] = (ms - heardMs[k]) / 1000;
      }
      return all;
    },
  };
}

const PARTS = 100;
const GAP_SHARE = 0.2; // of a gap goes into the mean gap
const LEAST_GAP_S = 1; // a window
const LONGEST_GAP_S = 20; // what is heard more rarely than this was away

/**
 * @template {Uint16Array|Int16Array|Float32Array|Float64Array} T
 * @param {T} array
 * @param {T} into
 * @returns {T}
 */
function longer(array, into) {
  into.set(array);
  return into;
}

module.exports = { createHearing, longer };
