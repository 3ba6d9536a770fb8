// @ts-check
'use strict';

const { isDemo } = require('../building/demo');

/**
 * Set-up steps of a new installation that are done, derived from the present state; nothing is stored.
 * @typedef {{building: boolean, receivers: boolean, staff: boolean, hacs: boolean}} Steps
 */

/** Result of `isDemo` by building file, since it costs a digest. @type {WeakMap<object, boolean>} */
const demos = new WeakMap();

/** @param {import('../building').BuildingFile} file */
function isDemoCached(file) {
  const demo = demos.get(file) ?? isDemo(file);
  demos.set(file, demo);
  return demo;
}

/**
 * @param {import('../site').Site} site
 * @param {{rights: Iterable<string>, expires_ms: number|null}[]} keys
 * @param {number} nowMs
 * @returns {Steps} building: it is not the demo, and has a room and a device; receivers: a gateway or a phone has sent something;
 *   staff: a building of one's own has staff; hacs: a valid key has the right history
 */
function stepsDone(site, keys, nowMs) {
  const { file, rooms, gateways, beacons } = site.building();
  const isOwn = !isDemoCached(file);
  const hasGateway = [...gateways.keys()].some((id) => {
    const { state = 'unknown', version = null } = site.devices.gateways.of(id, nowMs) ?? {};
    return state !== 'unknown' && !String(version).startsWith('simulator/');
  });
  return {
    building: isOwn && rooms.size > 0 && beacons.size + gateways.size > 0,
    receivers: site.live.receivedMs() !== null || hasGateway,
    staff: isOwn && file.staff.length > 0,
    hacs: keys.some(({ rights, expires_ms: ends }) => [...rights].includes('history') && (ends === null || ends > nowMs)),
  };
}

module.exports = { stepsDone };
