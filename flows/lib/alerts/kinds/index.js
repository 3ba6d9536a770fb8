// @ts-check
'use strict';

const { accountShared } = require('./accounts');
const { certificateEnding } = require('./certificate');
const { clockWrong } = require('./clocks');
const { batteryLow, beaconSilent, gatewayDown } = require('./devices');
const { roomCrowded, staffLost } = require('./people');
const { clockBehind, ingestBehind, messagesLost, messagesRefused, overloaded } = require('./system');

/**
 * The kinds of alerts. Each finds its conditions, and says of an alert without a condition whether it is resolved or just not known.
 * @typedef {object} Facts
 * @property {import('../../building').Building} building
 * @property {import('../../devices/gateways').Gateways} gateways
 * @property {ReturnType<typeof import('../../devices/beacons').createBeacons>} beacons
 * @property {ReturnType<typeof import('../../devices/refusals').createRefusals>} refusals
 * @property {Pick<import('../../devices/takeovers').Takeovers, 'list'>} takeovers
 * @property {Pick<import('../../clocks').Clocks, 'wrong'>} [clocks] of receivers
 * @property {{staff_id: string, level: string, room: string, ts: number, state: string}[]} presences
 * @property {Facts['presences']} [published] as they were published last; without: `presences`
 * @property {(staffId: string) => boolean} [isGone] whether somebody has left the building file, and nothing is told of them any more
 * @property {boolean} connected to the broker; silence means nothing without it
 * @property {number} watchedMs epoch ms since when messages are received without a pause
 * @property {import('../../health').Part} ingest
 * @property {import('../../health').Part} live
 * @property {import('../../health').Part} clock
 * @property {import('../../health').Part} losses
 * @property {import('./certificate').Certificate[]} certificates those of our servers
 * @typedef {{subject: string, since?: number|null, text: string, todo: string, level?: string|null, room?: string|null}} Condition
 *   since: epoch ms, where it is known
 * @typedef {object} Kind
 * @property {string} kind
 * @property {'critical'|'warning'} severity
 * @property {number} raiseMs how long the condition must last before the alert is raised
 * @property {number} endMs how long it must be resolved before the alert ends
 * @property {string} [todoMany] what to do where there are many at once, when that differs
 * @property {(facts: Facts, active: (subject: string) => object|null, nowMs: number) => Condition[]} conditions
 *   active: the alert of a subject if it is raised
 * @property {(facts: Facts, alert: {subject: string, since: number, acknowledged?: object|null}, nowMs: number) => boolean} isResolved
 */

/** @type {Kind[]} */
const KINDS = [messagesLost, gatewayDown, accountShared, clockBehind, overloaded, ingestBehind, certificateEnding, messagesRefused,
  clockWrong, beaconSilent, batteryLow, roomCrowded, staffLost];

module.exports = { KINDS };
