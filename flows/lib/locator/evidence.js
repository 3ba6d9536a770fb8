// @ts-check
'use strict';

/**
 * How well cells explain what was heard and what was not. Works on `mass`, the probability of each cell.
 * @param {import('./radio').Radio} radio
 * @param {import('./tuning').Tuning} tuning
 * @param {Float64Array} mass by cell
 * @param {(source: number, nowMs: number) => boolean} listening
 */
function createEvidence(radio, tuning, mass, listening) {
  const variance = tuning.spreadDb ** 2;
  const [common, facing] = [tuning.commonDb, tuning.facingDb].map((db) => variance / Math.max(db, 0.01) ** 2);
  const logs = new Float64Array(mass.length);
  /** What was heard, for the round at hand. @type {import('./radio').Source[]} */
  const heard = [];
  const level = new Float64Array(radio.sources.length); // of each: means and readings alike
  const quietAt = quietTable(tuning);
  /** Of each source, in which round it was last found to be heard (or out), and to be silent. */
  const heardIn = new Uint32Array(radio.sources.length);
  const silentIn = new Uint32Array(radio.sources.length);
  let round = 0;

  /**
   * Readings are normal around what is expected in a cell, and share three unknowns, normal as well: how strong the tag or
   * phone is at this moment, and which way its carrier faces (east and north: the body takes more from behind). With
   * residuals r and the three columns U (1, east, north of each source), log p = -(r·r - (Uᵀr)ᵀ M⁻¹ (Uᵀr)) / 2s² - log|M| / 2,
   * M = UᵀU + s² · diag(1 / variances) (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, A.3).
   * Leaves `mass` normalised.
   * @param {Int32Array} at cells @param {number} count of them @param {number[]} sources @param {number[]} rssis of each, dBm
   */
  function weigh(at, count, sources, rssis) {
    const many = sources.length;
    for (let k = 0; k < many; k += 1) {
      heard[k] = radio.sources[sources[k]];
      level[k] = rssis[k];
    }
    let best = -Infinity;
    for (let n = 0; n < count; n += 1) {
      const c = at[n];
      let rr = 0;
      let r0 = 0;
      let r1 = 0;
      let r2 = 0;
      let m01 = 0;
      let m02 = 0;
      let m11 = facing;
      let m12 = 0;
      let m22 = facing;
      for (let k = 0; k < many; k += 1) {
        const { first, expected, east, north } = heard[k];
        const place = c - first;
        const known = place >= 0 && place < expected.length;
        const r = level[k] - (known ? expected[place] : tuning.weakestDbm);
        const x = known ? east[place] : 0;
        const y = known ? north[place] : 0;
        rr += r * r;
        r0 += r;
        r1 += r * x;
        r2 += r * y;
        m01 += x;
        m02 += y;
        m11 += x * x;
        m12 += x * y;
        m22 += y * y;
      }
      const m00 = many + common;
      const c00 = m11 * m22 - m12 * m12; // cofactors of M, which is symmetric
      const c01 = m02 * m12 - m01 * m22;
      const c02 = m01 * m12 - m02 * m11;
      const c11 = m00 * m22 - m02 * m02;
      const c12 = m01 * m02 - m00 * m12;
      const c22 = m00 * m11 - m01 * m01;
      const det = m00 * c00 + m01 * c01 + m02 * c02;
      const shared = (r0 * (c00 * r0 + 2 * (c01 * r1 + c02 * r2)) + r1 * (c11 * r1 + 2 * c12 * r2) + c22 * r2 * r2) / det;
      logs[n] = Math.log(mass[c]) - (rr - shared) / variance / 2 - Math.log(det) / 2;
      if (logs[n] > best) best = logs[n];
    }
    let total = 0;
    for (let n = 0; n < count; n += 1) total += mass[at[n]] = Math.exp(logs[n] - best);
    for (let n = 0; n < count; n += 1) mass[at[n]] /= total;
  }

  /** Whether a source is silent in this round. @param {number} source @param {number} nowMs */
  function isSilent(source, nowMs) {
    if (silentIn[source] === round) return true;
    if (heardIn[source] === round) return false;
    (listening(source, nowMs) ? silentIn : heardIn)[source] = round;
    return silentIn[source] === round;
  }

  /**
   * A cell whose loudest sources were not heard is less likely.
   * @param {Int32Array} at @param {number} count
   * @param {'phone'|'gateway'} kind
   * @param {number[]} known sources that were heard
   * @param {number} thresholdDbm weaker ones may go unheard
   * @param {number} nowMs
   */
  function quiet(at, count, kind, known, thresholdDbm, nowMs) {
    round += 1;
    for (const source of known) heardIn[source] = round;
    const threshold = Math.round(thresholdDbm);
    const { who, dbm } = radio.loudest[kind];
    const most = tuning.quietSources;
    for (let n = 0; n < count; n += 1) {
      let logP = 0;
      for (let k = at[n] * most; k < (at[n] + 1) * most && who[k] >= 0; k += 1) {
        if (dbm[k] - threshold < -REACH_DB) break;
        const above = Math.max(dbm[k] - Math.max(threshold, radio.leastDbm[who[k]]), -REACH_DB);
        if (isSilent(who[k], nowMs)) logP += quietAt[Math.min(above, REACH_DB) + REACH_DB];
      }
      if (logP < 0) mass[at[n]] *= Math.exp(logP);
    }
  }

  return { weigh, quiet };
}

const REACH_DB = 40; // further above or below the threshold makes no difference

/**
 * Log probability that nothing is heard of a source that should be k - REACH_DB dB above the threshold.
 * @param {import('./tuning').Tuning} tuning
 */
function quietTable({ lostShare, quietSpreadDb }) {
  return Float64Array.from({ length: 2 * REACH_DB + 1 }, (_, k) =>
    Math.log(lostShare + (1 - lostShare) / (1 + Math.exp((1.702 * (k - REACH_DB)) / quietSpreadDb))));
}

module.exports = { createEvidence };
