// @ts-check
'use strict';

/**
 * Whether a measured plan names the rooms of a level better than loudness alone, judged by what people's readings say of both: the
 * level of each device in each room is learned twice, with the rooms that either way names, and each new reading is predicted by both
 * before
 * it is learned from (A. P. Dawid, "The Prequential Approach", 1984). Rooms that are named at the wrong moments mix the levels of two rooms
 * and predict badly. Pure.
 * @typedef {import('../../locator').Sample} Sample
 * @typedef {{readings: number, dbm: number}} Mean
 * @typedef {{nats: number, ms: number, samples: number, differ: number}} Worth nats: by how much the plan predicts better, of late; differ:
 *   samples in which the two name different rooms
 */

const SPREAD_DB = 6; // standard deviation of readings within a room
const FURTHEST_DB = 20; // a larger error counts no more
const PRIOR_READINGS = 3; // a room's mean begins as if so many readings had the device's mean
const READINGS = 500; // of a mean at most, so that it follows what changes
const ALIKE = 4; // so many readings in a row say the same
const MEMORY_MS = 6 * 3_600_000;
const NATS = 50; // more make no difference
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
      worth.nats += betterDb / (2 * SPREAD_DB ** 2 * ALIKE);
    }
    worth.nats = Math.max(-NATS, Math.min(NATS, worth.nats));
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

module.exports = { PlanWorth };
