// @ts-check
'use strict';

const { compareIds } = require('../past/views');

const { isProbable } = require('../shared/probable');

/**
 * A person as pages show them; times in epoch ms. probability and runner_up only of whose room is probable: thousands of others
 * need not carry them.
 * @typedef {import('../locator').Presence} Presence
 * @typedef {{id: string, level: string, room: string, since: number, ts: number, state: string, probability?: number|null,
 *   runner_up?: string|null}} Person
 * @param {Presence} presence
 * @returns {Person}
 */
const personOf = ({ staff_id: id, level, room, since, ts, state, probability, runner_up: runnerUp }) => (
  { id, level, room, since, ts, state, ...(isProbable(probability) ? { probability, runner_up: runnerUp } : {}) });

/** @param {Presence[]} presences @param {(presence: Presence) => boolean} filter @returns {Person[]} by id */
const people = (presences, filter) => presences.filter(filter).map(personOf).sort((a, b) => compareIds(a.id, b.id));

module.exports = { people };
