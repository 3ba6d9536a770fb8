// @ts-check
'use strict';

const { truncate } = require('../shared/truncate');
const { createAdviser } = require('./advice');
const { SILENT_DBM } = require('./settings');
const { Trellis } = require('./trellis');

/**
 * What readings say about where a person is: levels of devices, levels of rooms, then the trellis.
 * @typedef {import('./person').Person} Person
 * @typedef {import('./hearing').Heard} Heard
 * @typedef {import('./around').Around} Around
 * @typedef {import('./around').Known} Known
 * @typedef {import('./settings').Settings} Settings
 * @typedef {{kind: 'phone'|'gateway', rooms: number[], levels: Float64Array, topDbm: number, floorDbm: number}} Evidence kind: what
 *   they are heard by; levels: dBm by room, NaN: not known
 */
class Belief {
  /** @param {import('./model').Model} model @param {Settings} settings @param {Around} around @param {import('./person').Memory} memory */
  constructor(model, settings, around, memory) {
    this.memory = memory;
    this.model = model;
    this.settings = settings;
    this.around = around;
    this.adviser = model.plan && createAdviser(model, model.plan, settings);
    /** @type {Evidence} */
    this.evidence = { kind: 'phone', rooms: [], levels: new Float64Array(model.rooms.length).fill(NaN), topDbm: 0, floorDbm: SILENT_DBM };
  }

  /**
   * @param {Person} person @param {number} ms @param {Heard} heard @param {boolean} touched @param {boolean} learns whether it is
   *   learned from
   * @returns {number} by how many devices they are located
   */
  believe(person, ms, heard, touched, learns) {
    const { settings, evidence, adviser, around, model } = this;
    const { hearing, rule, newestS } = person;
    const { kind } = heard;
    const known = around.at(ms);
    const scans = scansOf(person, ms, kind, settings);
    const second = Math.floor(ms / 1000);
    if (newestS >= 0 && second > newestS) {
      rule.endSecond(newestS, newestS - settings.lookaheadS);
      person.advised?.endSecond(newestS, newestS - settings.lookaheadS);
    }
    if (touched) hearing.forget(Infinity); // what was heard elsewhere counts no more
    const isDeaf = around.isDeaf(model.rooms[person.room], kind, known);
    hearing.add(heard, ms, scans, !isDeaf, settings);
    evidence.kind = kind;
    const devices = this.weigh(person, ms, isDeaf);
    if (touched) for (const trellis of person.trellises) trellis.reset(ms, model.sources[heard.sources[0]]?.room, settings.changeDb);
    else if (rule.best() < 0) for (const trellis of person.trellises) trellis.reset(ms);
    const counted = scansOfEvidence(scans, devices, hearing, settings);
    const kept = person.ms === -Infinity ? 1 : keptAfter(ms - person.ms, settings);
    if (adviser !== null) this.ask(person, known, learns);
    if (evidence.rooms.length === 0) return devices; // all that is heard stands nowhere, or is called out
    rule.step(evidence, counted, ms, kept, person.room, settings);
    if (adviser !== null && person.advised !== null) {
      adviser.apply(person, ms, second, this, evidence);
      person.advised.step(evidence, counted, ms, kept, person.room, settings);
    }
    for (const room of evidence.rooms) evidence.levels[room] = NaN;
    return devices;
  }

  /**
   * The level of each room: that of its loudest device.
   * @param {Person} person @param {number} ms @param {boolean} isDeaf whether no device can hear them where they are
   * @returns {number} how many devices are heard
   */
  weigh({ hearing, room: present }, ms, isDeaf) {
    const { evidence, settings, model: { sources, rooms }, around } = this;
    let devices = 0;
    let loudest = -1;
    truncate(evidence.rooms, 0);
    evidence.topDbm = -Infinity;
    for (let k = 0; k < hearing.size; k += 1) {
      const source = sources[hearing.sourceOf(k)];
      if (source === undefined || source.room < 0 || around.isOut(source)) continue;
      const worth = hearing.worthOf(k, ms, source.graceS, settings);
      if (worth < LEAST_WORTH) continue;
      devices += 1;
      const dbm = hearing.levelOf(k, worth, settings);
      if (loudest < 0 || dbm > evidence.topDbm) loudest = source.number;
      this.raise(source.room, dbm);
    }
    const unheardDbm = hearing.usualDbm - settings.unheardDb;
    if (loudest >= 0) for (const room of sources[loudest]?.covers ?? NOTHING) this.raise(room, unheardDbm);
    // a room whose devices are dead does not say that nobody is there
    if (isDeaf && rooms[present]?.devices[evidence.kind].length) this.raise(present, unheardDbm);
    return devices;
  }

  /** A room is at least so loud. @param {number} room @param {number} dbm */
  raise(room, dbm) {
    const { evidence } = this;
    const { rooms, levels } = evidence;
    if (Number.isNaN(dbm)) return; // what they usually hear is not known yet
    if (dbm > evidence.topDbm) evidence.topDbm = dbm;
    if (levels[room] !== levels[room]) {
      rooms.push(room);
      levels[room] = dbm;
    } else if (dbm > levels[room]) levels[room] = dbm;
  }

  /**
   * The plan advises where it has shown its worth, and those who are learned from. Where it begins to speak it begins with what the
   * rule knows, so that it does not matter who was learned from.
   * @param {Person} person @param {Known} known @param {boolean} learns
   */
  ask(person, { plan }, learns) {
    const { rule, advised } = person;
    const speaks = plan.size > 0 && plan.has(this.model.rooms[rule.best()]?.level ?? '');
    if (speaks ? !person.isAdvised : learns && advised === null) {
      person.advised = new Trellis(this.memory.advised, person.slot, rule.save());
      person.advice = null;
    } else if (!speaks && !learns) person.advised = null;
    person.isAdvised = speaks;
  }
}

/** How much of a scan was, at most one. @param {Person} person @param {number} ms @param {Heard['kind']} kind @param {Settings} settings */
function scansOf(person, ms, kind, { tickMs }) {
  if (person.ms === -Infinity) return kind === 'phone' ? 1 : tickMs / 1000;
  return Math.min(1, (ms - person.ms) / 1000);
}

/**
 * Which share of the cost of a change holds after a silence: all of it until they are stale, nothing when they are lost.
 * @param {number} silentMs @param {Settings} settings
 */
const keptAfter = (silentMs, { staleMs, lostMs }) => Math.max(0, Math.min(1, (lostMs - silentMs) / (lostMs - staleMs))) ** 2;

/**
 * Scans that count. Where one or two devices are heard in a scan, the one that happens to be heard seems the loudest.
 * @param {number} scans @param {number} devices heard of late @param {import('./hearing').Hearing} hearing @param {Settings} settings
 */
function scansOfEvidence(scans, devices, { period }, { halfHeard }) {
  const heard = devices / period; // in a scan
  return (scans / period) * (heard / (heard + halfHeard));
}

const LEAST_WORTH = 1e-4; // readings: less is silence
/** @type {readonly number[]} */
const NOTHING = Object.freeze([]);

module.exports = { Belief };
