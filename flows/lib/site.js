// @ts-check
'use strict';

const { buildingOfNode } = require('./building/of-node');
const { createSubscriber } = require('./broker/subscriber');
const { createBeacons } = require('./devices/beacons');
const { createGateways } = require('./devices/gateways');
const { Learning } = require('./devices/learned/learning');
const { createTakeovers } = require('./devices/takeovers');
const { eventOf } = require('./outbox/messages');
const { createValidation } = require('./intake/validation');
const { createNewestFirst } = require('./intake/newest-first');
const { createHistory } = require('./history');
const { createKnownPeople } = require('./history/known-people');
const { createRecentEvents } = require('./history/recent-events');
const { createRecentStays } = require('./history/recent-stays');
const { createLocator, emptyOutcome } = require('./locator');
const { createOutbox } = require('./outbox');
const { createResults } = require('./outbox/results');
const { createSimulated } = require('./intake/simulated');
const { createCrowding } = require('./history/views/crowding');
const { createLiveTracking } = require('./intake/live-tracking');
const { createPublishedPresences } = require('./intake/published-presences');

/**
 * One building at work: readings in, locations to memory and to `results`. Owns no socket and no timer;
 * the config node calls `flush` and `tick`.
 * @typedef {ReturnType<typeof createSite>} Site
 * @param {import('./building').Building} building
 * @param {number} startedMs
 * @param {() => number} [clock] of what waits in the queue
 * @param {import('./intake/published-presences').PublishedPresences} [publishedPresences] what was published of people
 */
function createSite(building, startedMs, clock = Date.now, publishedPresences = createPublishedPresences()) {
  const knownPeople = createKnownPeople();
  const history = createHistory(startedMs, {}, knownPeople.note);
  const recentStays = createRecentStays(knownPeople.note);
  const recentEvents = createRecentEvents(startedMs);
  const outbox = createOutbox();
  const subscriber = createSubscriber();
  const counters = { messages: 0, readings: 0, unregistered: 0, refused: 0, locations: 0, late: 0, late_known: 0, stays: 0, events: 0,
    located_later: 0 };
  const beacons = createBeacons();
  const gateways = createGateways();
  const takeovers = createTakeovers();
  const results = createResults(outbox, recentEvents, knownPeople.note, publishedPresences.note);
  /** @type {(sentMs: number, nowMs: number) => void} */
  let onProbe = () => {};
  const validation = createValidation(counters, (sentMs, nowMs) => onProbe(sentMs, nowMs));
  const simulated = createSimulated();
  /** When a phone or gateway, and no simulator, sent something. @type {number|null} */
  let receivedMs = null;
  const crowding = createCrowding();
  /** Of what was learned, ascending; grows. @type {import('./locator').LearnedVersion[]} */
  const learnedVersions = [];
  const learning = new Learning();
  const live = createLiveTracking({ building, startedMs, learnedVersions, onSample: learning.note, history, recentStays, results,
    counters });
  /** @type {(nowMs: number) => void} */
  let onReconnect = () => {};
  outbox.onReconnect((nowMs) => {
    publishedPresences.publishAgain(outbox, nowMs);
    onReconnect(nowMs);
  });
  /** @type {string[]} */
  let buildingFaults = [];
  /** @type {(batch: import('./intake/readings').Batch, nowMs: number) => void} */
  let onReadings = () => {};
  /** @type {(error: unknown) => void} */
  let onFault = (error) => { throw error; };

  /** What does not depend on who is where. @param {import('./intake/readings').Batch} batch @param {number} nowMs */
  function note(batch, nowMs) {
    counters.unregistered += beacons.addBatch(batch, building, nowMs);
    if (batch.kind === 'gateway') gateways.addBatch(batch, building, nowMs);
    simulated.hear(batch, building, nowMs);
    if (!batch.simulated) receivedMs = nowMs;
    onReadings(batch, nowMs);
  }

  /** Locate who a batch concerns. @param {import('./intake/readings').Batch} batch @param {number} nowMs */
  function locateOne(batch, nowMs) {
    note(batch, nowMs);
    live.hear(batch, nowMs);
  }

  /** Locate later who a batch concerns. @param {import('./intake/readings').Batch} batch @param {number} nowMs */
  function skipOne(batch, nowMs) {
    live.skip(batch, nowMs);
    note(batch, nowMs);
  }

  const queue = createNewestFirst({ take: (batch) => locateOne(batch, clock()), skip: (batch) => skipOne(batch, clock()),
    after: () => results.deliver(clock()), onFault: (error) => onFault(error) });

  /** @param {import('./intake/readings').Batch[]} batches that were checked @param {number} nowMs */
  function locate(batches, nowMs) {
    for (const batch of batches) locateOne(batch, nowMs);
    results.deliver(nowMs);
  }

  /** @param {Parameters<typeof eventOf>[0][]} events @param {number} nowMs */
  function publishEvents(events, nowMs) {
    counters.events += events.length;
    results.add('events', events.map(eventOf));
    results.deliver(nowMs);
  }

  /** Hand over what was found; several times a second. @param {number} nowMs */
  function flush(nowMs) {
    live.flush(nowMs);
    results.deliver(nowMs);
  }

  /** Look around; about once a second. @param {number} nowMs */
  function tick(nowMs) {
    const lost = publishedPresences.takeBack({ live, building, startedMs, results, outbox }, nowMs);
    publishEvents([...lost, ...crowding.tick(live.presences(), building, nowMs)], nowMs);
    for (const message of gateways.corrections(building, nowMs)) outbox.put(message, nowMs);
    history.sweep(nowMs);
    live.sweep(nowMs);
    outbox.pump(nowMs);
  }

  /**
   * Use another building from now on; what was found with the old one stays.
   * @param {import('./building').Building} next @param {number} nowMs
   * @param {import('./locator').Prepared} [prepared] by `prepare`, which takes its time; else that is done now
   */
  function setBuilding(next, nowMs, prepared) {
    building = next;
    live.setBuilding(next, nowMs, prepared);
    results.deliver(nowMs);
    beacons.setBuilding(next);
    gateways.setBuilding(next);
  }

  return {
    ...live,
    check: validation.validate,
    locate,
    /** Batches that were checked, on their way to be located; under overload each receiver's newest first. */
    queue,
    /** @param {typeof onFault} listener gets the errors of batches in the queue; there is one */
    onFault: (listener) => { onFault = listener; },
    flush,
    tick,
    /** @type {(event: Parameters<typeof publishEvents>[0][0], nowMs: number) => void} */
    publishEvent: (event, nowMs) => publishEvents([event], nowMs),
    /** @param {string} id @param {string} room @param {number} sinceMs @param {number} nowMs */
    correctStayStart(id, room, sinceMs, nowMs) {
      live.correctStayStart(id, room, sinceMs);
      results.deliver(nowMs);
    },
    /** @type {typeof live.adopt} */
    adopt(replay, nowMs, staff) {
      const stays = live.adopt(replay, nowMs, staff);
      results.deliver(nowMs);
      return stays;
    },
    /** Another locator, for a time that is over. @param {import('./building').Building} its building */
    newLocator: async (its) => createLocator(its, {}, await live.prepare(its), learnedVersions),
    emptyOutcome, history, knownPeople, recentStays, recentEvents, publishedPresences,
    outbox,
    subscriber,
    /** Both connections to the broker, that which publishes and that which subscribes. */
    connected: () => outbox.connected() && subscriber.connected(),
    results,
    building: () => building,
    setBuilding,
    /** What is wrong with the building file as it is now, if it is not the one in use. @param {string[]} faults */
    setBuildingFaults: (faults) => { buildingFaults = faults; },
    buildingFaults: () => buildingFaults,
    startedMs, learnedVersions, learning,
    counters: () => ({ ...counters }),
    beacons, gateways, takeovers, simulated,
    /** When a real receiver sent something last; null: none has since the start. */
    receivedMs: () => receivedMs,
    refusals: validation.refusals,
    /** @param {typeof onReadings} listener gets every batch that was taken; there is one */
    listen: (listener) => { onReadings = listener; },
    /** @param {typeof onProbe} listener gets when a probe was sent that came back; there is one */
    onProbe: (listener) => { onProbe = listener; },
    /** @param {typeof onReconnect} listener is called when the broker is back after a break; there is one */
    onReconnect: (listener) => { onReconnect = listener; },
    /** Heard, but registered by nobody. */
    strangers: () => ({ beacons: beacons.unregistered(), gateways: gateways.unlisted() }),
  };
}

const FLUSH_MS = 250;
const TICK_MS = 1000;

/**
 * A site in any Node-RED, without database and installation: readings in, locations out.
 * @param {any} node of Node-RED, which gets it
 * @param {{building?: string}} definition building: path of a building file, or its content
 */
function standAlone(node, definition) {
  let site;
  try {
    site = createSite(buildingOfNode(definition.building), Date.now());
  } catch (error) {
    node.error(error instanceof Error ? error.message : error);
    return;
  }
  const timers = [setInterval(() => site.flush(Date.now()), FLUSH_MS), setInterval(() => site.tick(Date.now()), TICK_MS)];
  Object.assign(node, { site, inboxes: new Set(), knownTime: null });
  node.on('close', () => timers.forEach(clearInterval));
}

module.exports = { createSite, createPublishedPresences, standAlone };
