// @ts-check
'use strict';

const { isDemo } = require('../building/demo');

/**
 * What a new installation has done and what comes next, from what is so: nothing of it is kept.
 * @typedef {{building: boolean, receivers: boolean, staff: boolean, hacs: boolean}} Steps
 */

/** Looking whether a building is the demo costs a digest: once for each building. @type {WeakMap<object, boolean>} */
const demos = new WeakMap();

/** @param {import('../building').BuildingFile} file */
function known(file) {
  const demo = demos.get(file) ?? isDemo(file);
  demos.set(file, demo);
  return demo;
}

/**
 * @param {import('../site').Site} site
 * @param {{rights: Iterable<string>, expires_ms: number|null}[]} keys
 * @param {number} nowMs
 * @returns {Steps} building: it is an own one, with a room and a device; receivers: a gateway or a phone has said something;
 *   staff: of an own building; hacs: there is a key that may ask for history
 */
function stepsDone(site, keys, nowMs) {
  const { file, rooms, gateways, beacons } = site.building();
  const own = !known(file);
  const speaks = [...gateways.keys()].some((id) => {
    const { state = 'unknown', version = null } = site.gateways.of(id, nowMs) ?? {};
    return state !== 'unknown' && !String(version).startsWith('simulator/');
  });
  return {
    building: own && rooms.size > 0 && beacons.size + gateways.size > 0,
    receivers: site.receivedMs() !== null || speaks,
    staff: own && file.staff.length > 0,
    hacs: keys.some(({ rights, expires_ms: ends }) => [...rights].includes('history') && (ends === null || ends > nowMs)),
  };
}

module.exports = { stepsDone };
