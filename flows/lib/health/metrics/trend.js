// @ts-check
'use strict';

const { grown } = require('./grown');

/**
 * The figures of the last quarter of an hour, one sample a heartbeat: what the system page draws and counts.
 * @typedef {Record<string, number> & {ts: number}} Sample flat figures by name, and when they were read, epoch ms
 * @typedef {ReturnType<typeof createTrend>} Trend
 */

const KEPT_MS = 15 * 60_000;
/** One every five seconds, and some more: a clock that is set must not fill the memory. */
const MOST = 200;

function createTrend() {
  /** @type {Sample[]} */
  let samples = [];
  return {
    /** @param {Sample} sample */
    add(sample) {
      samples = [...samples.filter(({ ts }) => ts < sample.ts && sample.ts - ts <= KEPT_MS), sample].slice(-MOST);
    },
    /** Oldest first. @returns {readonly Sample[]} */
    samples: () => samples,
  };
}

/**
 * How fast a counter grew, a value for each sample.
 * @param {readonly Sample[]} samples
 * @param {string} name
 * @param {(sample: Sample) => number|undefined} [timeOf] when it was counted, epoch ms
 * @returns {(number|null)[]} a second; null: not known
 */
function rates(samples, name, timeOf = ({ ts }) => ts) {
  /** @type {{ms: number, count: number}|null} */
  let before = null;
  return samples.map((sample) => {
    const [ms, count] = [timeOf(sample), sample[name]];
    if (ms === undefined || count === undefined || ms === before?.ms) return null;
    const rate = before && ms > before.ms ? (grown(before.count, count) * 1000) / (ms - before.ms) : null;
    before = { ms, count };
    return rate;
  });
}

/**
 * How much a counter has grown within the samples.
 * @param {readonly Sample[]} samples
 * @param {string} name
 * @param {boolean} ours one of our own counters is 0 where it is not told, one of others not known
 */
function growth(samples, name, ours) {
  /** @type {number|undefined} */
  let before;
  let sum = 0;
  for (const sample of samples) {
    const count = sample[name] ?? (ours ? 0 : undefined);
    if (count === undefined) continue;
    if (before !== undefined) sum += grown(before, count);
    before = count;
  }
  return sum;
}

/**
 * The value up to which a share of all lies.
 * @param {number[]} values
 * @param {number} share 0 … 1
 * @returns {number|null} null: there is none
 */
function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

module.exports = { createTrend, rates, growth, percentile, KEPT_MS };
