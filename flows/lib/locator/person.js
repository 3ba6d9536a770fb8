// @ts-check
'use strict';

/**
 * One staff member's state, and what is told about its changes. Pure.
 * @typedef {import('../locator').State} State
 * @typedef {import('../locator').Location} Location
 * @typedef {import('../locator').LocationEvent} LocationEvent
 * @typedef {import('../locator').Presence} Presence
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('./choose').Choice & import('./steps').Line & {id: string, slot: number, heardS: number,
 *   state: State|'new', told: boolean, first: boolean, recent: (number|string)[]}} Person
 *   slot: of the belief; heardS: our clock, in seconds, when anything of them came in; state: as it was told, new until then;
 *   told: the stay so far was handed out; first: no other room was seen before; recent: second, beacon and rssi of each of the
 *   latest locations, which may have to be corrected (one after the other: thousands of people have some)
 */

/** @returns {Outcome} */
const emptyOutcome = () => ({ locations: [], late: [], stays: [], events: [], presences: [] });

/** @param {string} id @param {number} slot @returns {Person} */
const newPerson = (id, slot) => ({
  id, slot, waiting: null, phoneMs: null, heardS: 0, ms: -Infinity,
  state: 'new', told: true, first: true, room: -1, sinceMs: 0, guess: false, last: -1, lastStayMs: 0, rival: -1, rivalAfterMs: 0,
  recent: [],
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

/** @param {Person} person @param {State} state @param {import('./plan').Room[]} rooms @returns {Presence} */
const presenceOf = (person, state, rooms) => ({ ...whoWhere(person, rooms), since: person.sinceMs, ts: person.ms, state });

/** Whether everybody was told that they are there. @param {Person} person */
const isHere = ({ state }) => state === 'present' || state === 'stale';

/** @param {number} ageMs @param {import('./constants').Settings} settings @returns {State} */
const stateAt = (ageMs, { staleMs, lostMs }) => (ageMs >= lostMs ? 'lost' : ageMs >= staleMs ? 'stale' : 'present');

/** @typedef {Pick<Person, 'id'|'room'|'sinceMs'>} Staying */

/** @param {Staying} person @param {number} leaveMs @param {import('./plan').Room[]} rooms @param {Outcome} outcome */
function tellStay(person, leaveMs, rooms, outcome) {
  const enterMs = person.sinceMs;
  if (leaveMs <= enterMs) return; // passed by, did not stay
  const times = { enter_ms: enterMs, leave_ms: leaveMs, duration_s: (leaveMs - enterMs) / 1000 };
  outcome.stays.push({ ts: enterMs, ...whoWhere(person, rooms), ...times });
}

/**
 * @param {Staying} person @param {LocationEvent['type']} type @param {number} ts
 * @param {import('./plan').Room[]} rooms @param {Outcome} outcome
 */
function tellEvent(person, type, ts, rooms, outcome) {
  outcome.events.push({ ts, type, ...whoWhere(person, rooms) });
}

/**
 * One location a second, and again when the room changed within it; those of the last seconds may be corrected.
 * @param {Person} person @param {boolean} moved @param {number} delayMs so much later than it happened a change is seen
 * @param {import('./sightings').Heard} heard @param {import('./model').Model} model @param {Outcome} outcome
 */
function tellLocation(person, moved, delayMs, { sources, rssis, tag }, { plan: { rooms }, radio }, outcome) {
  const second = Math.floor(person.ms / 1000);
  const room = rooms[person.room];
  if (moved) correct(person, room, outcome);
  if (second === person.recent.at(-3) && !moved) return;
  const from = Math.max(0, sources.findIndex((source) => radio.sources[source].room === person.room));
  const beacon = tag || radio.sources[sources[from]].id;
  const rssi = Math.round(rssis[from]);
  outcome.locations.push({ ts: second * 1000, staff_id: person.id, level: room.level, room: room.id, beacon, rssi });
  const kept = [];
  for (let k = 0; k < person.recent.length; k += 3) {
    const earlier = Number(person.recent[k]);
    // somebody who returns was never away: twice the delay, seen a delay later
    if (earlier < second && (second - earlier) * 1000 < 2 * delayMs + 500) kept.push(earlier, person.recent[k + 1], person.recent[k + 2]);
  }
  person.recent = [...kept, second, beacon, rssi];
}

/**
 * What was told of the time since which they turn out to have been in this room. A record counts until the next one, so it is
 * wrong when the greater part of that time belongs to this room. None is added: history has the same seconds whatever a
 * locator thought in between, so that one can be written over another.
 * @param {Person} person @param {{level: string, id: string}} room @param {Outcome} outcome
 */
function correct({ id, recent, ms, sinceMs }, { level, id: room }, outcome) {
  for (let k = 0; k < recent.length; k += 3) {
    const ts = Number(recent[k]) * 1000;
    const untilMs = k + 3 < recent.length ? Number(recent[k + 3]) * 1000 : Math.floor(ms / 1000) * 1000;
    if ((ts + untilMs) / 2 < sinceMs) continue;
    outcome.locations.push({ ts, staff_id: id, level, room, beacon: String(recent[k + 1]), rssi: Number(recent[k + 2]) });
  }
}

module.exports = { beganAt, emptyOutcome, isHere, newPerson, presenceOf, stateAt, tellEvent, tellLocation, tellStay };
