// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { keyOf } = require('./plan');
const { placementKey } = require('./receivers');
const { copyIn, copyOut } = require('./slots');

/**
 * All that a locator knows of people, as data that `v8.serialize` takes: another locator of the same model goes on from it as the
 * first one would.
 * @typedef {import('./person').Person} Person
 * @typedef {import('./parts').Parts} Parts
 * @typedef {import('./slots').Numbers} Numbers
 * @typedef {object} Saved
 * @property {string} model what it can be restored into
 * @property {Omit<Person, 'slot'>[]} people
 * @property {Numbers[][]} parts of each of `slotted` the slots of those people, in their order
 * @property {string[]} beacons ids of the numbers in the lookahead
 * @property {import('./source-liveness').Heard} silence
 * @property {Map<string, import('./parts').Said>} said of gateways
 */

/** To be counted up when what the numbers of a part mean is different. */
const FORMAT = 2;

/** What lives in slots. @param {Parts} parts */
const slotted = ({ beliefs, hearing, learnedStrengths, lookahead }) => [beliefs, hearing, learnedStrengths, lookahead];

/** @type {WeakMap<import('./model').Model, string>} */
const digests = new WeakMap();

/** What the numbers of a part stand for: rooms, cells, devices and settings. @param {import('./model').Model} model */
function digestOf(model) {
  let digest = digests.get(model);
  if (digest === undefined) {
    const { plan, cells, radio, settings } = model;
    const hash = createHash('sha256').update(JSON.stringify([FORMAT, settings, plan.rooms.map(keyOf),
      radio.sources.map(({ id, device }) => [id, placementKey(device)])]));
    hash.update(Float64Array.from(cells.all.flatMap(({ x, y }) => [x, y]))).update(Float64Array.from(cells.room));
    digests.set(model, digest = hash.digest('hex'));
  }
  return digest;
}

/** @param {import('./reorder-buffer').Step|null} step @returns {import('./reorder-buffer').Step|null} */
const copyOf = (step) => step && { ...step, sources: step.sources.slice(), rssis: step.rssis.slice(), next: copyOf(step.next) };

/**
 * @param {Person[]} people who are followed in these parts; is sorted @param {Parts} parts
 * @param {Map<string, import('./parts').Said>} said @returns {Saved}
 */
function save(people, parts, said) {
  people.sort((a, b) => a.slot - b.slot);
  const slots = people.map(({ slot }) => slot);
  return {
    model: digestOf(parts.model),
    people: people.map(({ slot: _, ...person }) => ({ ...person, waiting: copyOf(person.waiting) })),
    parts: slotted(parts).map((part) => copyOut(part.arrays(), slots)),
    beacons: parts.lookahead.ids(),
    silence: parts.liveness.save(),
    said: new Map(said),
  };
}

/** Whether it can be restored there. @param {Saved} saved @param {Parts} parts */
const isFor = (saved, { model }) => saved.model === digestOf(model);

/**
 * @param {Saved} saved @param {(id: string) => boolean} isChosen people to restore @param {Parts} parts that it is for
 * @param {(id: string) => number} slotOf a slot there for somebody
 * @returns {Person[]}
 */
function restored({ people, parts: copies, beacons, silence }, isChosen, parts, slotOf) {
  const from = people.flatMap(({ id }, n) => (isChosen(id) ? [n] : []));
  const to = from.map((n) => slotOf(people[n].id));
  slotted(parts).forEach((part, k) => copyIn(part.arrays(), copies[k], from, to));
  parts.lookahead.rename(to, beacons);
  parts.liveness.restore(silence);
  return from.map((n, k) => ({ ...people[n], waiting: copyOf(people[n].waiting), slot: to[k] }));
}

module.exports = { isFor, restored, save };
