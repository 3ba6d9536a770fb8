// @ts-check
'use strict';

const { compareIds } = require('../history/views/stays');

/**
 * Somebody as the pages show them; times in epoch ms.
 * @typedef {import('../locator').Presence} Presence
 * @typedef {{id: string, level: string, room: string, since: number, ts: number, state: string}} Someone
 * @param {Presence} presence
 * @returns {Someone}
 */
const someone = ({ staff_id: id, level, room, since, ts, state }) => ({ id, level, room, since, ts, state });

/** @param {Presence[]} presences @param {(presence: Presence) => boolean} which @returns {Someone[]} by id */
const people = (presences, which) => presences.filter(which).map(someone).sort((a, b) => compareIds(a.id, b.id));

module.exports = { people };
