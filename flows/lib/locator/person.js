// @ts-check
'use strict';

const { surenessOf } = require('./sureness');

/**
 * One staff member's state, and what is reported about its changes. Pure.
 * @typedef {import('../locator').State} State
 * @typedef {import('../locator').Location} Location
 * @typedef {import('../locator').LocationEvent} LocationEvent
 * @typedef {import('../locator').Presence} Presence
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('./choose').Choice & import('./reorder-buffer').Buffered & {id: string, slot: number, heardS: number,
 *   state: State|'new', reported: boolean, first: boolean, isProbable: boolean, probableMs: number} & import('./sureness').Sure} Person
 *   slot: of the belief; heardS: our clock, in seconds, when anything of them came in; state: as it was reported, new until then;
 *   reported: the stay so far was handed out; first: history knows no other room before; isProbable: whether that was reported
 *   last of their room; probableMs: when it was reported for itself alone
 */

/** @returns {Outcome} */
const emptyOutcome = () => ({ locations: [], late: [], stays: [], events: [], presences: [] });

/** @param {string} id @param {number} slot @returns {Person} */
const newPerson = (id, slot) => ({
  id, slot, waiting: null, phoneMs: null, heardS: 0, ms: -Infinity,
  state: 'new', reported: true, first: true, probability: null, runnerUp: -1, isProbable: false, probableMs: -Infinity, room: -1, sinceMs: 0, guess: false, last: -1, lastStayMs: 0, rival: -1, rivalAfterMs: 0,
});

/**
 * @param {Pick<Person, 'id'|'room'>} person
 * @param {import('./plan').Room[]} rooms
 * @returns {{staff_id: string, level: string, room: string}}
 */
const whoWhere = (person, rooms) => ({ staff_id: person.id, level: rooms[person.room].level, room: rooms[person.room].id });

/** They are where they are since another time than it seemed. @param {Person} person @param {number} sinceMs */
function beganAt(person, sinceMs) {
  person.rivalAfterMs += Math.round(person.sinceMs - sinceMs);
  person.sinceMs = sinceMs;
}

/**
 * @param {Staying & Pick<Person, 'ms'|'probability'|'runnerUp'>} person @param {State} state @param {import('./plan').Room[]} rooms
 * @returns {Presence}
 */
const presenceOf = (person, state, rooms) => ({
  ...whoWhere(person, rooms), since: person.sinceMs, ts: person.ms, state, ...surenessOf(person, rooms),
});

/**
 * Whether it was reported that they are there.
 * @param {Person} person @returns {person is Person & {state: 'present'|'stale'}}
 */
const isHere = (person) => person.state === 'present' || person.state === 'stale';

/** @param {number} ageMs @param {import('./constants').Settings} settings @returns {State} */
const stateAt = (ageMs, { staleMs, lostMs }) => (ageMs >= lostMs ? 'lost' : ageMs >= staleMs ? 'stale' : 'present');

/**
 * @param {Pick<Person, 'id'|'slot'>} person @param {import('./learned-strengths').LearnedStrengths} learnedStrengths
 * @returns {import('../locator').LearnedStrength}
 */
function learnedStrengthOf({ id, slot }, learnedStrengths) {
  const { meanDb, variance } = learnedStrengths.of(slot);
  return { staff_id: id, level_db: meanDb, level_sd_db: Math.sqrt(variance) };
}

/** @typedef {Pick<Person, 'id'|'room'|'sinceMs'>} Staying */

/** @param {Staying} person @param {number} leaveMs @param {import('./plan').Room[]} rooms @param {Outcome} outcome */
function reportStay(person, leaveMs, rooms, outcome) {
  const enterMs = person.sinceMs;
  if (leaveMs <= enterMs) return; // passed by, did not stay
  const times = { enter_ms: enterMs, leave_ms: leaveMs, duration_s: (leaveMs - enterMs) / 1000 };
  outcome.stays.push({ ts: enterMs, ...whoWhere(person, rooms), ...times });
}

/**
 * @param {Staying} person @param {LocationEvent['type']} type @param {number} ts
 * @param {import('./plan').Room[]} rooms @param {Outcome} outcome
 */
function reportEvent(person, type, ts, rooms, outcome) {
  outcome.events.push({ ts, type, ...whoWhere(person, rooms) });
}

module.exports = { beganAt, emptyOutcome, isHere, learnedStrengthOf, newPerson, presenceOf, stateAt, reportEvent, reportStay };
