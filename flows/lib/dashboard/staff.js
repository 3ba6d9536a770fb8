// @ts-check
'use strict';

const { LATEST_MS } = require('../past/history');
const { people } = require('./people');

/**
 * Everybody of the last quarter of an hour, with the last RSSI and the battery of their tag (of several tags: the weakest).
 * @param {import('./topics').Context} context
 * @param {string} _argument
 * @param {number} nowMs
 * @param {import('./people').Presence[]} presences
 */
function staff({ site }, _argument, nowMs, presences) {
  const latest = new Map(site.memory.history.latestSince(nowMs - LATEST_MS).map((location) => [location.staff_id, location]));
  const members = site.building().staff;
  return {
    people: people(presences, () => true).map((one) => {
      const { rssi = null, beacon = null } = latest.get(one.id) ?? {};
      return { ...one, rssi, beacon, battery_mv: weakestBattery(site, members.get(one.id)?.tags ?? []) };
    }),
  };
}

/** @param {import('../site').Site} site @param {string[]} tags @returns {number|null} mV */
function weakestBattery(site, tags) {
  const known = tags.map((tag) => site.devices.beacons.of(tag)?.battery_mv ?? null).filter((mv) => mv !== null);
  return known.length === 0 ? null : Math.min(...known);
}

module.exports = { staff };
