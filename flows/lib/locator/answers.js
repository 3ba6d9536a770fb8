// @ts-check
'use strict';

const { roomIn } = require('./move');
const { beganAt, learnedStrengthOf, presenceOf } = require('./person');
const { traceOf } = require('./trace');

/**
 * What a locator says about the people it follows, and since when somebody is where they are.
 * @typedef {import('./parts').Parts} Parts
 * @typedef {import('./person').Person} Person
 * @typedef {import('./person').Presence} Presence
 * @param {ReadonlyMap<string, Person>} people
 * @param {(person: Person) => Parts} siteOf where somebody is followed
 * @param {() => Parts} site of now
 */
function createAnswers(people, siteOf, site) {
  /** Where and since when somebody is as history has it, or until then as it seems. @param {Person} person */
  function stayOf(person) {
    const { lookahead, following } = siteOf(person);
    if (lookahead.roomOf(person.slot) < 0) return person;
    const staying = following.stayingOf(person);
    return { ...person, ...staying, ...(staying.room === person.room ? {} : { probability: null, runnerUp: -1 }) };
  }

  /**
   * Their stay in a room began at another time than it seemed.
   * @param {Person} person @param {string} room @param {number} sinceMs @returns {boolean} whether they are there at present, too
   */
  function begin(person, room, sinceMs) {
    const { lookahead, model } = siteOf(person);
    const stay = stayOf(person);
    if (stay.room < 0 || model.plan.rooms[stay.room].id !== room) return false;
    if (lookahead.roomOf(person.slot) === stay.room) lookahead.correctStayStart(person.slot, sinceMs);
    if (person.room === stay.room) beganAt(person, sinceMs);
    return person.room === stay.room;
  }

  /** @param {(person: Person) => Parameters<typeof presenceOf>[0]} view @returns {Presence[]} */
  const everybody = (view) => [...people.values()].flatMap((person) => {
    const its = siteOf(person);
    const one = view(person);
    return person.state === 'new' || roomIn(one, its, site()) < 0 ? [] : presenceOf(one, person.state, its.model.plan.rooms);
  });

  return {
    stayOf,
    /** From when on it is open where somebody is, epoch ms. @param {string} id */
    doubtedSince(id) {
      const person = people.get(id);
      return person ? siteOf(person).lookahead.openFromMs(person.slot) : Infinity;
    },
    /** Everybody heard within the last quarter of an hour whose room was reported. @returns {Presence[]} */
    presences: () => everybody((person) => person),
    /** The same people as history has them: who changed the room just now may still be in the one before. @returns {Presence[]} */
    openStays: () => everybody(stayOf),
    /** Why somebody is said to be where they are; null where nothing is known of them. @param {string} id */
    trace(id) {
      const person = people.get(id);
      if (!person || person.ms === -Infinity) return null;
      const { model, beliefs, hearing, learnedStrengths, lookahead } = siteOf(person);
      return traceOf(person, model, beliefs, hearing, learnedStrengths, lookahead);
    },
    /** How much stronger than calibrated each tag or phone is, dB. */
    learnedStrengths: () => [...people.values()].map((person) => learnedStrengthOf(person, siteOf(person).learnedStrengths)),
    /** @param {string} id @param {string} room @param {number} sinceMs */
    correctStayStart(id, room, sinceMs) {
      const person = people.get(id);
      const isThere = person && begin(person, room, sinceMs);
      return isThere && person.state !== 'new' ? presenceOf(person, person.state, siteOf(person).model.plan.rooms) : null;
    },
  };
}

module.exports = { createAnswers };
