// @ts-check
'use strict';

const { people } = require('./people');

/**
 * Who is on one level and how its gateways are doing; and who is lost anywhere.
 * @param {import('./topics').Context} context
 * @param {string} level id; of the lowest one if there is none of that id
 * @param {number} nowMs
 * @param {import('./people').Presence[]} presences
 */
function floor({ site }, level, nowMs, presences) {
  const { levels, gateways } = site.building();
  const shown = levels.some(({ id }) => id === level) ? level : levels[0]?.id;
  const ofLevel = [...gateways.values()].filter((gateway) => gateway.level === shown);
  return {
    level: shown,
    people: people(presences, (one) => one.level === shown && one.state !== 'lost'),
    lost: people(presences, ({ state }) => state === 'lost'),
    /** states by id; a gateway of which nothing is known yet is not among them */
    gateways: Object.fromEntries(ofLevel.flatMap(({ id }) => {
      const known = site.gateways.of(id, nowMs);
      return known ? [[id, known.state]] : [];
    })),
  };
}

module.exports = { floor };
