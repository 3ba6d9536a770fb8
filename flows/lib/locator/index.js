// @ts-check
'use strict';

const { DEFAULTS } = require('./constants');
const { modelOf } = require('./model');
const { createParts } = require('./parts');
const { placeOf } = require('./receivers');
const { linkCells, move, roomIn } = require('./move');
const { beganAt, emptyOutcome, levelOf, newPerson, presenceOf } = require('./person');
const { heardByGateway, heardByPhone } = require('./sightings');
const { inOneGo } = require('../shared/pieces');
const { tuningOf } = require('../building/tuning');
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
 * @typedef {import('./model').Model} Model
 * @typedef {import('./parts').Parts} Parts
 */

const AT_ONCE = 200; // people who come along into another building without a break: some milliseconds

/**
 * @param {Building} building its `tuning` goes before tuning.js
 * @param {Partial<import('./constants').Settings>} [overrides] go before both
 * @param {import('./model').Model} [prepared] of the building, by a locator with the same overrides
 * @param {readonly import('../locator').OffsetVersion[]} [versions] of the learned offsets, ascending; may grow at the end
 */
function createLocator(building, overrides = {}, prepared = undefined, versions = []) {
  /** @type {Map<string, Person>} */
  const people = new Map();
  /** @type {import('./parts').Shared} */
  const shared = { online: new Map(), versions, watch: { see: null } };
  let site = createParts(building, prepared ?? inOneGo(prepare(building, null)), shared);
  /** Who is still followed in a building of before. @type {Map<Person, Parts>} */
  const behind = new Map();
  /** Cells of buildings of before in the one of now. @type {WeakMap<Parts, Int32Array>} */
  let links = new WeakMap();

  /** The model of a building, from what it has in common with another one. @param {Building} its @param {Model|null} before */
  function prepare(its, before) {
    return modelOf(its, Object.freeze({ ...DEFAULTS, ...tuningOf(its.file.tuning), ...overrides }), before);
  }

  /** Where somebody is followed. @param {Person} person */
  const siteOf = (person) => behind.get(person) ?? site;

  /** @param {number} nowMs @param {Outcome} outcome @returns {import('./steps').Take<Person>} */
  const takeAt = (nowMs, outcome) => (person, ms, heard) => siteOf(person).following.take(person, ms, heard, nowMs, outcome);

  /** @param {string} id @param {number} nowMs when something of them arrived @param {Outcome} outcome */
  function personOf(id, nowMs, outcome) {
    let person = people.get(id);
    if (person) follow(person, nowMs, outcome);
    else people.set(id, person = newPerson(id, site.open()));
    person.heardS = Math.floor(nowMs / 1000);
    return person;
  }

  /**
   * Somebody comes along into the building of now: what was heard up to now is located with the one of before.
   * @param {Person} person @param {number} nowMs @param {Outcome} outcome
   */
  function follow(person, nowMs, outcome) {
    const before = behind.get(person);
    if (!before) return;
    flush(person, takeAt(nowMs, outcome));
    before.following.finish(person, outcome);
    behind.delete(person);
    let cellOf = links.get(before);
    if (!cellOf) links.set(before, cellOf = linkCells(before.model, site.model));
    move(person, before, site, cellOf, outcome);
  }

  /**
   * Take one checked batch.
   * @param {import('../intake/readings').Batch} batch
   * @param {number} nowMs
   * @param {Outcome} outcome is added to
   */
  function hear(batch, nowMs, outcome) {
    const { building: its, settings, model: { radio }, silence } = site;
    const { kind, receiver, ts } = batch;
    const take = takeAt(nowMs, outcome);
    if (kind === 'phone') {
      const heard = heardByPhone(batch, its, radio, settings.txDbm, site.corrections(ts));
      if (heard.sources.length === 0) return;
      for (const source of heard.sources) silence.heard(source, nowMs);
      if (!joinPhone(personOf(receiver, nowMs, outcome), ts, heard, nowMs, settings, take)) outcome.late.push({ staff_id: receiver, ts });
      return;
    }
    const source = radio.gateways.get(receiver);
    if (source === undefined || silence.knows(source, batch)) return;
    silence.heard(source, nowMs);
    heardByGateway(batch, its, settings.txDbm, (id, rssi, tag) => {
      const person = personOf(id, nowMs, outcome);
      const heard = { source, rssi: rssi - (site.corrections(ts)?.[source] ?? 0), tag };
      if (!joinGateway(person, ts, heard, nowMs, settings, take)) outcome.late.push({ staff_id: id, ts });
    });
  }

  /**
   * Let time pass: steps come to their end, people grow stale, get lost and are forgotten. Several times a second.
   * @param {number} nowMs
   * @param {Outcome} outcome is added to
   */
  function tick(nowMs, outcome) {
    const take = takeAt(nowMs, outcome);
    followSome(nowMs, outcome);
    for (const person of people.values()) {
      const { settings, following, beliefs } = siteOf(person);
      pass(person, nowMs, settings, take);
      following.age(person, nowMs, outcome);
      if (nowMs - person.heardS * 1000 <= settings.goneMs) continue;
      people.delete(person.id);
      behind.delete(person);
      beliefs.close(person.slot);
    }
  }

  /** @param {number} nowMs @param {Outcome} outcome */
  function followSome(nowMs, outcome) {
    let left = AT_ONCE;
    for (const person of behind.keys()) if (left-- > 0) follow(person, nowMs, outcome);
  }

  /**
   * Use another building from now on. What was heard up to now is located with the old one; whoever is in a room that
   * still exists stays there. Of many people only some come along at once, the others when they are heard or at the next ticks.
   * @param {Building} next @param {number} nowMs @param {Outcome} outcome is added to @param {Model} [model] prepared
   */
  function setBuilding(next, nowMs, outcome, model = undefined) {
    model ??= inOneGo(prepare(next, site.model));
    const isSame = model === site.model && next.file.learned_offsets === site.building.file.learned_offsets;
    if (isSame) { // nothing is different by which anybody is located
      site.building = next;
      return;
    }
    for (const person of people.values()) if (!behind.has(person)) behind.set(person, site);
    site = createParts(next, model, shared, site.receivers);
    links = new WeakMap();
    followSome(nowMs, outcome);
  }

  /** Where and since when somebody is as history has it, or until then as it seems. @param {Person} person */
  function stayOf(person) {
    const { history, following } = siteOf(person);
    return history.roomOf(person.slot) < 0 ? person : { ...person, ...following.stayingOf(person) };
  }

  /**
   * Their stay in a room began at another time than it seemed.
   * @param {Person} person @param {string} room @param {number} sinceMs @returns {boolean} whether they are there at present, too
   */
  function begin(person, room, sinceMs) {
    const { history, model } = siteOf(person);
    const stay = stayOf(person);
    if (stay.room < 0 || model.plan.rooms[stay.room].id !== room) return false;
    if (history.roomOf(person.slot) === stay.room) history.began(person.slot, sinceMs);
    if (person.room === stay.room) beganAt(person, sinceMs);
    return person.room === stay.room;
  }

  /** @param {(person: Person) => Pick<Person, 'id'|'room'|'sinceMs'|'ms'>} view @returns {Presence[]} */
  const everybody = (view) => [...people.values()].flatMap((person) => {
    const its = siteOf(person);
    const one = view(person);
    return person.state === 'new' || roomIn(one, its, site) < 0 ? [] : presenceOf(one, person.state, its.model.plan.rooms);
  });

  return {
    hear,
    tick,
    /** The model of another building, from what it has in common with this one. @param {Building} next */
    prepare: (next) => prepare(next, site.model),
    setBuilding,
    /** What the broker says about a gateway; silence of one that is out means nothing. @param {string} id @param {boolean} up */
    setGateway(id, up) {
      shared.online.set(id, up);
      site.silence.status(site.model.radio.gateways.get(id), up);
    },
    /** From when on it is open where somebody is, epoch ms. @param {string} id */
    doubtedSince(id) {
      const person = people.get(id);
      return person ? siteOf(person).history.openFromMs(person.slot) : Infinity;
    },
    /** Everybody heard within the last quarter of an hour whose room was reported. @returns {Presence[]} */
    presences: () => everybody((person) => person),
    /** The same people as history has them: who changed the room just now may still be in the one before. @returns {Presence[]} */
    openStays: () => everybody(stayOf),
    /** Why somebody is said to be where they are; null where nothing is known of them. @param {string} id */
    trace(id) {
      const person = people.get(id);
      if (!person || person.ms === -Infinity) return null;
      const { model, beliefs, hearing, levels, history } = siteOf(person);
      return traceOf(person, model, beliefs, hearing, levels, history);
    },
    /** How much stronger than calibrated each tag or phone is, dB. */
    levels: () => [...people.values()].map((person) => levelOf(person, siteOf(person).levels)),
    /** How much stronger than expected each gateway hears people, and each beacon is heard by them, dB. */
    receivers: () => site.receivers.all(),
    /** Who learns the devices' offsets. @param {((moment: import('../locator').Moment) => void)|null} listener */
    onMoment: (listener) => { shared.watch.see = listener; },
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
        const known = { room: r, sinceMs: since, ms: ts, heardS: Math.floor(ts / 1000), state, reported: state === 'lost' };
        people.set(id, Object.assign(newPerson(id, site.open(undefined, r, since)), known));
      } else if (person.first && since < stayOf(person).sinceMs) begin(person, room, since);
    },
    /** @param {string} id @param {string} room @param {number} sinceMs */
    began(id, room, sinceMs) {
      const person = people.get(id);
      const isThere = person && begin(person, room, sinceMs);
      return isThere && person.state !== 'new' ? presenceOf(person, person.state, siteOf(person).model.plan.rooms) : null;
    },
  };
}

module.exports = /** @satisfies {typeof import('../locator')} */ ({ createLocator, emptyOutcome, placeOf, DEFAULTS });
