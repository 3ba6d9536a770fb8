// @ts-check
'use strict';

const { longer, slotsFor } = require('./slots');

/**
 * What is remembered of a person's readings. Of each of the strongest devices: its level of late, averaged over `hearingS` windows (or
 * over `gaps` of its gaps where it is heard more rarely than in each window), and its level since they moved the last time,
 * which evens out more. People live in slots of shared arrays.
 * @typedef {ReturnType<typeof createHearing>} Hearing
 * @typedef {{count: number, sources: Int32Array, levels: Float64Array, readings: Float64Array, ages: Float64Array}} Remembered
 *   the first `count` of each: index into the radio's sources, dBm, how many readings that is the mean of, age in seconds
 * @param {import('./constants').Settings} settings
 * @param {number} beacons sources below this are beacons, the others gateways
 * @param {ArrayLike<number>} [windowsS] how long each one's windows are, seconds
 */
function createHearing(settings, beacons, windowsS = []) {
  const { remembered, hearingS, fadingDb, gaps, fadesOut, lastingAtMost, movedSigma, wholeReadings } = settings;
  let source = new Uint16Array(0);
  let level = new Int16Array(0); // of late, in 1 / PARTS dBm
  let weight = new Uint8Array(0); // readings, faded, at heardAt, in 1 / SHARES
  let lasting = new Int16Array(0); // level since they moved
  let lastingWeight = new Uint8Array(0);
  let gap = new Uint8Array(0); // mean time between two readings, in 1 / TENTHS s
  let jumped = new Int8Array(0); // 1 or -1 where the last reading was far above or below
  let heardAt = new Uint32Array(0); // in 1 / HUNDREDTHS s, the lowest 32 bits of it: 497 days
  let most = new Uint8Array(0); // devices in one message, by slot
  /** @type {Remembered} */
  const all = {
    count: 0, sources: new Int32Array(remembered), levels: new Float64Array(remembered), readings: new Float64Array(remembered),
    ages: new Float64Array(remembered),
  };

  /** Somebody new in this slot. @param {number} slot */
  function open(slot) {
    const end = (slot + 1) * remembered;
    if (end > source.length) {
      const slots = slotsFor(slot);
      const length = slots * remembered;
      source = longer(source, new Uint16Array(length));
      level = longer(level, new Int16Array(length));
      weight = longer(weight, new Uint8Array(length));
      lasting = longer(lasting, new Int16Array(length));
      lastingWeight = longer(lastingWeight, new Uint8Array(length));
      gap = longer(gap, new Uint8Array(length));
      jumped = longer(jumped, new Int8Array(length));
      heardAt = longer(heardAt, new Uint32Array(length));
      most = longer(most, new Uint8Array(slots));
    }
    weight.fill(0, slot * remembered, end);
    most[slot] = 0;
  }

  /** How long windows are; shorter ones count like those of a second. @param {number} which source */
  const windowOf = (which) => Math.max(WINDOW_S, windowsS[which] ?? WINDOW_S);

  /** Seconds since an entry was heard. @param {number} k @param {number} ms */
  const ageOf = (k, ms) => ((stampOf(ms) - heardAt[k]) >>> 0) / HUNDREDTHS;

  /** How many readings an entry is still worth; 0 when it is forgotten. @param {number} k @param {number} ms */
  function worth(k, ms) {
    if (weight[k] === 0) return 0;
    const ageS = ageOf(k, ms);
    const windowS = windowOf(source[k]);
    const overS = Math.max((hearingS * windowS) / WINDOW_S, gaps * (gap[k] / TENTHS - windowS));
    return ageS > fadesOut * overS ? 0 : (weight[k] / SHARES) * Math.exp(-ageS / overS);
  }

  /** Where a device is remembered; where it is not, a free entry or the weakest. @param {number} slot @param {number} which
   * @param {number} ms */
  function entryOf(slot, which, ms) {
    let found = -1;
    let weakest = Infinity;
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
      if (weight[k] > 0 && source[k] === which) return k;
      const value = worth(k, ms) === 0 ? -Infinity : level[k];
      if (value < weakest) [found, weakest] = [k, value];
    }
    return found;
  }

  /** One reading into its entry. @param {number} k @param {number} which source @param {number} rssi dBm @param {number} ms */
  function remember(k, which, rssi, ms) {
    let kept = worth(k, ms);
    if (weight[k] === 0 || source[k] !== which) {
      if (kept > 0 && level[k] > rssi * PARTS) return; // all that is remembered is stronger
      source[k] = which;
      gap[k] = Math.round(windowOf(which) * TENTHS);
      jumped[k] = 0;
      kept = 0;
    } else {
      gap[k] += Math.round(GAP_SHARE * (Math.min(LONGEST_GAP_S, ageOf(k, ms)) * TENTHS - gap[k]));
      const offDb = rssi - level[k] / PARTS;
      const jump = Math.abs(offDb) > 2 * fadingDb ? Math.sign(offDb) : 0;
      // twice is no fading: they moved, and what was heard before counts less
      if (jump !== 0 && jump === jumped[k]) kept *= (2 * fadingDb / offDb) ** 2;
      jumped[k] = jump;
    }
    const lasts = kept === 0 ? 0 : Math.min(lastingWeight[k] / SHARES, lastingAtMost);
    level[k] = Math.round((kept * level[k] + rssi * PARTS) / (kept + 1));
    lasting[k] = Math.round((lasts * lasting[k] + rssi * PARTS) / (lasts + 1));
    weight[k] = Math.min(255, Math.round((kept + 1) * SHARES));
    lastingWeight[k] = Math.min(255, Math.round((lasts + 1) * SHARES));
    heardAt[k] = stampOf(ms);
  }

  /**
   * What a phone left out that sends its strongest beacons only: weaker than the weakest that it sent. Such a beacon counts with the level
   * to be expected of it then (the mean of a truncated normal distribution), otherwise only its best readings would be remembered. It is
   * not heard for all that: left out for long, it is forgotten.
   * @param {number} slot @param {number} rssi of the weakest, dBm @param {number} ms
   */
  function weaken(slot, rssi, ms) {
    const now = stampOf(ms);
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
      const kept = source[k] >= beacons || heardAt[k] === now ? 0 : worth(k, ms);
      const below = (rssi - level[k] / PARTS) / fadingDb; // standard deviations
      if (kept === 0 || below > 1) continue;
      const expected = level[k] - PARTS * fadingDb * fromBelow(below);
      const lasts = lastingWeight[k] / SHARES;
      level[k] = Math.round((kept * level[k] + expected) / (kept + 1));
      lasting[k] = Math.round((lasts * lasting[k] + expected) / (lasts + 1));
    }
  }

  /** Whether what is heard of late differs from what was heard before (a test of chi-squared). @param {number} slot @param {number} ms */
  function hasMoved(slot, ms) {
    let squares = 0;
    let many = 0;
    for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
      if (lastingWeight[k] < 1.5 * weight[k] || worth(k, ms) === 0) continue;
      const offDb = (level[k] - lasting[k]) / PARTS;
      squares += Math.min(9, (offDb * offDb) / (0.5 * fadingDb * fadingDb * SHARES * (1 / weight[k] - 1 / lastingWeight[k])));
      many += 1;
    }
    return many > 0 && squares - many > movedSigma * Math.sqrt(2 * many);
  }

  return {
    open,
    /** @returns {import('./slots').Arrays} */
    arrays: () => [[source, remembered], [level, remembered], [weight, remembered], [lasting, remembered], [lastingWeight, remembered],
      [gap, remembered], [jumped, remembered], [heardAt, remembered], [most, 1]],
    /**
     * Take what was heard.
     * @param {number} slot @param {import('./sightings').Heard} heard strongest first @param {number} ms
     * @returns {boolean} whether they moved
     */
    add(slot, { kind, sources, rssis }, ms) {
      for (let n = 0; n < sources.length; n += 1) remember(entryOf(slot, sources[n], ms), sources[n], rssis[n], ms);
      if (kind === 'phone') {
        most[slot] = Math.max(most[slot], Math.min(255, sources.length));
        if (sources.length >= Math.max(wholeReadings, most[slot])) weaken(slot, rssis[rssis.length - 1], ms);
      }
      const moved = hasMoved(slot, ms);
      if (moved) {
        for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
          lasting[k] = level[k];
          lastingWeight[k] = weight[k];
        }
      }
      return moved;
    },
    /** What is remembered at a moment. @param {number} slot @param {number} ms @returns {Remembered} valid until the next call */
    recall(slot, ms) {
      all.count = 0;
      for (let k = slot * remembered; k < (slot + 1) * remembered; k += 1) {
        const readings = worth(k, ms);
        if (readings === 0) continue;
        all.sources[all.count] = source[k];
        all.levels[all.count] = lasting[k] / PARTS;
        all.readings[all.count] = readings * Math.max(1, lastingWeight[k] / weight[k]);
        all.ages[all.count++] = ageOf(k, ms);
      }
      return all;
    },
  };
}

const PARTS = 100;
const SHARES = 8;
const TENTHS = 10;
const HUNDREDTHS = 100;
const WINDOW_S = 1; // of a gateway that says nothing else, and of a phone that moves: who is heard in each has gaps of that
const GAP_SHARE = 0.2; // of a gap goes into the mean gap
const LONGEST_GAP_S = 20; // what is heard more rarely than this was away

/**
 * How far the mean of a standard normal variable that is below `z` lies below 0: the inverse Mills ratio, by the bound of Pollak (A remark
 * on "Elementary inequalities for Mills' ratio", 1956), which is exact at 0.
 * @param {number} z
 */
const fromBelow = (z) => (Math.sqrt(z * z + 8 / Math.PI) - z) / 2;

/** @param {number} ms */
const stampOf = (ms) => Math.floor((ms * HUNDREDTHS) / 1000) >>> 0;

module.exports = { createHearing };
