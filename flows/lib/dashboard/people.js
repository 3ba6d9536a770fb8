// @ts-check
'use strict';

const { compareIds } = require('../history/views/stays');

/**
 * A person as pages show them; times in epoch ms.
 * @typedef {import('../locator').Presence} Presence
 * @typedef {{id: string, level: string, room: string, since: number, ts: number, state: string}} Person
 * @param {Presence} presence
 * @returns {Person}
 */
const personOf = ({ staff_id: id, level, room, since, ts, state }) => ({ id, level, room, since, ts, state });

/** @param {Presence[]} presences @param {(presence: Presence) => boolean} filter @returns {Person[]} by id */
const people = (presences, filter) => presences.filter(filter).map(personOf).sort((a, b) => compareIds(a.id, b.id));

module.exports = { people };
