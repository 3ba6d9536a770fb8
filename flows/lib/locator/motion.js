// @ts-check
'use strict';

/**
 * Whether somebody stands still: whoever does goes on being heard as before, whatever the reason for how they are heard.
 * Walls, furniture and the body make errors that last as long as nobody moves, so the same signals again are no further
 * evidence for a change of room; other signals are. A hidden Markov model of two states; people live in slots of shared
 * arrays, a mean and its weight for each of the `remembered` sources.
 * @typedef {ReturnType<typeof createMotion>} Motion
 * @param {import('./tuning').Tuning} tuning
 */
function createMotion({ remembered, rememberAtMost, noiseDb, changeDb, standS, walkS, forgetMs }) {
  const noise = noiseDb ** 2;
  const change = changeDb ** 2;
  let source = new Uint16Array(0);
  let mean = new Int16Array(0); // in 1 / PARTS dBm
  let weight = new Uint8Array(0); // in 1 / TENTHS readings
  let still = new Float32Array(0);

  /** Somebody new in this slot. @param {number} slot */
  function open(slot) {
    if (slot >= still.length) {
      const length = Math.ceil((slot + 1) * 1.125);
      still = longer(still, new Float32Array(length));
      source = longer(source, new Uint16Array(length * remembered));
      mean = longer(mean, new Int16Array(length * remembered));
      weight = longer(weight, new Uint8Array(length * remembered));
    }
    still[slot] = 0.5;
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
   * @returns {number} probability of standing still
   */
  function update(slot, { sources, rssis }, seconds) {
    if (seconds * 1000 > forgetMs) open(slot);
    const stood = still[slot];
    const prior = stood * Math.exp(-seconds / standS) + (1 - stood) * (1 - Math.exp(-seconds / walkS));
    let nats = 0; // log likelihood of "as before" against "changed"
    for (let n = 0; n < sources.length; n += 1) {
      const k = placeOf(slot, sources[n]);
      if (source[k] !== sources[n] || weight[k] < TENTHS) continue;
      const same = noise * (1 + TENTHS / weight[k]);
      const other = same + change;
      const residual = rssis[n] - mean[k] / PARTS;
      nats += (Math.log(other / same) - residual * residual * (1 / same - 1 / other)) / 2;
    }
    const odds = (prior / (1 - prior)) * Math.exp(Math.max(-MOST_NATS, Math.min(MOST_NATS, nats)));
    still[slot] = odds / (1 + odds);
    remember(slot, sources, rssis);
    return still[slot];
  }

  /** Means of what was heard since somebody stands. @param {number} slot @param {number[]} sources @param {number[]} rssis */
  function remember(slot, sources, rssis) {
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) weight[k] *= still[slot];
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

  return { open, update };
}

const MOST_NATS = 30;
const PARTS = 100;
const TENTHS = 10;

/**
 * @template {Uint8Array|Uint16Array|Int16Array|Float32Array} T
 * @param {T} array
 * @param {T} into
 * @returns {T}
 */
function longer(array, into) {
  into.set(array);
  return into;
}

module.exports = { createMotion };
