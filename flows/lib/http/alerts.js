// @ts-check
'use strict';

const { ApiError } = require('./errors');

/**
 * `/api/v1/alerts`, and what was heard that nobody registered.
 * @typedef {{alerts: import('../alerts').Alerts, site: import('../site').Site, clock: () => number}} Context
 */

/** @param {Context} context */
const listAlerts = ({ alerts }) => ({ alerts: alerts.list(), open: alerts.open(), dropped: alerts.dropped() });

/** @param {Context} context @param {string} id @param {string} by */
async function acknowledgeAlert({ alerts }, id, by) {
  const alert = await alerts.acknowledge(id, by);
  if (!alert) throw new ApiError(404, `there is no alert ${id}: it may have ended and been seen meanwhile`);
  return alert;
}

/** @param {Context} context @param {string} kind @param {string} by */
async function acknowledgeAlerts({ alerts }, kind, by) {
  const acknowledged = await alerts.acknowledgeAll(kind, by);
  if (acknowledged === null) throw new ApiError(404, `there is no kind of alerts ${kind}`);
  return { acknowledged };
}

/** @param {Context} context */
function listStrangers({ site, clock }) {
  const nowMs = clock();
  const beacons = site.beacons.unregistered().map(({ beacon, first_ms, heard_ms, kind, receiver, rssi, count }) => (
    { beacon, first_ms, heard_ms, kind, receiver, rssi, count }));
  const gateways = site.gateways.unlisted().map((gateway) => {
    const { state = 'unknown', since = null, reading_ms = null } = site.gateways.of(gateway, nowMs) ?? {};
    return { gateway, state, since, reading_ms };
  });
  return { beacons, gateways };
}

module.exports = { listAlerts, acknowledgeAlert, acknowledgeAlerts, listStrangers };
