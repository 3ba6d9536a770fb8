// @ts-check
'use strict';

const { LOW_MV } = require('../../devices/battery');
const { placeName, staffName } = require('./names');

/** @typedef {import('./index').Kind} Kind @typedef {import('./index').Facts} Facts */

/** @type {Kind} */
const gatewayDown = {
  kind: 'gateway_down',
  severity: 'critical',
  raiseMs: 20_000, // after a restart of the broker the agents come back spread over 15 s
  endMs: 30_000,
  amiss: ({ building, gateways, connected }, _active, nowMs) => all(building.gateways, connected).flatMap(({ id, room, level }) => {
    const { state, since } = gateways.of(id, nowMs) ?? {};
    if (state !== 'offline' && state !== 'silent') return [];
    const how = state === 'offline' ? 'is offline' : 'says that it is online, but nothing comes from it';
    return [{ subject: id, since, level, room, text: `Gateway ${id} in ${placeName(building, room, level)} ${how}.`,
      todo: 'Look at its power and its network; on it, "gateway-agent doctor" says what is wrong. Until then people near it are located by '
        + 'its neighbours, less exactly.' }];
  }),
  well: ({ building, gateways, connected }, { subject: id }, nowMs) => connected
    && (!building.gateways.has(id) || gateways.of(id, nowMs)?.state === 'online'),
};

/** Without the broker nobody can be heard. @template T @param {Map<string, T>} devices @param {boolean} connected @returns {T[]} */
const all = (devices, connected) => (connected ? [...devices.values()] : []);

/** In phone mode a beacon is heard when somebody passes: a day without is no pause any more, but an empty battery. */
const SILENT_MS = 24 * 3_600_000;

/** @type {Kind} */
const beaconSilent = {
  kind: 'beacon_silent',
  severity: 'warning',
  raiseMs: 0,
  endMs: 0,
  amiss: ({ building, beacons, connected, watchedMs }, _, nowMs) => all(building.beacons, connected).flatMap(({ id, room, level }) => {
    const heardMs = beacons.of(id)?.heard_ms ?? null;
    if (nowMs - (heardMs ?? watchedMs) < SILENT_MS) return [];
    return [{ subject: id, since: heardMs, level, room,
      text: `Beacon ${id} in ${placeName(building, room, level)} has not been heard ${heardMs === null ? 'at all yet' : 'for a day'}.`,
      todo: 'See whether it still hangs there, and change its battery. If it is gone for good, take it out of the building file.' }];
  }),
  well: ({ building, beacons }, { subject: id }, nowMs) => !building.beacons.has(id) || nowMs - (beacons.of(id)?.heard_ms ?? 0) < SILENT_MS,
};

/** Only a fresh battery gets there: cold and load move a tired one by 0.1 V. */
const OK_MV = 2700;

/** @type {Kind} */
const batteryLow = {
  kind: 'battery_low',
  severity: 'warning',
  raiseMs: 60_000, // one odd value is no news
  endMs: 60_000,
  amiss: ({ building, beacons }, active) => registered(building).flatMap(({ id, level, room, staffId }) => {
    const { battery_mv: mv = null, measured_ms: since } = beacons.of(id) ?? {};
    if (mv === null || mv >= (active(id) ? OK_MV : LOW_MV)) return [];
    const what = staffId === undefined ? `beacon ${id} in ${placeName(building, room, level)}` : `tag ${id} of ${staffName(building, staffId)}`;
    return [{ subject: id, since, level, room, text: `The battery of ${what} is low: ${(mv / 1000).toFixed(2)} V.`,
      todo: 'Change it within days: beacons stop between 2.2 and 1.8 V.' }];
  }),
  well: ({ building, beacons }, { subject: id }) => !building.isRegistered(id) || (beacons.of(id)?.battery_mv ?? 0) >= OK_MV,
};

/** @param {import('../../building').Building} building @returns {{id: string, level?: string, room?: string, staffId?: string}[]} */
const registered = ({ beacons, tagOwner }) => [...beacons.values(), ...[...tagOwner].map(([id, staffId]) => ({ id, staffId }))];

module.exports = { gatewayDown, beaconSilent, batteryLow, SILENT_MS };
