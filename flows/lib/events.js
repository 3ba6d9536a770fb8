// @ts-check
'use strict';

const { EventEmitter } = require('node:events');

/**
 * All that is announced inside of one site, each event with what it carries. Who announces does not know who listens. A listener is
 * called at once, before `emit` returns; what it throws reaches who announced.
 * Times: `nowMs` is our clock, epoch ms.
 * @typedef {import('./live/readings').Batch} Batch
 * @typedef {import('./locator').Location} Location
 * @typedef {import('./building').Building} Building
 * @typedef {{
 *   batch: [batch: Batch, nowMs: number, stored: boolean],
 *   skipped: [batch: Batch, nowMs: number],
 *   late: [staffId: string, ts: number, nowMs: number],
 *   sample: [sample: import('./locator').Sample],
 *   corrected: [location: Location, nowMs: number],
 *   locations: [locations: Location[], nowMs: number],
 *   stays: [stays: import('./locator').Stay[], nowMs: number],
 *   presence: [presences: import('./locator').Presence[], nowMs: number],
 *   events: [events: {ts: number, type: string, subject?: string}[], nowMs: number],
 *   refusals: [refusals: import('./broker/messages').Refusal[], nowMs: number],
 *   heartbeat: [figures: {ts: number}[], nowMs: number],
 *   buildingChanged: [building: Building, nowMs: number, prepared?: import('./locator').Prepared],
 *   buildingRefused: [faults: string[]],
 *   gatewayChanged: [gateway: string, up: boolean, nowMs: number],
 *   probe: [sentMs: number, nowMs: number],
 *   reconnect: [nowMs: number],
 *   brokerUptime: [seconds: number, nowMs: number],
 *   brokerDropped: [messages: number, nowMs: number],
 *   heartbeatDue: [],
 *   nodeClosed: [],
 *   nodeOpened: [],
 *   recordingEnded: [what: 'recording_stopped'|'recording_deleted', recording: import('./recordings/recording').Recording, why: string],
 *   error: [error: unknown],
 * }} Events
 *
 * | event | when |
 * |---|---|
 * | `batch` | a checked batch is taken, to be located now or later; stored: the database takes it |
 * | `skipped` | under overload it is left out of the live view |
 * | `late` | a reading is of a time that is over, and no locator took it |
 * | `sample` | the locator of the present knows a reading and the room in which it was taken |
 * | `corrected` | a location in memory is replaced by another one |
 * | `locations`, `stays`, `presence`, `events`, `refusals`, `heartbeat` | such are about to be published |
 * | `buildingChanged` | another building is in use |
 * | `buildingRefused` | the building file has these faults; []: it is in use |
 * | `gatewayChanged` | a gateway came or went, as the broker says |
 * | `probe` | a batch without readings that the flows had sent came back |
 * | `reconnect` | the broker is back after a break, and may have forgotten the latest |
 * | `brokerUptime`, `brokerDropped` | the broker says how long it runs, and how many messages it has dropped since its start |
 * | `heartbeatDue` | a heartbeat is wanted now, out of turn: it proves that a start is complete |
 * | `nodeClosed`, `nodeOpened` | a node through which readings come is gone for a moment, or there |
 * | `recordingEnded` | a recording ended, or was deleted, by itself |
 * | `error` | a batch could not be located; where nobody listens it is thrown, as by every emitter of Node |
 */

/** Nodes of a user's own flow listen, too. */
const MOST_LISTENERS = 100;

/** @extends {EventEmitter<Events>} */
class EventBus extends EventEmitter {
  constructor() {
    super();
    this.setMaxListeners(MOST_LISTENERS);
  }
}

module.exports = { EventBus };
