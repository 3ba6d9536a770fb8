// @ts-check
'use strict';

const { SILENT_DBM } = require('./settings');

/**
 * What is remembered of a person's readings: of each device a mean level that fades, and how often devices are heard at all. That
 * is the scan period: 1 where every device is heard in each window, 3 for a phone that catches a third of its beacons in each.
 * Levels fade by it and evidence counts by it, so that few readings weigh as much as many.
 */
class Hearing {
  constructor() {
    /** By number; the others below are in the same order. @type {number[]} */
    this.sources = [];
    /** Sum of faded levels, dBm. @type {number[]} */
    this.sums = [];
    /** How many readings that is. @type {number[]} */
    this.counts = [];
    /** Of the newest reading, event time. @type {number[]} */
    this.ms = [];
    /** … and after how many scans that was. @type {number[]} */
    this.scanAt = [];
    this.scans = 0;
    this.period = 1;
    this.gaps = 3; // as if so many gaps of one scan had been
    /** Upper quartile of the strongest level of a scan, dBm; NaN: none yet. */
    this.usualDbm = NaN;
  }

  /**
   * @param {readonly number[]} sources strongest first @param {readonly number[]} rssis dBm
   * @param {number} ms event time @param {number} scans how many scans it took, at most 1
   * @param {boolean} isUsual whether a device stands where they are, so that the strongest level says what they usually hear
   * @param {import('./settings').Settings} settings
   */
  add(sources, rssis, ms, scans, isUsual, { smoothScans, gapScans, gapReadings, lostMs }) {
    this.scans += scans;
    this.forget(ms - lostMs);
    for (let n = 0; n < sources.length; n += 1) {
      let k = this.sources.indexOf(sources[n]);
      if (k < 0) {
        k = this.sources.push(sources[n]) - 1;
        this.sums.push(0);
        this.counts.push(0);
      } else {
        const gap = this.scans - this.scanAt[k];
        if (gap > 0 && gap <= gapScans) {
          this.gaps = Math.min(this.gaps + 1, gapReadings);
          this.period = Math.max(1, this.period + (gap - this.period) / this.gaps);
        }
        const kept = Math.exp((this.ms[k] - ms) / 1000 / (smoothScans * this.period));
        this.sums[k] *= kept;
        this.counts[k] *= kept;
      }
      this.sums[k] += rssis[n];
      this.counts[k] += 1;
      this.ms[k] = ms;
      this.scanAt[k] = this.scans;
    }
    if (sources.length > 0 && isUsual) {
      const strongest = this.#strongestOf(rssis[0], ms);
      if (Number.isNaN(this.usualDbm)) this.usualDbm = strongest;
      else this.usualDbm += Math.max(QUARTILE_STEP_DB, 1 / (1 + this.scans)) * scans * (strongest > this.usualDbm ? 3 : -1);
    }
  }

  /** Of a whole scan, since gateways report one after the other. @param {number} dbm strongest reading of now @param {number} ms */
  #strongestOf(dbm, ms) {
    for (let k = 0; k < this.ms.length; k += 1) if (ms - this.ms[k] < SCAN_MS && this.meanOf(k) > dbm) dbm = this.meanOf(k);
    return dbm;
  }

  /** Forgets devices that were not heard since then. @param {number} sinceMs */
  forget(sinceMs) {
    for (let k = this.ms.length - 1; k >= 0; k -= 1) {
      if (this.ms[k] >= sinceMs) continue;
      for (const list of [this.sources, this.sums, this.counts, this.ms, this.scanAt]) list.splice(k, 1);
    }
  }

  /** How many readings the mean of an entry is still worth. @param {number} k @param {number} ms @param {number} graceS of its device
   * @param {import('./settings').Settings} settings */
  worth(k, ms, graceS, { smoothScans }) {
    const silentS = (ms - this.ms[k]) / 1000 - graceS;
    return silentS <= 0 ? this.counts[k] : this.counts[k] * Math.exp(-silentS / (smoothScans * this.period));
  }

  /** Mean level of an entry, dBm. @param {number} k */
  meanOf(k) { return this.sums[k] / this.counts[k]; }

  /**
   * Level of an entry that sinks with silence, dBm.
   * @param {number} k @param {number} worth @param {import('./settings').Settings} settings
   */
  levelOf(k, worth, { silence }) { return (this.meanOf(k) * worth + SILENT_DBM * silence) / (worth + silence); }
}

const SCAN_MS = 1000;
const QUARTILE_STEP_DB = 0.02; // a scan, when many were heard: follows a change of some decibels in some minutes

module.exports = { Hearing };
