// @ts-check
'use strict';

const { offsetsInUse } = require('../devices/learned/offsets-in-use');
const { compareIds } = require('../history/views/stays');

/** Figures of a gateway that the page shows. */
const FIGURES = /** @type {const} */ (['queued', 'dropped', 'scan_restarts', 'clock_offset_ms', 'clock_synchronised', 'cpu_temperature_c', 'uptime_s']);

const NO_STATE = Object.freeze({ state: 'unknown', since: null, version: null, health: null, reading_ms: null, readings_per_s: 0 });

/**
 * State of the gateways, the alerts by kind, accounts whose sessions are taken over, phones whose clock is off, and unregistered
 * beacons that are received.
 * @param {import('./topics').Context} context
 * @param {string} _argument
 * @param {number} nowMs
 */
function devices({ site, alerts }, _argument, nowMs) {
  const listed = site.building().gateways;
  const ids = [...listed.keys(), ...site.gateways.unlisted()].sort(compareIds);
  const offsetOf = offsetsInUse(site, nowMs);
  return {
    alerts: { groups: alerts.groups(), open: alerts.open(), dropped: alerts.dropped(), version: alerts.version() },
    gateways: ids.map((id) => {
      const { level = null, room = null } = listed.get(id) ?? {};
      const { state, since, version, health, reading_ms, readings_per_s: rate } = site.gateways.of(id, nowMs) ?? NO_STATE;
      return { id, listed: listed.has(id), level, room, state, since, version, reading_ms, readings_per_s: Math.round(rate * 100) / 100,
        rssi_bias_db: site.learning.bias('gateway', id), learned_offset: offsetOf('gateway', id), clock_wrong: site.clocks.of('gateway', id),
        health_ms: health?.ts ?? null, ...Object.fromEntries(FIGURES.map((name) => [name, health?.[name] ?? null])) };
    }),
    takeovers: site.takeovers.list(nowMs),
    wrong_clocks: site.clocks.wrong(nowMs).filter(({ kind }) => kind === 'phone'),
    strangers: site.beacons.unregistered().map(({ beacon, heard_ms, kind, receiver, rssi, count }) => (
      { beacon, heard_ms, kind, receiver, rssi, count })),
  };
}

module.exports = { devices };
