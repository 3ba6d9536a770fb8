// @ts-check
'use strict';

const { Broker } = require('./broker');
const { buildingOfNode } = require('./building');
const { Clocks } = require('./clocks');
const { createBeacons } = require('./devices/beacons');
const { createGateways } = require('./devices/gateways');
const { Learning } = require('./devices/learning');
const { createTakeovers } = require('./devices/takeovers');
const { EventBus } = require('./events');
const { createHistory } = require('./past/history');
const { createKnownPeople } = require('./past/known-people');
const { createRecentEvents, createRecentStays } = require('./past/recent');
const { Live } = require('./live');

/**
 * One building at work: readings in, locations to memory and to the broker. It needs no database and no settings, so it works in any
 * Node-RED; `app.js` makes the rest of an installation around it. Owns no socket and no timer: whoever makes it calls `flush` and `tick`.
 * @typedef {{beacons: ReturnType<typeof createBeacons>, gateways: ReturnType<typeof createGateways>,
 *   takeovers: ReturnType<typeof createTakeovers>, learning: Learning, learnedVersions: import('./locator').LearnedVersion[]}} Devices
 *   learnedVersions: what was learned of them, ascending; grows
 * @typedef {{knownPeople: import('./past/known-people').KnownPeople, history: import('./past/history').History,
 *   recentStays: import('./past/recent').RecentStays, recentEvents: import('./past/recent').RecentEvents}} Memory
 *   of the last minutes, of which the database may not have everything yet
 */
class Site {
  /**
   * @param {import('./building').Building} building
   * @param {number} startedMs
   * @param {object} [options]
   * @param {() => number} [options.clock] of what waits in the queue
   * @param {boolean} [options.leavesOut] whether batches may be left out under overload, since they are located from a database later
   * @param {Clocks} [options.clocks] of receivers: batches pass there first
   * @param {{file?: string|null, warn?: (text: string) => void}} [options.presences] file: who is retained at the broker, over restarts
   */
  constructor(building, startedMs, { clock = Date.now, leavesOut = true, clocks = new Clocks(), presences = {} } = {}) {
    this.startedMs = startedMs;
    this.bus = new EventBus();
    const knownPeople = createKnownPeople();
    /** @type {Memory} */
    this.memory = {
      knownPeople,
      history: createHistory(startedMs, { bus: this.bus, knownPeople }),
      recentStays: createRecentStays(knownPeople),
      recentEvents: createRecentEvents(startedMs, this.bus),
    };
    /** @type {Devices} */
    this.devices = { beacons: createBeacons(), gateways: createGateways(), takeovers: createTakeovers(), learning: new Learning(),
      learnedVersions: [] };
    this.bus.on('sample', this.devices.learning.note);
    this.broker = new Broker(this.bus);
    this.clocks = clocks;
    clocks.begin(startedMs);
    const noteAll = (/** @type {{staff_id: string}[]} */ some) => { for (const { staff_id: id } of some) knownPeople.note(id); };
    this.bus.on('locations', noteAll).on('stays', noteAll); // a user's flow may add some
    this.live = new Live({ bus: this.bus, building, startedMs, devices: this.devices, memory: this.memory, broker: this.broker,
      clocks, leavesOut, presences, clock });
    /** The faults of the building file as it is now, if it is not the one in use. @type {string[]} */
    this.buildingFaults = [];
    this.bus.on('buildingRefused', (faults) => { this.buildingFaults = faults; });
  }

  /** The building in use. */
  building = () => this.live.building();

  /** Whether both connections to the broker are there. */
  connected = () => this.broker.connected();

  /**
   * Use another building from now on; what was found with the old one stays.
   * @param {import('./building').Building} next @param {number} nowMs
   * @param {import('./locator').Prepared} [prepared] by `live.prepare`, which takes its time; else that is done now
   */
  setBuilding(next, nowMs, prepared) {
    this.live.setBuilding(next, nowMs, prepared);
    this.devices.beacons.setBuilding(next);
    this.devices.gateways.setBuilding(next);
  }

  /** Hand over what was found; several times a second. @param {number} nowMs */
  flush(nowMs) {
    this.live.flush(nowMs);
  }

  /** Look around; about once a second. @param {number} nowMs */
  tick(nowMs) {
    this.live.tick(nowMs);
    for (const message of this.devices.gateways.corrections(this.building(), nowMs)) this.broker.outbox.put(message, nowMs);
    this.memory.history.sweep(nowMs);
    this.broker.outbox.pump(nowMs);
  }
}

const FLUSH_MS = 250; // locations wait for a flush: fewer, larger messages
const TICK_MS = 1000;

/**
 * A site in any Node-RED, without database and installation.
 * @param {{building?: string}} definition building: path of a building file, or its content
 * @returns {{site: Site, close: () => Promise<void>}}
 * @throws {import('./building').BuildingError}
 */
function openStandAlone(definition) {
  const site = new Site(buildingOfNode(definition.building), Date.now(), { leavesOut: false });
  const timers = [setInterval(() => site.flush(Date.now()), FLUSH_MS), setInterval(() => site.tick(Date.now()), TICK_MS)];
  return {
    site,
    async close() {
      timers.forEach(clearInterval);
      site.flush(Date.now());
    },
  };
}

module.exports = { Site, openStandAlone, FLUSH_MS, TICK_MS };
