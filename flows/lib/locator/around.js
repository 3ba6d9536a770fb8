// @ts-check
'use strict';

const { placementKey } = require('./model');

/** A gateway's clock may be ahead, and readings in flight come after its end. */
const OUT_MS = 3000;
const LATEST = 16; // batches of a gateway; older ones are late anyway

/**
 * What the broker says of gateways, and their latest batches. Silence of one that is out means nothing.
 * @typedef {{up: boolean, ms: number}} Said and when, epoch ms
 * @typedef {{said: Map<string, Said>, latest: [string, string[]][]}} Saved
 */
class Gateways {
  constructor() {
    /** By id. @type {Map<string, Said>} */
    this.said = new Map();
    /** @type {Set<string>} */
    this.out = new Set();
    /** By id. @type {Map<string, string[]>} */
    this.latest = new Map();
  }

  /** @param {string} id @param {boolean} up @param {number} ms */
  set(id, up, ms) {
    this.said.set(id, { up, ms });
    if (up) this.out.delete(id);
    else this.out.add(id);
  }

  /**
   * Something that a gateway heard: where it was called out and goes on, its last will came late. A will has no time of its own; a
   * cluster of brokers may deliver it when the gateway has long been connected to another node.
   * @param {string} id @param {number} ts of what it heard
   */
  heard(id, ts) {
    if (this.out.size === 0 || !this.out.has(id) || ts <= Number(this.said.get(id)?.ms) + OUT_MS) return;
    this.said.delete(id);
    this.out.delete(id);
  }

  /**
   * Whether a batch came before: gateways send again what the broker may have lost.
   * @param {import('../live/readings').Batch} batch parts of one window differ in their beacons
   */
  sentBefore({ receiver, ts, readings }) {
    const key = `${ts} ${readings[0]?.beacon}`;
    const known = this.latest.get(receiver) ?? [];
    if (known.includes(key)) return true;
    this.latest.set(receiver, [...known.slice(1 - LATEST), key]);
    return false;
  }

  /** @returns {Saved} */
  save() { return { said: new Map(this.said), latest: [...this.latest] }; }

  /** What was known elsewhere, beside what is known here. @param {Saved} saved */
  restore({ said, latest }) {
    for (const [id, { up, ms }] of said) if (!this.said.has(id)) this.set(id, up, ms);
    for (const [id, keys] of latest) this.latest.set(id, [...new Set([...keys, ...this.latest.get(id) ?? []])].slice(-LATEST));
  }
}

/**
 * What is known beside the building: gateways that are out, and what was learned, as it was known at a time: offsets of devices, which
 * are subtracted from readings, devices that are silent though they should hear, and levels whose plan has shown its worth. Which
 * version counts follows from the time of the reading alone, so the same readings give the same rooms whenever they are located.
 * @typedef {import('../locator').LearnedVersion} LearnedVersion
 * @typedef {{offsets: Float32Array|null, silent: ReadonlySet<number>, plan: ReadonlySet<string>}} Known offsets: dB by source, null: none;
 *   silent: sources; plan: levels where the plan speaks
 */
class Around {
  /**
   * @param {import('./model').Model} model @param {Gateways} gateways
   * @param {readonly LearnedVersion[]} versions ascending by time; may grow at the end
   * @param {boolean} usesOffsets
   */
  constructor(model, gateways, versions, usesOffsets) {
    this.model = model;
    this.out = gateways.out;
    this.versions = versions;
    this.usesOffsets = usesOffsets;
    /** @type {WeakMap<LearnedVersion, Known>} */
    this.known = new WeakMap();
  }

  /** What was known at an event time. @param {number} ms @returns {Known} */
  at(ms) {
    const { versions } = this;
    let at = versions.length - 1;
    while (at >= 0 && versions[at].from_ms > ms) at -= 1;
    if (at < 0) return NOTHING;
    let known = this.known.get(versions[at]);
    if (!known) this.known.set(versions[at], known = this.#knownOf(versions[at]));
    return known;
  }

  /** Of devices that stand where they were learned. @param {LearnedVersion} version @returns {Known} */
  #knownOf({ offsets, silent = [], plan = [] }) {
    const { sources, beacons, gateways } = this.model;
    /** @param {{kind: 'beacon'|'gateway', id: string}} device */
    const numberOf = ({ kind, id }) => (kind === 'gateway' ? gateways : beacons).get(id) ?? -1;
    const bySource = new Float32Array(sources.length);
    for (const offset of this.usesOffsets ? offsets : []) {
      const source = sources[numberOf(offset)];
      if (source && placementKey(source.device) === offset.place) bySource[source.number] = offset.offset_db;
    }
    return { offsets: bySource, silent: new Set(silent.map(numberOf)), plan: new Set(plan) };
  }

  /** Whether a source is a gateway that is out. @param {import('./model').Source|undefined} source */
  isOut(source) { return this.out.size > 0 && source?.kind === 'gateway' && this.out.has(source.id); }

  /**
   * Whether no device of a room can hear a tag, or be heard by a phone.
   * @param {import('./model').Room|undefined} room @param {'phone'|'gateway'} kind what somebody is heard by @param {Known} known
   */
  isDeaf(room, kind, { silent }) {
    if (room === undefined) return false;
    for (const source of kind === 'phone' ? room.devices.phone : room.devices.gateway) if (!silent.has(source) && !this.isOut(this.model.sources[source])) return false;
    return true;
  }
}

/** @type {Known} */
const NOTHING = Object.freeze({ offsets: null, silent: new Set(), plan: new Set() });

module.exports = { Around, Gateways };
