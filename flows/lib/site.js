// @ts-check
'use strict';

const { eventMessage } = require('./outbox/messages');
const { createBeacons } = require('./devices/beacons');
const { createGateways } = require('./devices/gateways');
const { createDoor } = require('./intake/admission');
const { createHistory } = require('./history');
const { createLocator, emptyOutcome } = require('./locator');
const { createOutbox } = require('./outbox');
const { createSimulated } = require('./intake/simulated');
const { createCrowding } = require('./history/views/crowding');
const { createWhereabouts } = require('./intake/whereabouts');

/**
 * One building at work: readings in, locations to memory and to the outbox. Owns no socket and no timer;
 * the config node calls `flush` and `tick`.
 * @typedef {ReturnType<typeof createSite>} Site
 * @param {import('./building').Building} building
 * @param {number} startedMs
 */
function createSite(building, startedMs) {
  const history = createHistory(startedMs);
  const outbox = createOutbox();
  const counters = { messages: 0, readings: 0, unregistered: 0, refused: 0, locations: 0, late: 0, late_known: 0, stays: 0, events: 0 };
  const beacons = createBeacons();
  const gateways = createGateways();
  const door = createDoor(outbox, counters);
  const simulated = createSimulated();
  /** When a phone or gateway, and no simulator, sent something. @type {number|null} */
  let receivedMs = null;
  const crowding = createCrowding();
  const whereabouts = createWhereabouts({ building, startedMs, history, outbox, counters, tell });
  outbox.onReconnect(whereabouts.publishPresences);
  /** @type {string[]} */
  let buildingFaults = [];
  /** @type {(batch: import('./intake/readings').Batch, nowMs: number) => void} */
  let onReadings = () => {};

  /**
   * One MQTT message of readings.
   * @param {string} topic
   * @param {Buffer} payload
   * @param {number} nowMs
   */
  function hear(topic, payload, nowMs) {
    const batch = door.admit(topic, payload, nowMs);
    if (!batch) return;
    counters.unregistered += beacons.addBatch(batch, building, nowMs);
    if (batch.kind === 'gateway') gateways.addBatch(batch, building, nowMs);
    simulated.hear(batch, building, nowMs);
    if (!batch.simulated) receivedMs = nowMs;
    whereabouts.hear(batch, nowMs);
    onReadings(batch, nowMs);
  }

  /** Publish an event. @param {Parameters<typeof eventMessage>[0]} event @param {number} nowMs */
  function tell(event, nowMs) {
    counters.events += 1;
    outbox.put(eventMessage(event), nowMs);
  }

  /** Look around; about once a second. @param {number} nowMs */
  function tick(nowMs) {
    for (const event of crowding.look(whereabouts.presences(), building, nowMs)) tell(event, nowMs);
    history.sweep(nowMs);
    whereabouts.sweep(nowMs);
    outbox.pump(nowMs);
  }

  /**
   * Use another building from now on; what was found with the old one stays.
   * @param {import('./building').Building} next @param {number} nowMs
   * @param {import('./locator').Prepared} [prepared] by `prepare`, which takes its time; else that is done now
   */
  function setBuilding(next, nowMs, prepared) {
    building = next;
    whereabouts.setBuilding(next, nowMs, prepared);
    beacons.setBuilding(next);
    gateways.setBuilding(next);
  }

  return {
    ...whereabouts,
    hear,
    tick,
    tell,
    /** Another locator, for a time that is over. @param {import('./building').Building} its building */
    newLocator: async (its) => createLocator(its, {}, await whereabouts.prepare(its)),
    emptyOutcome,
    history,
    outbox,
    building: () => building,
    setBuilding,
    /** What is wrong with the building file as it is now, if it is not the one in use. @param {string[]} faults */
    setBuildingFaults: (faults) => { buildingFaults = faults; },
    buildingFaults: () => buildingFaults,
    startedMs,
    counters: () => ({ ...counters }),
    beacons,
    gateways,
    simulated,
    /** When a real receiver sent something last; null: none has since the start. */
    receivedMs: () => receivedMs,
    refusals: door.refusals,
    /** @param {typeof onReadings} listener gets every batch that was taken; there is one */
    listen: (listener) => { onReadings = listener; },
    /** Heard, but registered by nobody. */
    strangers: () => ({ beacons: beacons.unregistered(), gateways: gateways.unlisted() }),
  };
}

module.exports = { createSite };
