// @ts-check
'use strict';

const { isSure, rounded } = require('../shared/probable');
const { Hearing } = require('./hearing');
const { Trellis } = require('./trellis');

/**
 * One staff member's state, and what is reported about its changes. Pure.
 * @typedef {import('../locator').State} State
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('../locator').Presence} Presence
 * @typedef {{second: number, beacon: string, rssi: number, room: number}} Second one that history has not decided yet; room: as it was
 *   reported
 * @typedef {Pick<Person, 'id'|'room'|'sinceMs'>} Staying
 * @typedef {ReturnType<typeof newMemory>} Memory
 */
/** What is remembered of everybody, in rows. */
const newMemory = () => ({ hearing: Hearing.rows(), rule: Trellis.rows(), advised: Trellis.rows() });

class Person {
  /**
   * @param {string} id @param {number} slot their number in a locator @param {Memory} memory
   * @param {{hearing?: number[], rule?: import('./trellis').Saved, advised?: import('./trellis').Saved|null}} [saved]
   */
  constructor(id, slot, memory, { hearing, rule, advised = null } = {}) {
    this.id = id;
    this.slot = slot;
    // what each step asks for comes first: it lies together in memory
    /** Event time of the newest reading by which they are located. */
    this.ms = -Infinity;
    /** Where they are live, by number; -1: unknown. */
    this.room = -1;
    /** As it was reported. @type {State|'new'} */
    this.state = 'new';
    /** Whether it is the first room after nothing was known, so short a time ago that it may have been wrong. */
    this.guess = false;
    /** Whether the stay so far was handed out. */
    this.reported = true;
    this.hearing = new Hearing(memory.hearing, slot, hearing);
    /** By the rule alone. */
    this.rule = new Trellis(memory.rule, slot, rule);
    /** Advised by the plan, where that speaks or is learned from. @type {Trellis|null} */
    this.advised = advised && new Trellis(memory.advised, slot, advised);
    /** Whether the plan speaks. */
    this.isAdvised = false;
    /** The latest second that history has not decided yet; -1: it has decided all. */
    this.newestS = -1;
    /** That they are there; NaN: not known, since they were not heard yet. */
    this.probability = NaN;
    this.runnerUp = -1;
    this.saidLikely = true;
    /** When a presence said how likely it is, event time. */
    this.saidMs = -Infinity;
    this.sinceMs = 0;
    /** Where history has them, and since when. */
    this.stay = { room: -1, sinceMs: 0 };
    /** Whether history knows no other room before. */
    this.first = true;
    /** Ascending. @type {Second[]} */
    this.seconds = [];
    /** How well the plan fits in each room, asked once a second. @type {Advice|null} */
    this.advice = null;
    /** By how much their tag or phone is stronger than calibrated, dB: mean and variance. */
    this.strength = { db: 0, variance: NaN };
    this.hash = hashOf(id);
  }

  /** The one that counts. */
  get trellis() { return this.isAdvised && this.advised !== null ? this.advised : this.rule; }

  get trellises() { return this.advised === null ? [this.rule] : [this.rule, this.advised]; }
}

/**
 * Somebody is known to be in a room.
 * @param {Person} person new @param {number} room @param {number} sinceMs @param {number} ms up to when that is known @param {State} state
 * @param {import('./settings').Settings} settings
 */
function place(person, room, sinceMs, ms, state, { changeDb }) {
  person.rule.reset(ms, room, changeDb);
  const reported = state === 'lost';
  Object.assign(person, { room, sinceMs, ms, state, reported, stay: { room, sinceMs } });
}

/**
 * @typedef {{second: number, rooms: number[], lessDb: number[], deaf: boolean[]}} Advice lessDb, deaf (no device
 *   there can hear): in the order of rooms
 */

/** A number of an id (FNV-1a). @param {string} id */
function hashOf(id) {
  let hash = 0x811c9dc5;
  for (let n = 0; n < id.length; n += 1) hash = Math.imul(hash ^ id.charCodeAt(n), 0x01000193) >>> 0;
  return hash;
}

/** @returns {Outcome} */
const emptyOutcome = () => ({ locations: [], late: [], stays: [], events: [], presences: [] });

/** @param {{id: string, room: number}} person @param {import('./model').Model} model */
function whoWhere({ id, room }, { rooms }) {
  const { level, id: where } = /** @type {import('./model').Room} */ (rooms[room]);
  return { staff_id: id, level, room: where };
}

/**
 * @param {number} probability NaN: not known @param {number} other the next likely room @param {import('./model').Model} model
 * @returns {import('../locator').Sureness}
 */
function surenessOf(probability, other, { rooms }) {
  const share = Number.isNaN(probability) ? null : rounded(probability);
  return { probability: share, runner_up: share === null || isSure(share) ? null : rooms[other]?.id ?? null };
}

/**
 * @param {Person} person @param {import('./model').Model} model @param {Staying} [at] where and since when; else as live has it
 * @returns {Presence}
 */
const presenceOf = (person, model, at = person) => ({
  ...whoWhere(at, model), since: at.sinceMs, ts: person.ms, state: person.state === 'new' ? 'present' : person.state,
  ...surenessOf(person.probability, person.runnerUp, model),
});

/** Whether it was reported that they are there. @param {Person} person */
const isHere = ({ state }) => state === 'present' || state === 'stale';

/** @param {number} ageMs @param {import('./settings').Settings} settings @returns {State} */
const stateAt = (ageMs, { staleMs, lostMs }) => (ageMs >= lostMs ? 'lost' : ageMs >= staleMs ? 'stale' : 'present');

/** @param {Staying} staying @param {number} leaveMs @param {import('./model').Model} model @param {Outcome} outcome */
function reportStay(staying, leaveMs, model, outcome) {
  const enterMs = staying.sinceMs;
  if (leaveMs <= enterMs) return; // passed by, did not stay
  const times = { enter_ms: enterMs, leave_ms: leaveMs, duration_s: (leaveMs - enterMs) / 1000 };
  outcome.stays.push({ ts: enterMs, ...whoWhere(staying, model), ...times });
}

/**
 * @param {Staying} staying @param {import('../locator').LocationEvent['type']} type @param {number} ts
 * @param {import('./model').Model} model @param {Outcome} outcome
 */
function reportEvent(staying, type, ts, model, outcome) {
  outcome.events.push({ ts, type, ...whoWhere(staying, model) });
}

module.exports = { Person, emptyOutcome, isHere, newMemory, place, presenceOf, reportEvent, reportStay, stateAt, surenessOf, whoWhere };
