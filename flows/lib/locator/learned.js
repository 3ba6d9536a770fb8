// @ts-check
'use strict';

const { placementKey } = require('./model');

/**
 * What was learned of a building, as it was known at a time: offsets of devices, which are subtracted from readings, devices that
 * are silent though they should hear, and levels whose plan has shown its worth. Which version counts follows from the time of the reading
 * alone, so the same readings give the same rooms whenever they are located.
 * @typedef {import('../locator').LearnedVersion} LearnedVersion
 * @typedef {{offsets: Float32Array|null, silent: ReadonlySet<number>, plan: ReadonlySet<string>}} Known offsets: dB by source, null: none;
 *   silent: sources; plan: levels where the plan speaks
 * @param {import('./model').Model} model
 * @param {readonly LearnedVersion[]} versions ascending by time; may grow at the end
 * @param {boolean} usesOffsets
 * @returns {(ms: number) => Known} event time
 */
function createLearned({ sources, beacons, gateways }, versions, usesOffsets) {
  /** @type {WeakMap<LearnedVersion, Known>} */
  const known = new WeakMap();
  /** @param {{kind: 'beacon'|'gateway', id: string}} device */
  const numberOf = ({ kind, id }) => (kind === 'gateway' ? gateways : beacons).get(id) ?? -1;

  /** Of devices that stand where they were learned. @param {LearnedVersion} version @returns {Known} */
  function knownOf({ offsets, silent = [], plan = [] }) {
    const bySource = new Float32Array(sources.length);
    for (const offset of usesOffsets ? offsets : []) {
      const source = sources[numberOf(offset)];
      if (source && placementKey(source.device) === offset.place) bySource[source.number] = offset.offset_db;
    }
    return { offsets: bySource, silent: new Set(silent.map(numberOf)), plan: new Set(plan) };
  }

  return (ms) => {
    let at = versions.length - 1;
    while (at >= 0 && versions[at].from_ms > ms) at -= 1;
    if (at < 0) return NOTHING;
    const version = versions[at];
    let found = known.get(version);
    if (!found) known.set(version, found = knownOf(version));
    return found;
  };
}

/** @type {Known} */
const NOTHING = Object.freeze({ offsets: null, silent: new Set(), plan: new Set() });

/**
 * What people's readings say, for those who learn of devices and of the plan: a moment a second of some people, others every ten minutes.
 * @typedef {import('../locator').Sample} Sample
 * @typedef {import('./belief').Belief} Belief
 * @typedef {import('./person').Person} Person
 */
class Sampling {
  constructor() {
    /** @type {((sample: Sample) => void)|null} */
    this.listener = null;
    this.second = 0;
    this.people = 0;
    this.every = 1;
  }

  /** Whether somebody is among those at present. @param {Person} person @param {number} nowMs our clock */
  includes(person, nowMs) {
    if (this.listener === null) return false;
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) {
      this.every = Math.ceil(this.people / PEOPLE) || 1;
      this.second = second;
      this.people = 0;
    }
    if (person.seconds.at(-1)?.second !== Math.floor(person.ms / 1000)) this.people += 1;
    return (person.hash + Math.floor(second / SHIFT_S)) % this.every === 0;
  }

  /** Hands out a sample. @param {Person} person @param {number} ms @param {Belief} belief */
  take(person, ms, belief) {
    const sample = sampleOf(person, ms, belief);
    if (sample) this.listener?.(sample);
  }
}

const PEOPLE = 200; // more in a second add little
const SHIFT_S = 600;

/** @param {Person} person @param {number} ms @param {Belief} belief @returns {Sample|null} null: nothing is known yet */
function sampleOf({ id, hearing, trellises: [rule, advised = rule] }, ms, { model: { sources, rooms }, settings, around }) {
  const [room, advisedRoom] = [rule, advised].map((trellis) => rooms[trellis.rooms[trellis.best()]]);
  if (!room || !advisedRoom) return null;
  const { offsets } = around.at(ms);
  const devices = hearing.sources.flatMap((number, k) => {
    const source = sources[number];
    if (!source || hearing.worth(k, ms, source.graceS, settings) < LEAST_WORTH) return [];
    const { kind, id: device } = source;
    const rssi = hearing.meanOf(k) + (offsets?.[number] ?? 0);
    return [{ kind, id: device, place: placementKey(source.device), room: rooms[source.room]?.id ?? '', rssi }];
  });
  return { staff_id: id, ms, level: room.level, room: room.id, advised: advisedRoom.id, devices };
}

const LEAST_WORTH = 0.3; // readings: what is older was heard elsewhere

module.exports = { Sampling, createLearned };
