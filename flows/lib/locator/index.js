// @ts-check
'use strict';

const { DEFAULTS, TUNABLE } = require('./settings');
const { Around, Gateways } = require('./around');
const { knowsAny } = require('./decisions');
const { Following } = require('./follow');
const { Heard } = require('./hearing');
const { createModel, modelOf, placementKey } = require('./model');
const { People } = require('./people');
const { emptyOutcome, place, presenceOf } = require('./person');
const { Sampling, expectedIn, strengthOf, traceOf } = require('./trace');

/**
 * Where everybody is. Each staff member has a level for each device that is heard, a level for each room, and a trellis over
 * rooms (trellis.js), which live and history read in two directions. All decisions run on the messages' own time, so the same readings give
 * the same history whenever and however fast they are taken. The rest of the flows knows a locator only by `createLocator` and the methods
 * of what it returns; it owns no timer and no clock.
 * @typedef {import('../building').Building} Building
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('../locator').Presence} Presence
 * @typedef {import('./model').Model} Model
 * @typedef {import('./person').Person} Person
 */
class Locator {
  /**
   * @param {Building} building @param {Partial<import('./settings').Settings>} overrides of single numbers
   * @param {Model|undefined} model of the building, by a locator with the same overrides
   * @param {readonly import('../locator').LearnedVersion[]} versions of what was learned, ascending; may grow at the end
   */
  constructor(building, overrides, model, versions) {
    this.settings = Object.freeze({ ...DEFAULTS, ...overrides });
    this.people = new People(this.settings);
    this.gateways = new Gateways();
    this.versions = versions;
    this.sampling = new Sampling();
    this.phoneHeard = new Heard('phone');
    this.site = this.#siteOf(building, model ?? createModel(building, this.settings));
  }

  /** All that follows from a building. @param {Building} building @param {Model} model */
  #siteOf(building, model) {
    const around = new Around(model, this.gateways, this.versions, building.file.learned_offsets ?? true);
    return { building, model, around, following: new Following(model, this.settings, around, this.sampling, this.people.memory) };
  }

  /** @param {number} nowMs @param {Outcome} outcome @returns {import('./reorder-buffer').Now} */
  #at(nowMs, outcome) {
    const { people, site: { following } } = this;
    return {
      nowMs,
      take(slot, ms, heard) {
        const person = /** @type {Person} */ (people.slots[slot]);
        if (person.state !== 'present') people.wakeBy(slot, nowMs); // soon to be shown
        following.take(person, ms, heard, nowMs, outcome);
      },
    };
  }

  /**
   * Takes one checked batch.
   * @param {import('../live/readings').Batch} batch @param {number} nowMs @param {Outcome} outcome is added to
   */
  hear(batch, nowMs, outcome) {
    const { offsets } = this.site.around.at(batch.ts);
    if (batch.kind === 'phone') this.#hearPhone(batch, offsets, nowMs, outcome);
    else if (!this.gateways.sentBefore(batch)) this.#hearGateway(batch, offsets, nowMs, outcome);
  }

  /**
   * @param {import('../live/readings').Batch} batch @param {Float32Array|null} offsets dB by source @param {number} nowMs
   * @param {Outcome} outcome
   */
  #hearPhone({ receiver, ts, readings }, offsets, nowMs, outcome) {
    const { people, phoneHeard, site: { model } } = this;
    phoneHeard.hearBeacons(readings, model, offsets);
    if (phoneHeard.size === 0) return;
    const slot = people.slotOf(receiver);
    if (!people.buffer.addPhoneBatch(slot, ts, phoneHeard, this.#at(nowMs, outcome))) outcome.late.push({ staff_id: receiver, ts });
    people.arrived(slot, nowMs);
  }

  /**
   * @param {import('../live/readings').Batch} batch @param {Float32Array|null} offsets dB by source @param {number} nowMs
   * @param {Outcome} outcome
   */
  #hearGateway({ receiver, ts, readings }, offsets, nowMs, outcome) {
    const { people, site: { model } } = this;
    const source = model.sources[model.gateways.get(receiver) ?? -1];
    if (source === undefined) return;
    this.gateways.heard(receiver, ts);
    const now = this.#at(nowMs, outcome);
    const { number, offsetDb, leastDbm } = source;
    const offDb = offsetDb - (offsets === null ? 0 : offsets[number]);
    for (const { beacon, rssi } of readings) {
      const tag = model.tags.get(beacon);
      if (tag === undefined || rssi + offsetDb < leastDbm) continue;
      const slot = people.slotOfOwner(tag, model);
      const asDefault = rssi + offDb - model.tagDb[tag];
      const isTaken = people.buffer.addGatewayReading(slot, ts, number, asDefault, rssi + offsetDb, tag, now);
      if (!isTaken) outcome.late.push({ staff_id: model.owners[tag], ts });
      people.arrived(slot, nowMs);
    }
  }

  /**
   * Lets time pass: steps come to their end, people grow stale, get lost and are forgotten. Several times a second.
   * @param {number} nowMs @param {Outcome} outcome is added to
   */
  tick(nowMs, outcome) {
    const { settings, people, site: { following } } = this;
    const now = this.#at(nowMs, outcome);
    for (const person of people.due(nowMs)) {
      people.buffer.releaseDue(person.slot, now);
      const arrivedMs = people.buffer.arrivedMs(person.slot);
      following.age(person, arrivedMs, nowMs, outcome);
      if (nowMs - arrivedMs > settings.goneMs) people.forget(person);
      else people.rest(person, nowMs);
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
    const now = this.#at(nowMs, outcome);
    for (const person of this.people.byId.values()) {
      if (!knowsAny(person, isGone)) continue;
      this.people.buffer.flush(person.slot, now);
      this.site.following.decisions.leave(person, isGone, outcome);
    }
    this.site = this.#siteOf(next, model);
    this.people.slotsByTag.fill(-1);
    this.people.wakeMs.fill(-Infinity);
  }

  /**
   * What the broker says about a gateway; silence of one that is out means nothing.
   * @param {string} id @param {boolean} up @param {number} [ms] when
   */
  setGateway(id, up, ms = Infinity) {
    this.gateways.set(id, up, ms);
  }

  /**
   * digest: of the model that it can be restored into.
   * @typedef {import('./people').Saved & {digest: string, gateways: import('./around').Saved}} Saved
   * @param {number} nowMs @param {Outcome} outcome @param {Iterable<string>} [ids] @returns {Saved}
   */
  save(nowMs, outcome, ids = this.people.byId.keys()) {
    const { digest, numbers } = this.site.model;
    return { digest, ...this.people.save(ids, numbers), gateways: this.gateways.save() };
  }

  /** @param {Saved} from @param {(id: string) => boolean} [isChosen] */
  restore(from, isChosen = () => true) {
    if (from.digest !== this.site.model.digest) return false;
    this.people.restore(from, isChosen, this.site.model.numbers);
    this.gateways.restore(from.gateways);
    return true;
  }

  /** From when on it is open where somebody is, epoch ms. @param {string} id */
  doubtedSince(id) {
    const first = this.people.byId.get(id)?.seconds[0];
    return first ? first.second * 1000 : Infinity;
  }

  /** Forgets who was heard later than now: our clock was set back. @param {number} nowMs */
  forgetAfter(nowMs) {
    const isAhead = (/** @type {Person} */ { ms }) => ms > nowMs + this.settings.lateMs;
    for (const person of [...this.people.byId.values()].filter(isAhead)) this.people.forget(person);
  }

  /** Where and since when somebody is as history has it, or until then as it seems. @param {Person} person */
  #stayOf(person) {
    return person.stay.room < 0 ? person : { id: person.id, ...person.stay };
  }

  /** Everybody heard within the last quarter of an hour whose room was reported. */
  presences() { return this.people.presences(this.site.model, (person) => person); }

  /** The same people as history has them: who changed the room just now may still be in the one before. */
  openStays() { return this.people.presences(this.site.model, (person) => this.#stayOf(person)); }

  /** Why somebody is said to be where they are; null where nothing is known of them. @param {string} id */
  trace(id) {
    const person = this.people.byId.get(id);
    return person && person.ms !== -Infinity ? traceOf(person, this.site.following.belief) : null;
  }

  /** What measured devices are expected to be heard like in a room, on average over its places, dBm by device id. @param {string} id */
  expectedIn(id) { return expectedIn(id, this.site.model); }

  /** How much stronger than calibrated each tag or phone is, dB. */
  learnedStrengths() {
    return [...this.people.byId.values()].map((person) => ({ staff_id: person.id, ...strengthOf(person) }));
  }

  /** Who learns of devices and of the plan. @param {((sample: import('../locator').Sample) => void)|null} listener */
  onSample(listener) { this.sampling.listener = listener; }

  /**
   * Their stay in a room began at another time than it seemed.
   * @param {string} id @param {string} room @param {number} sinceMs @returns {Presence|null} null: they are not there at present
   */
  correctStayStart(id, room, sinceMs) {
    const person = this.people.byId.get(id);
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
    const before = this.people.byId.get(id);
    if (!before) {
      place(this.people.add(id, ts, { frontMs: ts }), known, since, ts, state, this.settings);
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
