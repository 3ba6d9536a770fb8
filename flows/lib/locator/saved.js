// @ts-check
'use strict';

const { Hearing } = require('./hearing');
const { Person } = require('./person');
const { translated } = require('./reorder-buffer');
const { Trellis } = require('./trellis');

/**
 * All that a locator knows of people, as data that `v8.serialize` takes: another locator of the same building goes on from it as the
 * first one
 * would. Numbers of rooms and sources may be others there.
 * @typedef {import('./model').Model} Model
 * @typedef {object} Saved
 * @property {string} digest of the model that it can be restored into
 * @property {Person[]} people without their classes
 * @property {string[]} rooms keys by number
 * @property {string[]} sources keys by number
 * @property {string[]} tags keys by number
 * @property {[string, string[]][]} resends
 * @property {Map<string, import('./gateway-status').Said>} said of gateways
 */

/**
 * @param {Person[]} people @param {Model} model @param {Map<string, import('./gateway-status').Said>} said
 * @param {[string, string[]][]} resends
 * @returns {Saved}
 */
const saved = (people, { digest, numbers }, said, resends) => ({
  digest, people: structuredClone(people.map((person) => ({ ...person }))), rooms: [...numbers.rooms.keys()],
  sources: [...numbers.sources.keys()], tags: [...numbers.tags.keys()], resends, said: new Map(said),
});

/**
 * @param {Saved} from @param {(id: string) => boolean} isChosen people to restore @param {Model} model @returns {Person[]}
 */
function restored({ people, rooms, sources, tags }, isChosen, { numbers }) {
  /** @param {string[]} keys @param {Map<string, number>} into @returns {(number: number) => number} */
  const translate = (keys, into) => {
    const to = keys.map((key) => into.get(key) ?? -1);
    return (number) => (number < 0 ? number : to[number]);
  };
  const [roomOf, sourceOf, tagOf] = [translate(rooms, numbers.rooms), translate(sources, numbers.sources), translate(tags, numbers.tags)];
  return people.filter(({ id }) => isChosen(id)).map((person) => {
    const its = structuredClone(person);
    its.hearing = Object.assign(new Hearing(), its.hearing, { sources: its.hearing.sources.map(sourceOf) });
    its.trellises = its.trellises.map((trellis) => (
      Object.assign(new Trellis(), trellis, { rooms: trellis.rooms.map(roomOf), from: trellis.from.map(roomOf) })));
    its.seconds.forEach((second) => {
      second.room = roomOf(second.room);
      second.changes = second.changes.map((changed) => changed.map(roomOf));
    });
    its.waiting = translated(its.waiting, sourceOf, tagOf);
    if (its.advice) its.advice.rooms = its.advice.rooms.map(roomOf);
    return Object.assign(new Person(its.id), its, {
      room: roomOf(its.room), runnerUp: roomOf(its.runnerUp), stay: { ...its.stay, room: roomOf(its.stay.room) } });
  });
}

module.exports = { restored, saved };
