// @ts-check
'use strict';

const { DEFAULTS, TUNABLE } = require('./settings');
const { knowsAny } = require('./decisions');
const { Following } = require('./follow');
const { GatewayStatus } = require('./gateway-status');
const { Sampling, createLearned } = require('./learned');
const { createModel, modelOf, placementKey } = require('./model');
const { Person, emptyOutcome, knownPerson, presenceOf } = require('./person');
const { heardByPhone, powerDb } = require('./sightings');
const { createResends, flush, addGatewayReading, addPhoneBatch, releaseDue } = require('./reorder-buffer');
const { restored, saved } = require('./saved');
const { expectedIn, strengthOf, traceOf } = require('./trace');

/**
 * Where everybody is. Each staff member has a level for each device that is heard, a level for each room, and a trellis over
 * rooms (trellis.js), which live and history read in two directions. All decisions run on the messages' own time, so the same readings give
 * the same history whenever and however fast they are taken. The rest of the flows knows a locator only by `createLocator` and the methods
 * of what it returns; it owns no timer and no clock.
 * @typedef {import('../building').Building} Building
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('../locator').Presence} Presence
 * @typedef {import('./model').Model} Model
 */
class Locator {
  /**
   * @param {Building} building @param {Partial<import('./settings').Settings>} overrides of single numbers
   * @param {Model|undefined} model of the building, by a locator with the same overrides
   * @param {readonly import('../locator').LearnedVersion[]} versions of what was learned, ascending; may grow at the end
   */
  constructor(building, overrides, model, versions) {
    this.settings = Object.freeze({ ...DEFAULTS, ...overrides });
    /** @type {Map<string, Person>} */
    this.people = new Map();
    this.gateways = new GatewayStatus();
    this.versions = versions;
    this.resends = createResends();
    this.sampling = new Sampling();
    this.site = this.#siteOf(building, model ?? createModel(building, this.settings));
  }

  /** All that follows from a building. @param {Building} building @param {Model} model */
  #siteOf(building, model) {
    const learnedAt = createLearned(model, this.versions, building.file.learned_offsets ?? true);
    const isOut = (/** @type {number} */ source) => this.gateways.isOut(model.sources[source]);
    const following = new Following(model, this.settings, { isOut, at: learnedAt, sampling: this.sampling });
    return { building, model, learnedAt, following };
  }

  /** @param {number} nowMs @param {Outcome} outcome @returns {import('./reorder-buffer').Take<Person>} */
  #takeAt(nowMs, outcome) {
    return (person, ms, heard) => this.site.following.take(person, ms, heard, nowMs, outcome);
  }

  /** @param {string} id @param {number} nowMs when something of them arrived */
  #personOf(id, nowMs) {
    let person = this.people.get(id);
    if (!person) this.people.set(id, person = new Person(id));
    person.heardS = Math.floor(nowMs / 1000);
    return person;
  }

  /**
   * Takes one checked batch.
   * @param {import('../intake/readings').Batch} batch @param {number} nowMs @param {Outcome} outcome is added to
   */
  hear(batch, nowMs, outcome) {
    const { settings, site: { model, learnedAt } } = this;
    const { kind, receiver, ts } = batch;
    const take = this.#takeAt(nowMs, outcome);
    const { offsets } = learnedAt(ts);
    if (kind === 'phone') {
      const heard = heardByPhone(batch, model, settings, offsets);
      if (heard.sources.length === 0) return;
      const person = this.#personOf(receiver, nowMs);
      if (!addPhoneBatch(person, ts, heard, nowMs, settings, take)) outcome.late.push({ staff_id: receiver, ts });
      return;
    }
    const source = model.gateways.get(receiver);
    if (source === undefined || this.resends.knows(receiver, batch)) return;
    this.gateways.heard(receiver, ts);
    const { offsetDb, leastDbm } = /** @type {import('./model').Source} */ (model.sources[source]);
    const offDb = offsetDb - (offsets === null ? 0 : offsets[source]);
    for (const { beacon, rssi } of batch.readings) {
      const tag = model.tags.get(beacon);
      if (tag === undefined || rssi + offsetDb < leastDbm) continue;
      const person = this.#personOf(tag.owner, nowMs);
      const reading = { source, rssi: rssi + offDb - powerDb(tag.tx, settings), raw: rssi + offsetDb, tag: tag.number };
      if (!addGatewayReading(person, ts, reading, nowMs, settings, take)) outcome.late.push({ staff_id: tag.owner, ts });
    }
  }

  /**
   * Lets time pass: steps come to their end, people grow stale, get lost and are forgotten. Several times a second.
   * @param {number} nowMs @param {Outcome} outcome is added to
   */
  tick(nowMs, outcome) {
    const take = this.#takeAt(nowMs, outcome);
    for (const person of this.people.values()) {
      releaseDue(person, nowMs, this.settings, take);
      this.site.following.age(person, nowMs, outcome);
      if (nowMs - person.heardS * 1000 > this.settings.goneMs) this.people.delete(person.id);
    }
  }

  /**
   * The model of another building, which keeps the numbers of this one.
   * @param {Building} next @returns {import('../shared/pieces').Work<Model>}
   */
  prepare(next) { return modelOf(next, this.settings, this.site.model.numbers); }

  /**
   * Uses another building from now on. Whoever is in a room that still exists stays there; the others leave.
   * @param {Building} next @param {number} nowMs @param {Outcome} outcome is added to @param {Model} [model] prepared
   */
  setBuilding(next, nowMs, outcome, model = createModel(next, this.settings, this.site.model.numbers)) {
    const usesOffsets = next.file.learned_offsets === this.site.building.file.learned_offsets;
    if (model.digest === this.site.model.digest && usesOffsets) { // nothing is different by which anybody is located
      this.site.building = next;
      return;
    }
    const isGone = (/** @type {number} */ room) => room >= 0 && model.rooms[room] === undefined;
    const take = this.#takeAt(nowMs, outcome);
    for (const person of this.people.values()) {
      if (!knowsAny(person, isGone)) continue;
      flush(person, take);
      this.site.following.decisions.leave(person, isGone, outcome);
    }
    this.site = this.#siteOf(next, model);
  }

  /**
   * What the broker says about a gateway; silence of one that is out means nothing.
   * @param {string} id @param {boolean} up @param {number} [ms] when
   */
  setGateway(id, up, ms = Infinity) {
    this.gateways.set(id, up, ms);
  }

  /** @param {number} nowMs @param {Outcome} outcome @param {Iterable<string>} [ids] @returns {import('./saved').Saved} */
  save(nowMs, outcome, ids = this.people.keys()) {
    const chosen = [...ids].flatMap((id) => this.people.get(id) ?? []);
    return saved(chosen, this.site.model, this.gateways.said, this.resends.save());
  }

  /** @param {import('./saved').Saved} from @param {(id: string) => boolean} [isChosen] */
  restore(from, isChosen = () => true) {
    if (from.digest !== this.site.model.digest) return false;
    for (const person of restored(from, isChosen, this.site.model)) this.people.set(person.id, person);
    this.resends.restore(from.resends);
    for (const [id, { up, ms }] of from.said) if (!this.gateways.said.has(id)) this.setGateway(id, up, ms);
    return true;
  }

  /** From when on it is open where somebody is, epoch ms. @param {string} id */
  doubtedSince(id) {
    const first = this.people.get(id)?.seconds[0];
    return first ? first.second * 1000 : Infinity;
  }

  /** Where and since when somebody is as history has it, or until then as it seems. @param {Person} person */
  #stayOf(person) {
    return person.stay.room < 0 ? person : { id: person.id, ...person.stay };
  }

  /** @param {(person: Person) => import('./person').Staying} view @returns {Presence[]} */
  #everybody(view) {
    return [...this.people.values()].flatMap((person) => {
      const at = view(person);
      return person.state === 'new' || at.room < 0 ? [] : presenceOf(person, this.site.model, at);
    });
  }

  /** Everybody heard within the last quarter of an hour whose room was reported. */
  presences() { return this.#everybody((person) => person); }

  /** The same people as history has them: who changed the room just now may still be in the one before. */
  openStays() { return this.#everybody((person) => this.#stayOf(person)); }

  /** Why somebody is said to be where they are; null where nothing is known of them. @param {string} id */
  trace(id) {
    const person = this.people.get(id);
    return person && person.ms !== -Infinity ? traceOf(person, this.site.following.belief) : null;
  }

  /** What measured devices are expected to be heard like in a room, on average over its places, dBm by device id. @param {string} id */
  expectedIn(id) { return expectedIn(id, this.site.model); }

  /** How much stronger than calibrated each tag or phone is, dB. */
  learnedStrengths() {
    return [...this.people.values()].map((person) => ({ staff_id: person.id, ...strengthOf(person) }));
  }

  /** Who learns of devices and of the plan. @param {((sample: import('../locator').Sample) => void)|null} listener */
  onSample(listener) { this.sampling.listener = listener; }

  /**
   * Their stay in a room began at another time than it seemed.
   * @param {string} id @param {string} room @param {number} sinceMs @returns {Presence|null} null: they are not there at present
   */
  correctStayStart(id, room, sinceMs) {
    const person = this.people.get(id);
    if (!person) return null;
    const stay = this.#stayOf(person);
    if (stay.room < 0 || this.site.model.rooms[stay.room]?.id !== room) return null;
    if (person.stay.room === stay.room) person.stay.sinceMs = sinceMs;
    if (person.room !== stay.room) return null;
    person.sinceMs = sinceMs;
    return person.state === 'new' ? null : presenceOf(person, this.site.model);
  }

  /**
   * Somebody is known to be in a room since some time: where a rebuilt history leaves off, or where it begins.
   * @param {Presence} presence its ts: up to when that is known
   */
  resume({ staff_id: id, level, room, since, ts, state }) {
    const known = this.site.model.numbers.rooms.get(`${level}/${room}`) ?? -1;
    if (this.site.model.rooms[known] === undefined) return;
    const before = this.people.get(id);
    if (!before) {
      this.people.set(id, knownPerson(id, known, since, ts, state, this.settings));
    } else if (before.first && since < this.#stayOf(before).sinceMs) this.correctStayStart(id, room, since);
  }
}

/**
 * @param {Building} building @param {Partial<import('./settings').Settings>} [overrides] @param {Model} [prepared]
 * @param {readonly import('../locator').LearnedVersion[]} [versions]
 */
const createLocator = (building, overrides = {}, prepared = undefined, versions = []) => (
  new Locator(building, overrides, prepared, versions));

module.exports = /** @satisfies {typeof import('../locator')} */ ({ createLocator, emptyOutcome, placementKey, DEFAULTS, TUNABLE });
