// @ts-check
'use strict';

/**
 * Learns from people's readings: offsets of its devices, which of them are silent, and where its plan is worth something.
 * Pure.
 * @typedef {import('../locator').LearnedVersion} LearnedVersion
 * @typedef {import('../locator').Sample} Sample
 * @typedef {import('../building').Building} Building
 */

const PEOPLE = 20; // more make no difference
const QUARTERS = 400;
const QUARTER_MS = 15 * 60_000;

class Learning {
  constructor() {
    this.offsets = new Offsets();
    this.planWorth = new PlanWorth();
    this.silence = new Silence();
    /** @type {Set<string>} */
    this.who = new Set();
    this.peopleBefore = 0;
    /** Quarters of an hour in which somebody was heard. @type {Set<number>} */
    this.quarters = new Set();
    this.note = this.note.bind(this);
    this.bias = this.bias.bind(this);
  }

  /** @param {Sample} sample */
  note(sample) {
    if (this.who.size < PEOPLE) this.who.add(sample.staff_id);
    if (this.quarters.size < QUARTERS) this.quarters.add(Math.floor(sample.ms / QUARTER_MS));
    this.offsets.note(sample);
    this.planWorth.note(sample);
    this.silence.note(sample);
  }

  /** How many were heard, as far as is known. */
  people() { return Math.max(this.who.size, this.peopleBefore); }

  hours() { return (this.quarters.size * QUARTER_MS) / 3_600_000; }

  /**
   * How much stronger than others a device hears people, or is heard, dB; null: too few readings yet.
   * @param {'gateway'|'beacon'} kind @param {string} id
   */
  bias(kind, id) { return this.offsets.bias(`${kind} ${id}`); }

  /**
   * Forgets what is no more in the building: else the median would be that of devices that are gone.
   * @param {Building} building
   */
  leave({ gateways, beacons, rooms, levels }) {
    const isGone = (/** @type {string} */ key) => {
      const [kind = '', ...id] = key.split(' ');
      return !(kind === 'gateway' ? gateways : beacons).has(id.join(' '));
    };
    this.offsets.leave(isGone);
    this.silence.leave(isGone);
    this.planWorth.leave(isGone, (room) => !rooms.has(room), (level) => !levels.some(({ id }) => id === level));
  }

  /**
   * The present knowledge. What the building file states of a device goes before what is learned.
   * @param {Building} building @param {boolean} isDue whether offsets are learned anew @param {LearnedVersion} [last] in use
   * @returns {Omit<LearnedVersion, 'from_ms'>}
   */
  version(building, isDue, last) {
    this.leave(building);
    const { gateways, beacons } = building;
    const offsets = !isDue ? last?.offsets ?? [] : this.offsets.all().filter(({ kind, id, offset_db: db }) => {
      const device = kind === 'gateway' ? gateways.get(id) : beacons.get(id);
      return db !== 0 && device && (kind === 'gateway' ? gateways.get(id)?.rssi_offset : beacons.get(id)?.tx) === undefined;
    });
    const silent = this.silence.silent().map((key) => {
      const [kind = '', ...id] = key.split(' ');
      return { kind: /** @type {'gateway'|'beacon'} */ (kind), id: id.join(' ') };
    });
    return { offsets, silent, plan: this.planWorth.plan() };
  }

  /** Of data that names nobody. */
  save() {
    const { offsets, planWorth, silence, quarters } = this;
    const learned = { offsets: offsets.save(), plan_worth: planWorth.save(), silence: silence.save() };
    return { v: 2, ...learned, people: this.people(), quarters: [...quarters] };
  }

  /** @param {any} saved @throws {Error} where it is damaged or of another release */
  restore(saved) {
    if (saved.v !== 2) throw new Error('it is of another release');
    if (!Number.isFinite(saved.people) || !Array.isArray(saved.quarters)) throw new TypeError('it does not say of whom and when it is');
    const [offsets, planWorth, silence] = [new Offsets(), new PlanWorth(), new Silence()];
    offsets.restore(saved.offsets);
    planWorth.restore(saved.plan_worth);
    silence.restore(saved.silence);
    // all of it or nothing
    Object.assign(this, { offsets, planWorth, silence, peopleBefore: saved.people, quarters: new Set(saved.quarters) });
  }
}

/**
 * By how much each gateway hears people stronger than others do, and each beacon is heard: the mean level of people's visits near it
 * against the median of all devices. Distances alone spread these means a little, so a building whose means differ no more than
 * that and chance is left as it is, and one whose means differ far more is corrected for most of it. Neither positions nor
 * true rooms are needed. Pure.
 * @typedef {import('../locator').Offset} Offset
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

  /** A device that stands at another place now begins anew. @param {Visit} visit */
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

/**
 * Whether a measured plan names the rooms of a level better than loudness alone, judged by what people's readings say of both: the
 * level of each device in each room is learned twice, with the rooms that either way names, and each new reading is predicted by both
 * before
 * it is learned from (A. P. Dawid, "The Prequential Approach", 1984). Rooms that are named at the wrong moments mix the levels of two rooms
 * and predict badly. Pure.
 * @typedef {{readings: number, dbm: number}} Mean
 * @typedef {{nats: number, ms: number, samples: number, differ: number}} Worth nats: by how much the plan predicts better, of late; differ:
 *   samples in which the two name different rooms
 */

const ROOM_SPREAD_DB = 6; // standard deviation of readings within a room
const FURTHEST_DB = 20; // a larger error counts no more
const PRIOR_READINGS = 3; // a room's mean begins as if so many readings had the device's mean
const READINGS = 500; // of a mean at most, so that it follows what changes
const READINGS_ALIKE = 4; // so many readings in a row say the same
const MEMORY_MS = 6 * 3_600_000;
const MOST_NATS = 50; // more make no difference
const SPEAKS_NATS = 3; // odds of 20 to 1; stops speaking below 0

class PlanWorth {
  constructor() {
    /** Of loudness alone, and with the plan: by room and device. @type {[Map<string, Mean>, Map<string, Mean>]} */
    this.rooms = [new Map(), new Map()];
    /** @type {Map<string, Mean>} */
    this.devices = new Map();
    /** @type {Map<string, Worth>} */
    this.levels = new Map();
    /** @type {Set<string>} */
    this.speaks = new Set();
  }

  /** @param {Sample} sample */
  note({ ms, level, room, advised, devices }) {
    let worth = this.levels.get(level);
    if (!worth) this.levels.set(level, worth = { nats: 0, ms, samples: 0, differ: 0 });
    worth.nats *= Math.exp(-Math.max(0, ms - worth.ms) / MEMORY_MS);
    worth.ms = Math.max(worth.ms, ms);
    worth.samples += 1;
    if (room !== advised) worth.differ += 1;
    for (const { kind, id, rssi } of devices) {
      const device = meanAt(this.devices, `${kind} ${id}`);
      const [ofRule, ofPlan] = this.rooms;
      const betterDb = squaredError(meanAt(ofRule, `${room} ${kind} ${id}`), device, rssi) - squaredError(meanAt(ofPlan, `${advised} ${kind} ${id}`), device, rssi);
      learn(device, rssi);
      worth.nats += betterDb / (2 * ROOM_SPREAD_DB ** 2 * READINGS_ALIKE);
    }
    worth.nats = Math.max(-MOST_NATS, Math.min(MOST_NATS, worth.nats));
    if (worth.nats > SPEAKS_NATS) this.speaks.add(level);
    else if (worth.nats < 0) this.speaks.delete(level);
  }

  /** Levels whose plan speaks. @returns {string[]} */
  plan() { return [...this.speaks].sort(); }

  /**
   * @param {(key: string) => boolean} isGone of a device @param {(room: string) => boolean} isRoomGone
   * @param {(level: string) => boolean} isLevelGone
   */
  leave(isGone, isRoomGone, isLevelGone) {
    for (const key of this.devices.keys()) if (isGone(key)) this.devices.delete(key);
    for (const map of this.rooms) {
      for (const key of map.keys()) {
        const at = key.indexOf(' ');
        if (isRoomGone(key.slice(0, at)) || isGone(key.slice(at + 1))) map.delete(key);
      }
    }
    for (const level of [...this.levels.keys(), ...this.speaks]) {
      if (!isLevelGone(level)) continue;
      this.levels.delete(level);
      this.speaks.delete(level);
    }
  }

  save() {
    return { rooms: this.rooms.map((one) => [...one]), devices: [...this.devices], levels: [...this.levels], speaks: [...this.speaks] };
  }

  /** @param {any} saved @throws {TypeError} where it is damaged */
  restore({ rooms, devices, levels, speaks }) {
    this.rooms = [new Map(rooms[0]), new Map(rooms[1])];
    this.devices = new Map(devices);
    this.levels = new Map(levels);
    this.speaks = new Set(speaks);
    const means = [...this.rooms, this.devices].flatMap((its) => [...its.values()]);
    const known = [...this.levels.values()];
    const numbers = [...means.flatMap(({ readings, dbm }) => [readings, dbm]), ...known.flatMap(({ nats, ms }) => [nats, ms])];
    if (!numbers.every(Number.isFinite)) throw new TypeError('a mean or a level has no numbers');
  }
}

/** @param {Map<string, Mean>} means @param {string} key */
function meanAt(means, key) {
  let mean = means.get(key);
  if (!mean) means.set(key, mean = { readings: 0, dbm: 0 });
  return mean;
}

/**
 * Predicts a reading, then learns from it.
 * @param {Mean} mean of the device in a room @param {Mean} device anywhere @param {number} rssi
 */
function squaredError(mean, device, rssi) {
  const expected = (mean.dbm * mean.readings + device.dbm * PRIOR_READINGS) / (mean.readings + PRIOR_READINGS);
  learn(mean, rssi);
  return device.readings === 0 ? 0 : Math.min(FURTHEST_DB, Math.abs(rssi - expected)) ** 2;
}

/** @param {Mean} mean @param {number} rssi */
function learn(mean, rssi) {
  mean.readings = Math.min(READINGS, mean.readings + 1);
  mean.dbm += (rssi - mean.dbm) / mean.readings;
}

/**
 * Devices that are silent though they should be heard: others that usually come with them are heard all the time. Such a device does not
 * say that nobody is near it. Pure.
 * @typedef {{moments: number, shares: Map<string, number>}} Company of the loudest device: how often each other one is heard with it
 */

const MOMENTS = 300; // of a company at most, so that it follows what changes
const KNOWN_MOMENTS = 30; // before, a company says nothing
const COMPANIONS = 12; // of each, those heard most often
const MOMENTS_ALIKE = 10; // so many moments in a row say the same
const DEAD_NATS = 10; // chance alone would do this once in 20,000 times
const MISSES_AT_MOST = 0.99; // nobody is heard always

class Silence {
  constructor() {
    /** @type {Map<string, Company>} */
    this.companies = new Map();
    /** By device: how improbable its silence is, nats. @type {Map<string, number>} */
    this.missed = new Map();
  }

  /** @param {Sample} sample */
  note({ devices }) {
    const [loudest] = [...devices].sort((a, b) => b.rssi - a.rssi);
    if (!loudest) return;
    const heard = new Set(devices.map(({ kind, id }) => `${kind} ${id}`));
    for (const key of heard) this.missed.delete(key);
    const first = `${loudest.kind} ${loudest.id}`;
    let company = this.companies.get(first);
    if (!company) this.companies.set(first, company = { moments: 0, shares: new Map() });
    company.moments = Math.min(MOMENTS, company.moments + 1);
    for (const [key, share] of company.shares) {
      const isHeard = heard.has(key);
      const isDead = this.isDead(key);
      if (!isHeard && company.moments >= KNOWN_MOMENTS) {
        this.missed.set(key, (this.missed.get(key) ?? 0) - Math.log(1 - Math.min(MISSES_AT_MOST, share)) / MOMENTS_ALIKE);
      }
      // what is known of a dead device is kept, so that it is known when it is back
      if (!isDead) company.shares.set(key, share + (Number(isHeard) - share) / company.moments);
    }
    for (const key of heard) {
      if (key === first || company.shares.has(key) || company.shares.size >= COMPANIONS) continue;
      company.shares.set(key, 1 / company.moments);
    }
  }

  /** @param {string} key */
  isDead(key) { return (this.missed.get(key) ?? 0) > DEAD_NATS; }

  /** Keys of the silent devices. @returns {string[]} */
  silent() { return [...this.missed.keys()].filter((key) => this.isDead(key)).sort(); }

  /** @param {(key: string) => boolean} isGone of a device */
  leave(isGone) {
    for (const map of [this.companies, this.missed, ...[...this.companies.values()].map(({ shares }) => shares)]) {
      for (const key of map.keys()) if (isGone(key)) map.delete(key);
    }
  }

  save() {
    return { companies: [...this.companies].map(([key, { moments, shares }]) => [key, moments, [...shares]]), missed: [...this.missed] };
  }

  /** @param {any} saved @throws {TypeError} where it is damaged */
  restore({ companies, missed }) {
    this.companies = new Map(companies.map((/** @type {any} */ [key, moments, shares]) => [key, { moments, shares: new Map(shares) }]));
    this.missed = new Map(missed);
    const companyNumbers = [...this.companies.values()].flatMap(({ moments, shares }) => [moments, ...shares.values()]);
    if (![...companyNumbers, ...this.missed.values()].every(Number.isFinite)) throw new TypeError('a company has no numbers');
  }
}

module.exports = { Learning, Offsets, PlanWorth, Silence };
