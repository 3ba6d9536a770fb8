// @ts-check
'use strict';

const { DEFAULTS } = require('./constants');
const { createAnswers } = require('./answers');
const { modelOf } = require('./model');
const { createParts } = require('./parts');
const { placementKey } = require('./receivers');
const { linkCells, move } = require('./move');
const { emptyOutcome, newPerson } = require('./person');
const { heardByGateway, heardByPhone } = require('./sightings');
const { inOneGo } = require('../shared/pieces');
const { tuningOf } = require('../building/tuning');
const { isFor, restored, save } = require('./saved');
const { addGatewayReading, addPhoneBatch, flush, releaseDue } = require('./reorder-buffer');

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
  const shared = { said: new Map(), versions, watch: { see: null } };
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

  /** @param {number} nowMs @param {Outcome} outcome @returns {import('./reorder-buffer').Take<Person>} */
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
    const { building: its, settings, model: { radio }, liveness } = site;
    const { kind, receiver, ts } = batch;
    const take = takeAt(nowMs, outcome);
    if (kind === 'phone') {
      const heard = heardByPhone(batch, its, radio, settings.txDbm, site.corrections(ts));
      if (heard.sources.length === 0) return;
      for (const source of heard.sources) liveness.heard(source, nowMs);
      const person = personOf(receiver, nowMs, outcome);
      if (!addPhoneBatch(person, ts, heard, nowMs, settings, take)) outcome.late.push({ staff_id: receiver, ts });
      return;
    }
    const source = radio.gateways.get(receiver);
    if (source === undefined || liveness.knows(source, batch)) return;
    liveness.heard(source, nowMs);
    if (isBack(shared.said.get(receiver), ts)) {
      shared.said.delete(receiver);
      liveness.status(source, null);
    }
    heardByGateway(batch, its, settings.txDbm, (id, rssi, tag) => {
      const person = personOf(id, nowMs, outcome);
      const heard = { source, rssi: rssi - (site.corrections(ts)?.[source] ?? 0), tag };
      if (!addGatewayReading(person, ts, heard, nowMs, settings, take)) outcome.late.push({ staff_id: id, ts });
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
      releaseDue(person, nowMs, settings, take);
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

  const answers = createAnswers(people, siteOf, () => site);

  /**
   * What the broker says about a gateway; silence of one that is out means nothing.
   * @param {string} id @param {boolean} up @param {number} [ms] when
   */
  function setGateway(id, up, ms = Infinity) {
    shared.said.set(id, { up, ms });
    site.liveness.status(site.model.radio.gateways.get(id), up);
  }

  return {
    hear,
    tick,
    setGateway,
    /** The model of another building, from what it has in common with this one. @param {Building} next */
    prepare: (next) => prepare(next, site.model),
    setBuilding,
    /** @param {number} nowMs @param {Outcome} outcome @param {Iterable<string>} [ids] */
    save(nowMs, outcome, ids = people.keys()) {
      const chosen = [...ids].flatMap((id) => people.get(id) ?? []);
      for (const person of chosen) follow(person, nowMs, outcome);
      return save(chosen, site, shared.said);
    },
    /** @param {import('./saved').Saved} saved @param {(id: string) => boolean} [isChosen] */
    restore(saved, isChosen = () => true) {
      if (!isFor(saved, site)) return false;
      const slotOf = (/** @type {string} */ id) => {
        const before = people.get(id);
        if (before && !behind.has(before)) return before.slot;
        if (before) behind.get(before)?.beliefs.close(before.slot);
        if (before) behind.delete(before);
        return site.open();
      };
      for (const person of restored(saved, isChosen, site, slotOf)) people.set(person.id, person);
      for (const [id, { up, ms }] of saved.said) if (!shared.said.has(id)) setGateway(id, up, ms);
      return true;
    },
    ...answers,
    /** How much stronger than expected each gateway hears people, and each beacon is heard by them, dB. */
    receivers: () => site.receivers.all(),
    /** Who learns the devices' offsets. @param {((sample: import('../locator').OffsetSample) => void)|null} listener */
    onOffsetSample: (listener) => { shared.watch.see = listener; },
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
      } else if (person.first && since < answers.stayOf(person).sinceMs) answers.correctStayStart(id, room, since);
    },
  };
}

/** A gateway's clock may be ahead, and readings in flight come after its end. */
const OUT_MS = 3000;

/**
 * Whether a gateway that was called out goes on: its last will came late. A will has no time of its own; a cluster of brokers may
 * deliver it when the gateway has long been connected to another node.
 * @param {import('./parts').Said|undefined} said @param {number} ts of what it heard
 */
const isBack = (said, ts) => said !== undefined && !said.up && ts > said.ms + OUT_MS;

module.exports = /** @satisfies {typeof import('../locator')} */ ({ createLocator, emptyOutcome, placementKey, DEFAULTS });
