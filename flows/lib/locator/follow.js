// @ts-check
'use strict';

const { choose } = require('./choose');
const { offsetSampleOf } = require('./offset-samples');
const { beganAt, isHere, presenceOf, stateAt, reportEvent, reportStay } = require('./person');
const { isProbable } = require('../shared/probable');
const { surenessOf, sureLive } = require('./sureness');

/**
 * What readings and the passing of time do to one person.
 * @typedef {import('./person').Person} Person
 * @typedef {import('./person').Outcome} Outcome
 * @typedef {import('./sightings').Heard} Heard
 * @typedef {{see: ((sample: import('../locator').OffsetSample) => void)|null}} Watch who learns the devices' offsets; null: nobody
 * @param {import('./model').Model} model
 * @param {import('./beliefs').Beliefs} beliefs
 * @param {import('./hearing').Hearing} hearing
 * @param {import('./learned-strengths').LearnedStrengths} learnedStrengths
 * @param {import('./lookahead').Lookahead} lookahead
 * @param {import('./receivers').Receivers} receivers
 * @param {{watch: Watch, corrections: import('./corrections').Corrections}} offsets
 */
function createFollowing(model, beliefs, hearing, learnedStrengths, lookahead, receivers, { watch, corrections }) {
  const { plan: { rooms }, radio, settings } = model;
  const chances = new Float64Array(rooms.length);

  /**
   * Take what was heard of a person at one moment.
   * @param {Person} person
   * @param {number} heardMs event time
   * @param {Heard} heard
   * @param {number} nowMs
   * @param {Outcome} outcome
   */
  function take(person, heardMs, heard, nowMs, outcome) {
    const ms = Math.max(person.ms, heardMs); // a clock a little behind does not turn time back
    const touched = heard.rssis[0] >= settings.touchDbm;
    endBefore(person, ms, touched, outcome);
    const devices = believe(person, ms, heard, touched, nowMs);
    const best = beliefs.rooms(person.slot, chances);
    const { room, sinceMs } = person;
    const gapS = lookahead.gapOf(person.slot, Math.floor(ms / 1000));
    const change = choose(person, chances, best, { ms, touched, gapS }, settings);
    const state = stateAt(nowMs - ms, settings);
    const arriving = !isHere(person) && state !== 'lost';
    const moved = change !== 'none';
    if (moved && room >= 0) reportMove(person, { id: person.id, room, sinceMs }, change, arriving && person.guess, ms, outcome);
    person.ms = ms;
    person.reported = false;
    Object.assign(person, sureLive(person.room, beliefs.possible, chances));
    reportLocation(person, moved, heard, outcome);
    lookahead.note(person.slot, beliefs.possible, chances);
    const sure = touched || (devices >= settings.sureDevices && chances[person.room] >= settings.sureShare);
    beliefs.clear(chances);
    if (arriving && !sure && isEarly(person)) return;
    if (moved || arriving) reportEvent(person, 'enter', change === 'moved' || person.guess ? person.sinceMs : ms, rooms, outcome);
    if (person.state !== state || moved) reportPresence(person, state, outcome);
    else reportSureness(person, state, outcome);
  }

  /** Where the word *probably* comes or goes. @param {Person} person @param {import('./person').State} state @param {Outcome} outcome */
  function reportSureness(person, state, outcome) {
    if (isProbable(person.probability) === person.isProbable || person.ms - person.probableMs < settings.probableMs) return;
    person.probableMs = person.ms;
    reportPresence(person, state, outcome);
  }

  /** The next reading may say nothing about before. @param {Person} person @param {number} ms @param {boolean} touched
   * @param {Outcome} outcome */
  function endBefore(person, ms, touched, outcome) {
    if (person.room >= 0 && ms - person.ms > settings.lostMs) part(person, outcome);
    if (touched) finish(person, outcome);
  }

  /**
   * One location a second, and again when the room changed within it.
   * @param {Person} person @param {boolean} moved @param {Heard} heard @param {Outcome} outcome
   */
  function reportLocation(person, moved, { sources, rssis, tag }, outcome) {
    const { id, slot, ms, room } = person;
    const second = Math.floor(ms / 1000);
    if (second === lookahead.secondOf(slot) && !moved) return;
    const from = Math.max(0, sources.findIndex((source) => radio.sources[source].room === room));
    const location = { second, beacon: tag || radio.sources[sources[from]].id, rssi: Math.round(rssis[from]), room };
    lookahead.add(slot, location, ms, (decision) => correct(person, decision, outcome));
    outcome.locations.push(locationOf(id, location, person));
  }

  /** @param {string} id @param {{second: number, beacon: string, rssi: number, room: number}} location
   * @param {import('./sureness').Sure} sure */
  const locationOf = (id, { second, beacon, rssi, room }, sure) => (
    { ts: second * 1000, staff_id: id, level: rooms[room].level, room: rooms[room].id, beacon, rssi, ...surenessOf(sure, rooms) });

  /**
   * What history says of a second, where that is another room than was reported.
   * @param {Person} person @param {import('./lookahead').Decision} decision @param {Outcome} outcome
   */
  function correct(person, decision, outcome) {
    const { id, slot } = person;
    const { room, second, sureness, before, beforeMs } = decision;
    if (sureness) outcome.locations.push({ ...locationOf(id, decision, sureness), corrected: true });
    const agrees = room === person.room && person.sinceMs < (second + 1) * 1000;
    // live knows it to the millisecond
    if (agrees && before >= 0 && Math.abs(person.sinceMs - decision.sinceMs) < 1000) lookahead.correctStayStart(slot, person.sinceMs);
    const sinceMs = lookahead.sinceOf(slot);
    if (before >= 0) {
      reportStay({ id, room: before, sinceMs: beforeMs }, sinceMs, rooms, outcome);
      person.first = false;
    }
    if (!agrees || person.sinceMs === sinceMs) return;
    beganAt(person, sinceMs);
    if (isHere(person)) reportPresence(person, person.state, outcome);
  }

  /** Nothing more is to be heard for now: what is open of history is decided. @param {Person} person @param {Outcome} outcome */
  function finish(person, outcome) {
    lookahead.finish(person.slot, (decision) => correct(person, decision, outcome));
  }

  /** Where history says somebody is. @param {Person} person @returns {import('./person').Staying} */
  const stayingOf = ({ id, slot }) => ({ id, room: lookahead.roomOf(slot), sinceMs: lookahead.sinceOf(slot) });

  /** @param {Person} person @param {import('./person').State} state @param {Outcome} outcome */
  function reportPresence(person, state, outcome) {
    const unseen = !isHere(person);
    person.state = state;
    // a drained backlog moves a lost person's history, which nobody watches live
    if (unseen && state === 'lost') return;
    person.isProbable = isProbable(person.probability);
    outcome.presences.push(presenceOf(person, state, rooms));
  }

  /**
   * @param {Person} person @param {import('./person').Staying} before @param {import('./choose').Change} change
   * @param {boolean} unseen whether it was not reported that they were there @param {number} ms @param {Outcome} outcome
   */
  function reportMove(person, before, change, unseen, ms, outcome) {
    if (change === 'returned') { // the stay goes on; the other room was a mistake
      if (!unseen) reportEvent(before, 'leave', ms, rooms, outcome);
      return;
    }
    if (!unseen) reportEvent(before, 'leave', person.sinceMs, rooms, outcome);
  }

  /**
   * The first readings may name a wrong room: gateways report a tag one after the other. Who was lost and is back does not wait.
   * @param {Person} person
   */
  function isEarly(person) {
    return person.guess && person.state !== 'lost' && person.ms - person.sinceMs < settings.arriveMs;
  }

  /**
   * @param {Person} person @param {number} ms @param {Heard} heard @param {boolean} touched @param {number} nowMs
   * @returns {number} by how many devices they are located
   */
  function believe(person, ms, heard, touched, nowMs) {
    const { slot } = person;
    const isNew = person.ms === -Infinity;
    const seconds = isNew ? 0 : (ms - person.ms) / 1000;
    const steps = isNew ? 0 : Math.floor(ms / 1000) - Math.floor(person.ms / 1000);
    if (touched) hearing.open(slot); // what was heard elsewhere counts no more
    const walks = hearing.add(slot, heard, ms);
    const common = { meanDb: learnedStrengths.meanOf(slot), common: learnedStrengths.commonOf(slot) };
    const passed = { seconds, steps, touched, walks };
    const remembered = hearing.recall(slot, ms);
    const { offDb, placeVariance, readingVariance } = beliefs.update(slot, passed, heard, remembered, common, nowMs);
    if (receivers.samples(nowMs)) {
      const cells = beliefs.cells(slot);
      const corrected = corrections(ms);
      receivers.learn(cells, remembered, learnedStrengths.of(slot), ms, corrected);
      const sample = watch.see && offsetSampleOf(model, person.id, cells, remembered, learnedStrengths.of(slot), ms, corrected);
      if (sample) watch.see?.(sample);
    }
    learnedStrengths.learn(slot, seconds, offDb, readingVariance, placeVariance);
    return remembered.count;
  }

  /** Nothing was heard for too long: the stay ended with the last reading. @param {Person} person @param {Outcome} outcome */
  function part(person, outcome) {
    finish(person, outcome);
    if (!person.reported) reportStay(stayingOf(person), person.ms, rooms, outcome);
    if (isHere(person)) reportEvent(person, 'lost', person.ms + settings.lostMs, rooms, outcome);
    Object.assign(person, { room: -1, state: 'lost', first: false });
    lookahead.open(person.slot);
  }

  /**
   * Nothing was heard of a person up to now.
   * @param {Person} person @param {number} nowMs @param {Outcome} outcome
   */
  function age(person, nowMs, outcome) {
    const state = stateAt(nowMs - person.ms, settings);
    if (state === 'lost' && !person.reported && nowMs - person.heardS * 1000 > settings.lateMs) rest(person, outcome);
    if (person.room < 0 || state === person.state) return;
    const unseen = !isHere(person); // a tag that was heard only once as yet
    if (unseen ? nowMs - person.ms < settings.arriveMs : state === 'present') return;
    if (unseen && state !== 'lost') reportEvent(person, 'enter', person.sinceMs, rooms, outcome);
    reportPresence(person, state, outcome);
    if (!unseen && state === 'lost') reportEvent(person, 'lost', person.ms + settings.lostMs, rooms, outcome);
  }

  /**
   * The stay is kept open: should a backlog show that it went on, it is sent again with its true end.
   * @param {Person} person @param {Outcome} outcome
   */
  function rest(person, outcome) {
    finish(person, outcome);
    reportStay(stayingOf(person), person.ms, rooms, outcome);
    person.reported = true;
  }

  return { take, age, finish, stayingOf };
}

module.exports = { createFollowing };
