// @ts-check
'use strict';

const { choose, settling } = require('./choose');
const { isHere, presenceOf, stateAt, tellEvent, tellLocation, tellStay } = require('./person');

/**
 * What readings and the passing of time do to one person.
 * @typedef {import('./person').Person} Person
 * @typedef {import('./person').Outcome} Outcome
 * @typedef {import('./sightings').Heard} Heard
 * @param {import('./model').Model} model
 * @param {import('./beliefs').Beliefs} beliefs
 * @param {import('./motion').Motion} motion
 */
function createFollowing(model, beliefs, motion) {
  const { plan: { rooms }, tuning } = model;
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
    if (person.room >= 0 && ms - person.ms > tuning.lostMs) part(person, outcome);
    const signs = signsOf(person, ms, heard);
    believe(person, ms, heard, nowMs);
    const best = beliefs.rooms(person.slot, chances);
    const { room, sinceMs } = person;
    const moved = choose(person, chances, best, ms, signs, rooms, tuning);
    const clear = chances[person.room] >= tuning.sureShare;
    beliefs.clear(person.slot, chances);
    const state = stateAt(nowMs - ms, tuning);
    const arriving = !isHere(person) && state !== 'lost';
    if (moved && room >= 0) tellMove(person, { id: person.id, room, sinceMs }, arriving && person.guess, outcome);
    person.ms = ms;
    person.told = false;
    tellLocation(person, moved, person.sureMs === ms && !settling(person, ms, tuning), heard, model, outcome);
    if (arriving && isEarly(person, heard, clear)) return;
    if (moved || arriving) tellEvent(person, 'enter', moved || person.guess ? person.sinceMs : ms, rooms, outcome);
    if (person.state !== state || moved) tellPresence(person, state, outcome);
  }

  /** @param {Person} person @param {import('./person').State} state @param {Outcome} outcome */
  function tellPresence(person, state, outcome) {
    const unseen = !isHere(person);
    person.state = state;
    // a drained backlog moves a lost person's history, which nobody watches live
    if (unseen && state === 'lost') return;
    outcome.presences.push(presenceOf(person, state, rooms));
  }

  /**
   * @param {Person} person @param {import('./person').Staying} before
   * @param {boolean} unseen whether nobody was told that they were there @param {Outcome} outcome
   */
  function tellMove(person, before, unseen, outcome) {
    if (person.sinceMs > before.sinceMs) person.first = false;
    tellStay(before, person.sinceMs, rooms, outcome);
    if (!unseen) tellEvent(before, 'leave', person.sinceMs, rooms, outcome);
  }

  /**
   * The first readings may name a wrong room: gateways tell of a tag one after the other, a phone of a few beacons only.
   * Who was lost and is back does not wait until it is beyond doubt where.
   * @param {Person} person @param {Heard} heard @param {boolean} clear whether the room is beyond doubt
   */
  function isEarly(person, heard, clear) {
    const wholeMs = heard.kind === 'phone' ? 0 : 2 * tuning.windowMs; // what one phone says is complete
    return person.guess && person.ms - person.sinceMs < (clear || person.state === 'lost' ? wholeMs : tuning.arriveMs);
  }

  /** @param {Person} person @param {number} ms @param {Heard} heard @returns {import('./choose').Signs} */
  function signsOf(person, ms, heard) {
    const passedMs = ms - person.ms;
    const surelyS = person.room < 0 ? 0 : Math.max(0, person.sureMs - person.sinceMs) / 1000;
    const windowMs = Math.min(Math.max(heard.kind === 'phone' ? passedMs : 0, tuning.windowMs), tuning.windowAtMostMs);
    motion.update(person.slot, heard, passedMs / 1000, surelyS);
    return { touched: heard.rssis[0] >= tuning.touchDbm, stood: motion.stood(person.slot, heard.kind), windowMs };
  }

  /** @param {Person} person @param {number} ms @param {Heard} heard @param {number} nowMs */
  function believe(person, ms, heard, nowMs) {
    const second = Math.floor(ms / 1000);
    const seconds = person.second < 0 ? 0 : second - person.second;
    const steady = motion.steady(person.slot, heard);
    beliefs.update(person.slot, seconds, heard, steady, person.before, nowMs);
    if (seconds > 0) person.before = null;
    person.second = second;
    if (heard.kind === 'gateway') person.before = joined(person.before, steady.known);
  }

  /** Nothing was heard for too long: the stay ended with the last reading. @param {Person} person @param {Outcome} outcome */
  function part(person, outcome) {
    if (!person.told) tellStay(person, person.ms, rooms, outcome);
    if (isHere(person)) tellEvent(person, 'lost', person.ms + tuning.lostMs, rooms, outcome);
    Object.assign(person, { room: -1, state: 'lost', first: false });
  }

  /**
   * Nothing was heard of a person up to now.
   * @param {Person} person @param {number} nowMs @param {Outcome} outcome
   */
  function age(person, nowMs, outcome) {
    const state = stateAt(nowMs - person.ms, tuning);
    if (state === 'lost' && !person.told && nowMs - person.heardS * 1000 > tuning.lateMs) rest(person, outcome);
    if (person.room < 0 || state === person.state) return;
    const unseen = !isHere(person); // a tag that was heard only once as yet
    if (unseen ? nowMs - person.ms < tuning.arriveMs : state === 'present') return;
    if (unseen && state !== 'lost') tellEvent(person, 'enter', person.sinceMs, rooms, outcome);
    tellPresence(person, state, outcome);
    if (!unseen && state === 'lost') tellEvent(person, 'lost', person.ms + tuning.lostMs, rooms, outcome);
  }

  /**
   * The stay is kept open: should a backlog show that it went on, it is sent again with its true end.
   * @param {Person} person @param {Outcome} outcome
   */
  function rest(person, outcome) {
    tellStay(person, person.ms, rooms, outcome);
    person.told = true;
  }

  return { take, age };
}

/** @param {number[]|null} before @param {number[]} sources @returns {number[]} */
function joined(before, sources) {
  let all = before ?? [];
  for (const source of sources) if (!all.includes(source)) all = all.concat(source);
  return all;
}

module.exports = { createFollowing };
