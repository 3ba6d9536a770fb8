// @ts-check
'use strict';

const { people } = require('./people');

/**
 * People and gateway states of one level, and lost people of the whole building.
 * @param {import('./topics').Context} context
 * @param {string} level id; an unknown id stands for the first level
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
    /** states by id, without gateways of which nothing is known yet */
    gateways: Object.fromEntries(ofLevel.flatMap(({ id }) => {
      const known = site.devices.gateways.of(id, nowMs);
      return known ? [[id, known.state]] : [];
    })),
  };
}

module.exports = { floor };
