// @ts-check
'use strict';

const { LOW_MV } = require('../../devices/battery');
const { placeName, staffName } = require('./names');

/** @typedef {import('./index').Kind} Kind @typedef {import('./index').Facts} Facts */

/** @type {Kind} */
const gatewayDown = {
  kind: 'gateway_down',
  severity: 'critical',
  raiseMs: 20_000, // agents reconnect within 15 s after a restart of the broker
  endMs: 30_000,
  todoMany: 'So many at once are hardly their own power: look at the network between them and the broker, its switches and access points '
    + 'first. Until then people are located by what is left, or not at all.',
  conditions: ({ building, gateways, connected }, _, nowMs) => checkable(building.gateways, connected).flatMap(({ id, room, level }) => {
    const { state, since } = gateways.of(id, nowMs) ?? {};
    if (state !== 'offline' && state !== 'silent') return [];
    const how = state === 'offline' ? 'is offline' : 'says that it is online, but nothing comes from it';
    return [{ subject: id, since, level, room, text: `Gateway ${id} in ${placeName(building, room, level)} ${how}.`,
      todo: 'Look at its power and its network; on it, "gateway-agent doctor" says what is wrong. Until then people near it are located by '
        + 'its neighbours, less exactly.' }];
  }),
  isResolved: ({ building, gateways, connected }, { subject: id }, nowMs) => connected
    && (!building.gateways.has(id) || gateways.of(id, nowMs)?.state === 'online'),
};

/**
 * Devices to check: none while the broker is away, since nothing can arrive.
 * @template T @param {Map<string, T>} devices @param {boolean} connected @returns {T[]}
 */
const checkable = (devices, connected) => (connected ? [...devices.values()] : []);

/** In phone mode a beacon is received when somebody passes. A full day without a reading means an empty battery, not a pause. */
const SILENT_MS = 24 * 3_600_000;

/** @type {Kind} */
const beaconSilent = {
  kind: 'beacon_silent',
  severity: 'warning',
  raiseMs: 0,
  endMs: 0,
  conditions: ({ building, beacons: states, connected, watchedMs }, _, nowMs) => checkable(building.beacons, connected).flatMap((one) => {
    const { id, room, level } = one;
    const heardMs = aliveMs(states.of(id)) || null;
    if (nowMs - (heardMs ?? watchedMs) < SILENT_MS) return [];
    return [{ subject: id, since: heardMs, level, room,
      text: `Beacon ${id} in ${placeName(building, room, level)} has not been heard ${heardMs === null ? 'at all yet' : 'for a day'}.`,
      todo: 'See whether it still hangs there, and change its battery. If it is gone for good, take it out of the building file.' }];
  }),
  isResolved: ({ building, beacons }, { subject: id }, nowMs) => !building.beacons.has(id)
    || nowMs - aliveMs(beacons.of(id)) < SILENT_MS,
};

/** When a beacon sent something last: its RSSI may not be known. @param {ReturnType<Facts['beacons']['of']>} known */
const aliveMs = (known) => Math.max(known?.heard_ms ?? 0, known?.measured_ms ?? 0);

/** Only a fresh battery reaches this voltage: cold and load move a weak one by 0.1 V. */
const OK_MV = 2700;

/** @type {Kind} */
const batteryLow = {
  kind: 'battery_low',
  severity: 'warning',
  raiseMs: 60_000, // a single odd value does not count
  endMs: 60_000,
  conditions: ({ building, beacons }, active) => registered(building).flatMap(({ id, level, room, staffId }) => {
    const { battery_mv: mv = null, measured_ms: since } = beacons.of(id) ?? {};
    if (mv === null || mv >= (active(id) ? OK_MV : LOW_MV)) return [];
    const what = staffId === undefined ? `beacon ${id} in ${placeName(building, room, level)}` : `tag ${id} of ${staffName(building, staffId)}`;
    return [{ subject: id, since, level, room, text: `The battery of ${what} is low: ${(mv / 1000).toFixed(2)} V.`,
      todo: 'Change it within days: beacons stop between 2.2 and 1.8 V.' }];
  }),
  isResolved: ({ building, beacons }, { subject: id }) => !building.isRegistered(id) || (beacons.of(id)?.battery_mv ?? 0) >= OK_MV
    || beacons.isWithoutBattery(id), // what it said is forgotten: it may be another device under its id by now
};

/** @param {import('../../building').Building} building @returns {{id: string, level?: string, room?: string, staffId?: string}[]} */
const registered = ({ beacons, tagOwner }) => [...beacons.values(), ...[...tagOwner].map(([id, staffId]) => ({ id, staffId }))];

module.exports = { gatewayDown, beaconSilent, batteryLow, SILENT_MS };
