// @ts-check
'use strict';

const { counterIncrease } = require('./counter-increase');

/**
 * The figures of the last quarter of an hour, one sample a heartbeat, for the system page.
 * @typedef {Record<string, number> & {ts: number}} Sample flat figures by name; ts: when they were read, epoch ms
 * @typedef {ReturnType<typeof createTrend>} Trend
 */

const KEPT_MS = 15 * 60_000;
/** One every five seconds and some more; a clock that jumps must not fill the memory. */
const SAMPLES_MAX = 200;

function createTrend() {
  /** @type {Sample[]} */
  let samples = [];
  return {
    /** @param {Sample} sample */
    add(sample) {
      samples = [...samples.filter(({ ts }) => ts < sample.ts && sample.ts - ts <= KEPT_MS), sample].slice(-SAMPLES_MAX);
    },
    /** Oldest first. @returns {readonly Sample[]} */
    samples: () => samples,
  };
}

/**
 * Rate of a counter, a value for each sample.
 * @param {readonly Sample[]} samples
 * @param {string} name
 * @param {(sample: Sample) => number|undefined} [timeOf] when it was counted, epoch ms
 * @returns {(number|null)[]} per second; null: not known
 */
function rates(samples, name, timeOf = ({ ts }) => ts) {
  /** @type {{ms: number, count: number}|null} */
  let before = null;
  return samples.map((sample) => {
    const [ms, count] = [timeOf(sample), sample[name]];
    if (ms === undefined || count === undefined || ms === before?.ms) return null;
    const rate = before && ms > before.ms ? (counterIncrease(before.count, count) * 1000) / (ms - before.ms) : null;
    before = { ms, count };
    return rate;
  });
}

/**
 * Increase of a counter within the samples.
 * @param {readonly Sample[]} samples
 * @param {string} name
 * @param {boolean} isOwn a missing value of our own counters is 0, of external counters unknown
 */
function growth(samples, name, isOwn) {
  /** @type {number|undefined} */
  let before;
  let sum = 0;
  for (const sample of samples) {
    const count = sample[name] ?? (isOwn ? 0 : undefined);
    if (count === undefined) continue;
    if (before !== undefined) sum += counterIncrease(before, count);
    before = count;
  }
  return sum;
}

/**
 * Percentile of values (nearest rank).
 * @param {number[]} values
 * @param {number} share 0 … 1
 * @returns {number|null} null: no values
 */
function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

module.exports = { createTrend, rates, growth, percentile, KEPT_MS };
