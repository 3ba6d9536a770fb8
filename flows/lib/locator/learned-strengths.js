// @ts-check
'use strict';

const { longer, slotsFor } = require('./slots');

/**
 * How much stronger or weaker each person's tag or phone is than its calibrated power says, in dB: learned from what is heard,
 * by a Kalman filter (R. E. Kalman, "A New Approach to Linear Filtering and Prediction Problems", 1960) whose state is one
 * number that drifts slowly. People live in slots of shared arrays.
 * @typedef {ReturnType<typeof createLearnedStrengths>} LearnedStrengths
 * @typedef {{meanDb: number, variance: number}} Strength
 * @param {import('./constants').Settings} settings
 */
function createLearnedStrengths({ levelDb, carriedDb, levelS, levelDriftDb }) {
  const carried = carriedDb ** 2;
  let mean = new Float32Array(0);
  let variance = new Float32Array(0);

  return {
    /** Somebody in this slot. @param {number} slot @param {Strength} [known] where it was learned before */
    open(slot, known = { meanDb: 0, variance: levelDb ** 2 }) {
      if (slot >= mean.length) {
        const length = slotsFor(slot);
        mean = longer(mean, new Float32Array(length));
        variance = longer(variance, new Float32Array(length));
      }
      mean[slot] = known.meanDb;
      variance[slot] = known.variance;
    },
    /** @returns {import('./slots').Arrays} */
    arrays: () => [[mean, 1], [variance, 1]],
    /** @param {number} slot @returns {Strength} */
    of: (slot) => ({ meanDb: mean[slot], variance: variance[slot] }),
    /** @param {number} slot dB */
    meanOf: (slot) => mean[slot],
    /** Variance of what moves all readings at once, dB²: what is not known of the strength, and how it is carried. @param {number} slot */
    commonOf: (slot) => carried + variance[slot],
    /**
     * Learn from one moment.
     * @param {number} slot @param {number} seconds since the last time
     * @param {number} offDb by how much the readings are above what was expected, shrunk towards 0 by `commonOf`
     * @param {number} readingVariance of that, before it was shrunk @param {number} placeVariance of it over the places somebody may be at
     */
    learn(slot, seconds, offDb, readingVariance, placeVariance) {
      const common = carried + variance[slot];
      variance[slot] = Math.min(levelDb ** 2, variance[slot] + levelDriftDb ** 2 * seconds);
      const observed = (readingVariance + carried + placeVariance) * Math.max(1, levelS / Math.max(seconds, 0.5));
      const gain = variance[slot] / (variance[slot] + observed);
      mean[slot] += gain * offDb * (1 + readingVariance / common);
      variance[slot] *= 1 - gain;
    },
  };
}

module.exports = { createLearnedStrengths };
