// @ts-check
'use strict';

/**
 * By how much each gateway hears people stronger than others do, and each beacon is heard: the mean level of people's visits near it
 * against the median of all devices. Distances alone spread these means a little, so a building whose means differ no more than
 * that and chance is left as it is, and one whose means differ far more is corrected for most of it. Neither positions nor
 * true rooms are needed. Pure.
 * @typedef {import('../../locator').Sample} Sample
 * @typedef {import('../../locator').Offset} Offset
 * @typedef {{kind: 'gateway'|'beacon', id: string, place: string, visits: number, dbm: number, variance: number}} Heard dbm, variance:
 *   of the
 *   means of visits
 * @typedef {{key: string, place: string, sinceMs: number, readings: number, sum: number}} Visit of one person, as one device has it
 */

const VISIT_MS = 60_000; // readings in so long a time say the same about a device
const SPREAD_DB = 4; // of the means, by distances alone: recordings of seven places have 2 to 5
const SHARPNESS = 2; // how soon more than that counts
const PRIOR_VARIANCE = 9; // dB², of visits: few of them may agree by chance
const CERTAINTY = 2; // visits of one person are not independent
const VISITS = 5000; // of a mean at most, so that it follows what changes
const SHOWN_VISITS = 5; // the mean of fewer may be chance
const DEVICES = 3; // fewer have no median
const BOUND_DB = 12; // more is a fault of the device

class Offsets {
  constructor() {
    /** @type {Map<string, Heard>} */
    this.devices = new Map();
    /** Visits that go on, by person and device. @type {Map<string, Visit>} */
    this.open = new Map();
    this.sweptMs = 0;
  }

  /** @param {Sample} sample */
  note({ staff_id: staffId, ms, devices }) {
    if (ms - this.sweptMs > VISIT_MS) this.sweep(ms);
    for (const { kind, id, place, rssi } of devices) {
      const key = `${kind} ${id}`;
      const pair = `${staffId} ${key}`;
      let visit = this.open.get(pair);
      if (visit && (ms - visit.sinceMs > VISIT_MS || visit.place !== place)) {
        this.#close(visit);
        visit = undefined;
      }
      if (!visit) this.open.set(pair, visit = { key, place, sinceMs: ms, readings: 0, sum: 0 });
      visit.readings += 1;
      visit.sum += rssi;
    }
  }

  /** Visits that are over count. @param {number} ms event time; Infinity: all of them */
  sweep(ms) {
    this.sweptMs = ms;
    for (const [pair, visit] of this.open) {
      if (ms - visit.sinceMs <= VISIT_MS) continue;
      this.#close(visit);
      this.open.delete(pair);
    }
  }

  /** What stands at another place now begins anew. @param {Visit} visit */
  #close({ key, place, readings, sum }) {
    let device = this.devices.get(key);
    if (device?.place !== place) {
      const [kind = '', ...id] = key.split(' ');
      this.devices.set(key, device = { kind: kind === 'gateway' ? 'gateway' : 'beacon', id: id.join(' '), place, visits: 0, dbm: 0, variance: 0 });
    }
    device.visits = Math.min(VISITS, device.visits + 1);
    const offDb = sum / readings - device.dbm;
    device.dbm += offDb / device.visits;
    device.variance += (offDb * (sum / readings - device.dbm) - device.variance) / device.visits;
  }

  /** @param {(key: string) => boolean} isGone of a device */
  leave(isGone) {
    for (const key of this.devices.keys()) if (isGone(key)) this.devices.delete(key);
    for (const [pair, { key }] of this.open) if (isGone(key)) this.open.delete(pair);
  }

  /** dB by which a device is off, whatever of it is corrected; null: too few visits. @param {string} key */
  bias(key) {
    const device = this.devices.get(key);
    const middle = this.#middleDbm();
    return device && device.visits >= SHOWN_VISITS && middle !== null ? Math.round((device.dbm - middle) * 10) / 10 : null;
  }

  /** Devices of which a second visit confirms the first. */
  #known() { return [...this.devices.values()].filter(({ visits }) => visits > 1); }

  /** Median of the means. */
  #middleDbm() {
    const means = this.#known().map(({ dbm }) => dbm).sort((a, b) => a - b);
    const [low, high] = [means[(means.length - 1) >> 1], means[means.length >> 1]];
    return means.length < DEVICES || low === undefined || high === undefined ? null : (low + high) / 2;
  }

  /** Whole decibels, as readings are. @returns {Offset[]} */
  all() {
    const known = this.#known();
    const middle = this.#middleDbm();
    if (middle === null) return [];
    const mean = known.reduce((sum, { dbm }) => sum + dbm, 0) / known.length;
    const between = known.reduce((sum, { dbm }) => sum + (dbm - mean) ** 2, 0) / (known.length - 1);
    const errors = known.map(({ variance, visits }) => (CERTAINTY * (variance + PRIOR_VARIANCE)) / visits);
    const chance = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    const share = Math.max(0, 1 - ((SPREAD_DB ** 2 + chance) / between) ** SHARPNESS);
    return known.map(({ kind, id, place, dbm }, n) => {
      const offDb = (share * (dbm - middle) * between) / (between + Number(errors[n]));
      return { kind, id, place, offset_db: Math.round(Math.max(-BOUND_DB, Math.min(BOUND_DB, offDb))) };
    });
  }

  /** Without the visits that go on, which would name people. */
  save() {
    const round = (/** @type {number} */ value) => Math.round(value * 100) / 100;
    return [...this.devices.values()].map((device) => ({ ...device, dbm: round(device.dbm), variance: round(device.variance) }));
  }

  /** @param {Heard[]} saved @throws {TypeError} where it is damaged */
  restore(saved) {
    this.devices = new Map(saved.map((device) => {
      if (![device.dbm, device.variance, device.visits].every(Number.isFinite)) throw new TypeError('a device has no numbers');
      return [`${device.kind} ${device.id}`, device];
    }));
  }
}

module.exports = { Offsets };
