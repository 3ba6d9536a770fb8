// @ts-check
'use strict';

const { Person, newMemory, presenceOf } = require('./person');
const { ReorderBuffer, renumbered } = require('./reorder-buffer');
const { grown } = require('./rows');

/**
 * Everybody a locator knows, each in a slot. By slot stands what is asked of many people at once; the rest is with the person.
 * @typedef {import('./model').Numbers} Numbers
 * @typedef {object} Saved people as data that `v8.serialize` takes: another locator goes on from them as this one would, though numbers
 *   of rooms, sources and tags may be others there
 * @property {{person: any, arrivedMs: number, buffered: import('./reorder-buffer').Saved}[]} people without their classes
 * @property {string[]} rooms keys by number
 * @property {string[]} sources keys by number
 * @property {string[]} tags keys by number
 */
class People {
  /** @param {import('./settings').Settings} settings */
  constructor(settings) {
    this.settings = settings;
    this.buffer = new ReorderBuffer(settings);
    this.memory = newMemory();
    /** @type {Map<string, Person>} */
    this.byId = new Map();
    /** @type {(Person|undefined)[]} */
    this.slots = [];
    /** @type {number[]} */
    this.freeSlots = [];
    /** When time alone changes something for them, by our clock; Infinity: never. */
    this.wakeMs = new Float64Array(0);
    /** Slots by number of the tag, as far as they were asked for since anybody came or went; -1: not yet. */
    this.slotsByTag = new Int32Array(0);
  }

  /** @param {string} id */
  slotOf(id) { return (this.byId.get(id) ?? this.add(id)).slot; }

  /** @param {number} tag by number @param {import('./model').Model} model */
  slotOfOwner(tag, { owners }) {
    if (this.slotsByTag.length < owners.length) this.slotsByTag = new Int32Array(owners.length).fill(-1);
    if (this.slotsByTag[tag] >= 0) return this.slotsByTag[tag];
    const slot = this.slotOf(owners[tag]);
    this.slotsByTag[tag] = slot;
    return slot;
  }

  /**
   * Takes the place of who had that id.
   * @param {string} id @param {number} [arrivedMs] by our clock @param {Partial<import('./reorder-buffer').Saved>} [buffered]
   * @param {ConstructorParameters<typeof Person>[3]} [remembered]
   */
  add(id, arrivedMs = -Infinity, buffered = {}, remembered = {}) {
    const slot = this.byId.get(id)?.slot ?? this.freeSlots.pop() ?? this.slots.length;
    const person = new Person(id, slot, this.memory, remembered);
    this.wakeMs = grown(this.wakeMs, slot + 1);
    this.byId.set(id, person);
    this.slots[slot] = person;
    this.wakeMs[slot] = -Infinity;
    this.buffer.begin(slot, buffered);
    this.buffer.arrive(slot, arrivedMs);
    this.slotsByTag.fill(-1);
    return person;
  }

  /** @param {Person} person */
  forget({ id, slot }) {
    this.byId.delete(id);
    this.slots[slot] = undefined;
    this.freeSlots.push(slot);
    this.wakeMs[slot] = Infinity;
    this.slotsByTag.fill(-1);
  }

  /** Something of somebody arrived, and waits or was taken. @param {number} slot @param {number} nowMs */
  arrived(slot, nowMs) {
    this.buffer.arrive(slot, nowMs);
    this.wakeBy(slot, this.buffer.dueMs(slot));
  }

  /** @param {number} slot @param {number} ms */
  wakeBy(slot, ms) { if (ms < this.wakeMs[slot]) this.wakeMs[slot] = ms; }

  /**
   * What was due for somebody is done: when time alone changes something next. That is too early where they are heard until then.
   * @param {Person} person @param {number} nowMs
   */
  rest({ slot, ms }, nowMs) {
    const { arriveMs, staleMs, lostMs, lateMs, goneMs } = this.settings;
    const arrivedMs = this.buffer.arrivedMs(slot);
    this.wakeMs[slot] = Math.min(this.buffer.dueMs(slot), arrivedMs + goneMs + 1);
    for (const atMs of [ms + arriveMs, ms + staleMs, ms + lostMs, arrivedMs + lateMs + 1]) {
      if (atMs > nowMs) this.wakeBy(slot, atMs);
    }
  }

  /** For whom time alone changes something by now. @param {number} nowMs */
  * due(nowMs) {
    for (let slot = 0; slot < this.slots.length; slot += 1) {
      if (this.wakeMs[slot] > nowMs) continue;
      const person = this.slots[slot];
      if (person) yield person;
    }
  }

  /**
   * Of all whose room was reported.
   * @param {import('./model').Model} model @param {(person: Person) => import('./person').Staying} view where and since when they are
   * @returns {import('../locator').Presence[]}
   */
  presences(model, view) {
    return [...this.byId.values()].flatMap((person) => {
      const at = view(person);
      return person.state === 'new' || at.room < 0 ? [] : presenceOf(person, model, at);
    });
  }

  /** @param {Iterable<string>} ids @param {Numbers} numbers @returns {Saved} */
  save(ids, { rooms, sources, tags }) {
    const chosen = [...ids].flatMap((id) => this.byId.get(id) ?? []);
    const people = chosen.map((person) => ({
      person: { ...person, hearing: person.hearing.save(), rule: person.rule.save(), advised: person.advised && person.advised.save() },
      arrivedMs: this.buffer.arrivedMs(person.slot), buffered: this.buffer.save(person.slot),
    }));
    return { people: structuredClone(people), rooms: [...rooms.keys()], sources: [...sources.keys()], tags: [...tags.keys()] };
  }

  /** @param {Saved} saved @param {(id: string) => boolean} isChosen people to restore @param {Numbers} numbers */
  restore({ people, rooms, sources, tags }, isChosen, numbers) {
    const roomOf = translation(rooms, numbers.rooms);
    const sourceOf = translation(sources, numbers.sources);
    const tagOf = translation(tags, numbers.tags);
    for (const { person: data, arrivedMs, buffered } of people) {
      if (!isChosen(data.id)) continue;
      const { hearing, rule, advised, ...rest } = structuredClone(data);
      const person = this.add(data.id, arrivedMs, renumbered(structuredClone(buffered), sourceOf, tagOf), { hearing, rule, advised });
      Object.assign(person, rest, { slot: person.slot });
      person.hearing.renumber(sourceOf);
      for (const trellis of person.trellises) trellis.renumber(roomOf);
      for (const place of [person, person.stay, ...person.seconds]) place.room = roomOf(place.room);
      person.runnerUp = roomOf(person.runnerUp);
      if (person.advice) person.advice.rooms = person.advice.rooms.map(roomOf);
    }
  }
}

/** @param {string[]} keys by number @param {Map<string, number>} numbers by key @returns {(number: number) => number} */
function translation(keys, numbers) {
  const to = keys.map((key) => numbers.get(key) ?? -1);
  return (number) => (number < 0 ? number : to[number]);
}

module.exports = { People };
