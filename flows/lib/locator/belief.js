// @ts-check
'use strict';

const { createAdviser } = require('./advice');
const { isDeaf } = require('./model');
const { SILENT_DBM } = require('./settings');
const { Trellis } = require('./trellis');

/**
 * What readings say about where a person is: levels of devices, levels of rooms, then the trellis.
 * @typedef {import('./person').Person} Person
 * @typedef {import('./sightings').Heard} Heard
 * @typedef {import('./settings').Settings} Settings
 * @typedef {{kind: 'phone'|'gateway', rooms: number[], levels: Float64Array, topDbm: number, floorDbm: number}} Evidence kind: what
 *   they are heard by; levels: dBm by room, NaN: not known
 * @typedef {{isOut: (source: number) => boolean, at: (ms: number) => import('./learned').Known,
 *   sampling: import('./learned').Sampling}} Around isOut: what is known of gateways; at: what was learned of devices, and where
 *   the plan speaks; sampling: who learns
 */
class Belief {
  /** @param {import('./model').Model} model @param {Settings} settings @param {Around} around */
  constructor(model, settings, around) {
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
  believe(person, ms, { kind, sources, rssis }, touched, learns) {
    const { settings, evidence, adviser } = this;
    const { hearing, trellises } = person;
    const scans = scansOf(person, ms, kind, settings);
    const second = Math.floor(ms / 1000);
    const last = person.seconds.at(-1);
    if (last !== undefined && second > last.second) last.changes = trellises.map((trellis) => trellis.endSecond());
    if (touched) hearing.forget(Infinity); // what was heard elsewhere counts no more
    const { silent } = this.around.at(ms);
    hearing.add(sources, rssis, ms, scans, !isDeaf(this.model.rooms[person.room], kind, silent, this.around.isOut), settings);
    evidence.kind = kind;
    const devices = this.weigh(person, ms);
    if (touched) for (const trellis of trellises) trellis.reset(ms, this.model.sources[sources[0]]?.room, settings.changeDb);
    else if (trellises[0].rooms.length === 0) for (const trellis of trellises) trellis.reset(ms);
    const counted = scansOfEvidence(scans, devices, hearing, settings);
    const kept = person.ms === -Infinity ? 1 : Math.exp(-Math.max(0, ms - person.ms - settings.staleMs) / settings.staleMs);
    if (adviser !== null) this.ask(person, ms, learns);
    if (evidence.rooms.length === 0) return devices; // all that is heard stands nowhere, or is called out
    trellises[0].step(evidence, counted, ms, kept, person.room, settings);
    if (adviser !== null && trellises.length > 1) {
      adviser.apply(person, ms, second, this, evidence);
      trellises[1].step(evidence, counted, ms, kept, person.room, settings);
    }
    for (const room of evidence.rooms) evidence.levels[room] = NaN;
    return devices;
  }

  /**
   * The level of each room: that of its loudest device.
   * @param {Person} person @param {number} ms @returns {number} how many devices are heard
   */
  weigh({ hearing, room: present }, ms) {
    const { evidence, settings, model, around } = this;
    const { sources, rooms } = model;
    const { silent } = around.at(ms);
    const { sources: heard } = hearing;
    let devices = 0;
    let loudest = -1;
    evidence.rooms.length = 0;
    evidence.topDbm = -Infinity;
    for (let k = 0; k < heard.length; k += 1) {
      const source = sources[heard[k]];
      if (source === undefined || source.room < 0 || around.isOut(source.number)) continue;
      const worth = hearing.worth(k, ms, source.graceS, settings);
      if (worth < LEAST_WORTH) continue;
      devices += 1;
      const dbm = hearing.levelOf(k, worth, settings);
      if (loudest < 0 || dbm > evidence.topDbm) loudest = source.number;
      this.raise(source.room, dbm);
    }
    const unheardDbm = hearing.usualDbm - settings.unheardDb;
    if (loudest >= 0) for (const room of sources[loudest]?.covers ?? NOTHING) this.raise(room, unheardDbm);
    // a room whose devices are dead does not say that nobody is there
    const its = rooms[present];
    if (its?.devices[evidence.kind].length && isDeaf(its, evidence.kind, silent, around.isOut)) this.raise(present, unheardDbm);
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
   * rule knows, also of the seconds that history has not decided yet, so that it does not matter who was learned from.
   * @param {Person} person @param {number} ms @param {boolean} learns
   */
  ask(person, ms, learns) {
    const { trellises } = person;
    const [rule] = trellises;
    const best = rule.best();
    const speaks = best >= 0 && this.around.at(ms).plan.has(this.model.rooms[rule.rooms[best]]?.level ?? '');
    if (speaks ? !person.isAdvised : learns && trellises.length === 1) {
      trellises[1] = new Trellis().copy(rule);
      person.advice = null;
      for (const open of person.seconds) open.changes = open.changes.slice(0, 1);
    }
    else if (!speaks && !learns) trellises.length = 1;
    person.isAdvised = speaks;
  }
}

/** How much of a scan was, at most one. @param {Person} person @param {number} ms @param {Heard['kind']} kind @param {Settings} settings */
function scansOf(person, ms, kind, { tickMs }) {
  if (person.ms === -Infinity) return kind === 'phone' ? 1 : tickMs / 1000;
  return Math.min(1, (ms - person.ms) / 1000);
}

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
