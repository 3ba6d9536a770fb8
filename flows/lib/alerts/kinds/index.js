// @ts-check
'use strict';

const { certificateEnding } = require('./certificate');
const { batteryLow, beaconSilent, gatewayDown } = require('./devices');
const { roomCrowded, staffLost } = require('./people');
const { clockBehind, ingestBehind, messagesLost, messagesRefused } = require('./system');

/**
 * The kinds of alerts. Each says what is amiss, and of what is no longer so whether it is well again or just not known.
 * @typedef {object} Facts
 * @property {import('../../building').Building} building
 * @property {import('../../devices/gateways').Gateways} gateways
 * @property {ReturnType<typeof import('../../devices/beacons').createBeacons>} beacons
 * @property {ReturnType<typeof import('../../devices/refusals').createRefusals>} refusals
 * @property {{staff_id: string, level: string, room: string, ts: number, state: string}[]} presences
 * @property {boolean} connected to the broker; without it silence means nothing
 * @property {number} watchedMs since when everything is heard without a pause
 * @property {import('../../health').Part} ingest
 * @property {import('../../health').Part} clock
 * @property {import('../../health').Part} losses
 * @property {import('./certificate').Certificate[]} certificates that are shown to others
 * @typedef {{subject: string, since?: number|null, text: string, todo: string, level?: string|null, room?: string|null,
 *   subjects?: string[]}} Condition since: epoch ms, where it is known; subjects: all whom it is about, of one that stands for many
 * @typedef {object} Kind
 * @property {string} kind
 * @property {'critical'|'warning'} severity
 * @property {number} raiseMs so long it must be amiss
 * @property {number} endMs so long it must be well
 * @property {(facts: Facts, active: (subject: string) => Pick<import('../book').Alert, 'subjects'|'acknowledged'>|null,
 *   nowMs: number) => Condition[]} amiss active: what is raised already
 * @property {(facts: Facts, alert: {subject: string, since: number, subjects?: string[],
 *   acknowledged?: object|null}, nowMs: number) => boolean} well
 */

/** @type {Kind[]} */
const KINDS = [messagesLost, gatewayDown, clockBehind, ingestBehind, certificateEnding, messagesRefused, beaconSilent, batteryLow,
  roomCrowded, staffLost];

module.exports = { KINDS };
