// @ts-check
'use strict';

const { createBeliefs } = require('./beliefs');
const { DEFAULTS } = require('./constants');
const { createFollowing } = require('./follow');
const { createHearing } = require('./hearing');
const { createHistory } = require('./history');
const { createLevels } = require('./levels');
const { createModel } = require('./model');
const { createReceivers } = require('./receivers');
const { beganAt, emptyOutcome, isHere, newPerson, presenceOf, tellEvent, tellStay } = require('./person');
const { createSilence } = require('./silence');
const { heardByGateway, heardByPhone } = require('./sightings');
const { tuningOf } = require('../building-tuning');
const { traceOf } = require('./trace');
const { flush, joinGateway, joinPhone, pass } = require('./steps');

/**
 * Where everybody is: each staff member is a hidden Markov model over the places of the building, fed with what phones
 * and gateways hear and do not hear. All decisions run on the messages' own time, so the same readings give the same
 * history whenever and however fast they are taken. The rest of the flows knows a locator only by `createLocator` and
 * the functions it returns; it owns no timer and no clock.
 * @typedef {import('../building').Building} Building
 * @typedef {import('./person').Outcome} Outcome
 * @typedef {import('./person').Person} Person
 * @typedef {import('./person').Presence} Presence
 */

/**
 * @param {Building} building its `tuning` goes before tuning.js
 * @param {Partial<import('./constants').Settings>} [overrides] go before both
 */
function createLocator(building, overrides = {}) {
  /** @type {Map<string, Person>} */
  const people = new Map();
  /** @type {Map<string, boolean>} by gateway id */
  const online = new Map();
  let site = siteOf(building);

  /**
   * All that depends on the building.
   * @param {Building} its @param {import('./model').Model} [before] @param {import('./receivers').Receivers} [learned] of that
   */
  function siteOf(its, before, learned) {
    const settings = Object.freeze({ ...DEFAULTS, ...tuningOf(its.file.tuning), ...overrides });
    const model = createModel(its, settings, before);
    const silence = createSilence(model.radio, settings);
    for (const [id, up] of online) silence.status(model.radio.gateways.get(id), up);
    const beliefs = createBeliefs(model, silence.means);
    const hearing = createHearing(settings, model.radio.beacons.size);
    const levels = createLevels(settings);
    const history = createHistory(settings);
    const receivers = createReceivers(model.radio, settings, learned);
    const following = createFollowing(model, beliefs, hearing, levels, history, receivers);
    return { building: its, settings, model, silence, beliefs, hearing, levels, history, receivers, following };
  }

  /**
   * A slot for somebody.
   * @param {import('./levels').Level} [level] of their tag or phone @param {number} [room] where history says they are
   * @param {number} [sinceMs]
   */
  function openSlot(level, room, sinceMs) {
    const slot = site.beliefs.open();
    site.hearing.open(slot);
    site.levels.open(slot, level);
    site.history.open(slot, room, sinceMs);
    return slot;
  }

  /** @param {number} nowMs @param {Outcome} outcome @returns {import('./steps').Take<Person>} */
  const takeAt = (nowMs, outcome) => (person, ms, heard) => site.following.take(person, ms, heard, nowMs, outcome);

  /** They are in a room since another time than it seemed. @param {Person} person @param {number} room @param {number} sinceMs
   * @returns {boolean} whether they are there at present, too */
  function begin(person, room, sinceMs) {
    if (room < 0 || stayOf(person).room !== room) return false;
    if (site.history.roomOf(person.slot) === room) site.history.began(person.slot, sinceMs);
    if (person.room === room) beganAt(person, sinceMs);
    return person.room === room;
  }

  /** Where and since when somebody is as history has it, or until then as it seems. @param {Person} person */
  const stayOf = (person) => (site.history.roomOf(person.slot) < 0 ? person : { ...person, ...site.following.stayingOf(person) });

  /** @param {string} id @param {number} nowMs of whom something came in */
  function personOf(id, nowMs) {
    let person = people.get(id);
    if (!person) people.set(id, person = newPerson(id, openSlot()));
    person.heardS = Math.floor(nowMs / 1000);
    return person;
  }

  /**
   * Take one checked batch.
   * @param {import('../readings').Batch} batch
   * @param {number} nowMs
   * @param {Outcome} outcome is added to
   */
  function hear(batch, nowMs, outcome) {
    const { building: its, settings, model: { radio }, silence } = site;
    const { kind, receiver, ts } = batch;
    const take = takeAt(nowMs, outcome);
    if (kind === 'phone') {
      const heard = heardByPhone(batch, its, radio, settings.txDbm);
      if (heard.sources.length === 0) return;
      for (const source of heard.sources) silence.heard(source, nowMs);
      if (!joinPhone(personOf(receiver, nowMs), ts, heard, nowMs, settings, take)) outcome.late.push({ staff_id: receiver, ts });
      return;
    }
    const source = radio.gateways.get(receiver);
    if (source === undefined || silence.knows(source, batch)) return;
    silence.heard(source, nowMs);
    heardByGateway(batch, its, settings.txDbm, (id, rssi, tag) => {
      if (!joinGateway(personOf(id, nowMs), ts, { source, rssi, tag }, nowMs, settings, take)) outcome.late.push({ staff_id: id, ts });
    });
  }

  /**
   * Let time pass: steps come to their end, people grow stale, get lost and are forgotten. Several times a second.
   * @param {number} nowMs
   * @param {Outcome} outcome is added to
   */
  function tick(nowMs, outcome) {
    const take = takeAt(nowMs, outcome);
    const { settings } = site;
    for (const person of people.values()) {
      pass(person, nowMs, settings, take);
      site.following.age(person, nowMs, outcome);
      if (nowMs - person.heardS * 1000 <= settings.goneMs) continue;
      people.delete(person.id);
      site.beliefs.close(person.slot);
    }
  }

  /**
   * Use another building from now on. What was heard up to now is located with the old one; whoever is in a room that
   * still exists stays there.
   * @param {Building} next @param {number} nowMs @param {Outcome} outcome is added to
   */
  function setBuilding(next, nowMs, outcome) {
    for (const person of people.values()) {
      flush(person, takeAt(nowMs, outcome));
      site.following.finish(person, outcome);
    }
    const { model: { plan: { rooms } }, levels, following } = site;
    site = siteOf(next, site.model, site.receivers);
    const index = new Map(site.model.plan.rooms.map(({ id, level }, r) => [`${level}/${id}`, r]));
    /** @param {number} r of the building before */
    const roomOf = (r) => (r < 0 ? -1 : index.get(`${rooms[r].level}/${rooms[r].id}`) ?? -1);
    for (const person of people.values()) {
      const staying = following.stayingOf(person);
      const room = roomOf(person.room);
      const stays = roomOf(staying.room);
      if (stays < 0 && staying.room >= 0 && !person.told) tellStay(staying, person.ms, rooms, outcome);
      if (room < 0 && person.room >= 0) {
        if (isHere(person)) tellEvent(person, 'leave', person.ms, rooms, outcome);
        person.told = true;
      }
      const [known, sinceMs] = stays < 0 ? [room, person.sinceMs] : [stays, staying.sinceMs];
      const slot = openSlot(levels.of(person.slot), known, sinceMs);
      Object.assign(person, { room, last: -1, lastStayMs: 0, rival: room, rivalAfterMs: 0, slot });
    }
  }

  /** @param {(person: Person) => Pick<Person, 'id'|'room'|'sinceMs'|'ms'>} view @returns {Presence[]} */
  const everybody = (view) => [...people.values()].flatMap((person) => (person.room < 0 || person.state === 'new' ? []
    : presenceOf(view(person), person.state, site.model.plan.rooms)));

  return {
    hear,
    tick,
    setBuilding,
    /** What the broker says about a gateway; silence of one that is out means nothing. @param {string} id @param {boolean} up */
    setGateway(id, up) {
      online.set(id, up);
      site.silence.status(site.model.radio.gateways.get(id), up);
    },
    /** From when on it is open where somebody is, epoch ms. @param {string} id */
    doubtedSince(id) {
      const person = people.get(id);
      return person ? site.history.openFromMs(person.slot) : Infinity;
    },
    /** Everybody heard within the last quarter of an hour of whom it was told where they are. @returns {Presence[]} */
    presences: () => everybody((person) => person),
    /** The same people as history has them: who changed the room just now may still be in the one before. @returns {Presence[]} */
    openStays: () => everybody(stayOf),
    /** Why somebody is said to be where they are; null where nothing is known of them. @param {string} id */
    trace(id) {
      const person = people.get(id);
      return person && person.ms > -Infinity ? traceOf(person, site.model, site.beliefs, site.hearing, site.levels) : null;
    },
    /** How much stronger than calibrated each tag or phone is, dB. */
    levels: () => [...people.values()].map(({ id, slot }) => {
      const { meanDb, variance } = site.levels.of(slot);
      return { staff_id: id, level_db: meanDb, level_sd_db: Math.sqrt(variance) };
    }),
    /** How much stronger than expected each gateway hears people, and each beacon is heard by them, dB. */
    receivers: () => site.receivers.all(),
    /** What `receivers` said before a start. @param {import('../locator').Receiver[]} list */
    restoreReceivers: (list) => { site.receivers.restore(list); },
    /**
     * Somebody is known to be in a room since some time: where a rebuilt history leaves off, or where it begins.
     * @param {Presence} presence its ts: up to when that is known
     */
    resume({ staff_id: id, room, since, ts, state }) {
      const r = site.model.plan.rooms.findIndex((one) => one.id === room);
      const person = people.get(id);
      if (r < 0) return;
      if (!person) {
        const known = { room: r, sinceMs: since, ms: ts, heardS: Math.floor(ts / 1000), state, told: state === 'lost' };
        people.set(id, Object.assign(newPerson(id, openSlot(undefined, r, since)), known));
      } else if (person.first && since < stayOf(person).sinceMs) begin(person, r, since);
    },
    /** @param {string} id @param {string} room @param {number} sinceMs */
    began(id, room, sinceMs) {
      const { rooms } = site.model.plan;
      const person = people.get(id);
      const isThere = person && begin(person, rooms.findIndex((one) => one.id === room), sinceMs);
      return isThere && person.state !== 'new' ? presenceOf(person, person.state, rooms) : null;
    },
  };
}

module.exports = /** @satisfies {typeof import('../locator')} */ ({ createLocator, emptyOutcome, DEFAULTS });
