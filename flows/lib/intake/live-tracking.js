// @ts-check
'use strict';

const { eventOf, presenceMessage } = require('../outbox/messages');
const { createRecentBatches } = require('./recent-batches');
const { createLocator, emptyOutcome } = require('../locator');
const { createIntervalHistogram } = require('../health/metrics/interval-histogram');
const { inPieces } = require('../shared/pieces');
const { inOrder } = require('./batches');
const { toBuilding, toGateway } = require('./changes');

/**
 * The locator at work on the present: what it finds goes into memory and to the outbox. While the past is rebuilt it shares
 * its readings; in the end the locator of the rebuild, which knows what was before the start, takes its place.
 * @typedef {import('../building').Building} Building
 * @typedef {import('../locator').Location} Location
 * @typedef {import('./changes').Change} Change
 * @typedef {object} Replay a locator that heard the time before the start
 * @property {import('../locator').Locator} locator
 * @property {Map<string, import('../locator').Presence>} presences
 * @property {(ms: number) => void} pass
 * @property {(enough: () => boolean) => Pick<import('../locator').Outcome, 'locations'|'stays'|'events'>} take
 * @typedef {(batch: import('./readings').Batch, nowMs: number, stored: boolean) => void} Listener stored: the database takes it
 * @param {object} means
 * @param {Building} means.building
 * @param {number} means.startedMs
 * @param {readonly import('../locator').OffsetVersion[]} means.offsetVersions
 * @param {ReturnType<typeof import('../history').createHistory>} means.history
 * @param {Pick<import('../history/recent-stays').RecentStays, 'add'>} means.recentStays
 * @param {Pick<ReturnType<typeof import('../outbox').createOutbox>, 'put'>} means.outbox for what was published before
 * @param {Pick<import('../outbox/results').Results, 'add'>} means.results for what is new; the caller delivers it
 * @param {{locations: number, late: number, late_known: number, stays: number, events: number,
 *   located_later: number}} means.counters are counted up
 */
function createLiveTracking({ building, startedMs, offsetVersions, history, recentStays, outbox, results, counters }) {
  let locator = createLocator(building, {}, undefined, offsetVersions);
  /** @type {((moment: import('../locator').Moment) => void)|null} */
  let onMoment = null;
  let found = emptyOutcome();
  let remembered = 0;
  /** Beginnings of the seconds that were located for the first time, epoch ms. @type {number[]} */
  const fresh = [];
  const recentBatches = createRecentBatches();
  /** @type {Map<string, boolean>} gateways by what they said last */
  const online = new Map();
  const liveLag = createIntervalHistogram();
  let newestPublishedMs = 0;
  let version = 0;
  let buildingSinceMs = startedMs;
  /** @type {Listener|null} while the past is rebuilt */
  let past = null;
  /** Readings of a time that is over, which no locator took. @type {(staffId: string, ts: number) => void} */
  let onLate = () => {};
  /** What is left out of the live view. @type {(batch: import('./readings').Batch) => void} */
  let onSkipped = () => {};
  /** @type {(change: Change) => void} */
  let onChange = () => {};

  /** @param {import('./readings').Batch} batch @param {number} nowMs */
  function hear(batch, nowMs) {
    const again = recentBatches.isRepeated(batch);
    locator.hear(inOrder(batch), nowMs, found);
    past?.(batch, nowMs, isStored(batch));
    for (const { staff_id: staffId, ts } of found.late.splice(0)) {
      counters[again ? 'late_known' : 'late'] += 1;
      if (!again) onLate(staffId, ts);
    }
    remember(nowMs);
  }

  /**
   * Under overload a batch is left out: it is located later, from the database. While the past is rebuilt, the rebuild does that.
   * @param {import('./readings').Batch} batch @param {number} nowMs
   */
  function skip(batch, nowMs) {
    const again = recentBatches.knowsOlder(batch);
    recentBatches.isRepeated(batch);
    counters.located_later += 1;
    const stored = isStored(batch);
    if (past) past(batch, nowMs, stored);
    else if (stored && !again) onSkipped(batch);
  }

  /** Whether the database takes it. @param {import('./readings').Batch} batch */
  const isStored = ({ readings }) => readings.some(({ beacon }) => building.isRegistered(beacon));

  /** What was found goes into memory at once, so that an answer never waits for the next batch. @param {number} nowMs */
  function remember(nowMs) {
    for (; remembered < found.locations.length; remembered += 1) {
      const location = /** @type {Location} */ (found.locations[remembered]);
      if (!isOurs(location)) continue;
      if (!history.knowsSecond(location.staff_id, location.ts)) fresh.push(location.ts); // what is corrected does not lag
      history.add(location, nowMs);
    }
    if (found.presences.length > 0 || found.events.length > 0) version += 1;
    results.add('presence', found.presences.splice(0));
    addEvents(found.events.splice(0).filter(isOurs));
  }

  /** @param {import('../locator').LocationEvent[]} events */
  function addEvents(events) {
    counters.events += events.length;
    results.add('events', events.map(eventOf));
  }

  /** While the past is rebuilt, the rebuild alone publishes what was before the start. @param {{ts: number}} one */
  const isOurs = ({ ts }) => !past || ts >= startedMs;

  /** Let the locator's time pass and hand over what it found; several times a second. @param {number} nowMs */
  function flush(nowMs) {
    locator.tick(nowMs, found);
    remember(nowMs);
    if (past) { // stays whose beginning is not known yet, and a backlog without what was before it: the rebuild publishes them
      found.stays = [];
      found.locations = found.locations.filter(isOurs);
    }
    counters.locations += found.locations.length;
    counters.stays += found.stays.length;
    for (const ts of fresh.splice(0)) liveLag.add(nowMs - ts);
    for (const { ts } of found.locations) newestPublishedMs = Math.max(newestPublishedMs, ts);
    recentStays.add(found.stays, nowMs);
    results.add('stays', found.stays); // before locations: whoever sees a location in the database finds the stays before it
    results.add('locations', found.locations);
    found = emptyOutcome();
    remembered = 0;
  }

  /**
   * Use another building from now on; what was found with the old one stays.
   * @param {Building} next @param {number} nowMs @param {import('../locator').Prepared} [prepared]
   */
  function setBuilding(next, nowMs, prepared) {
    building = next;
    buildingSinceMs = nowMs;
    locator.setBuilding(next, nowMs, found, prepared);
    remember(nowMs);
    onChange(toBuilding(next, nowMs, prepared));
    version += 1;
  }

  /**
   * What the broker says about a gateway: that one hears nothing means nothing while it is out.
   * @param {string} id @param {boolean} up @param {number} nowMs
   */
  function setGateway(id, up, nowMs) {
    online.set(id, up);
    locator.setGateway(id, up);
    onChange(toGateway(id, up, nowMs));
  }

  /**
   * Somebody is where they are since another time than it seemed.
   * @param {string} id @param {string} room @param {number} sinceMs
   */
  function began(id, room, sinceMs) {
    const presence = locator.began(id, room, sinceMs);
    if (presence) results.add('presence', [presence]);
  }

  /**
   * The rebuild has caught up: its locator, which knows what was before the start, takes over.
   * @param {Replay} replay
   * @param {number} nowMs
   */
  function adopt(replay, nowMs) {
    flush(nowMs);
    past = null;
    const here = locator.presences();
    const published = new Map(here.map((presence) => [presence.staff_id, JSON.stringify(presence)]));
    replay.pass(nowMs);
    const known = new Set(replay.locator.presences().map(({ staff_id: id }) => id));
    for (const presence of here) if (!known.has(presence.staff_id)) replay.locator.resume(presence); // of a backlog, which follows
    replay.locator.restoreReceivers(locator.receivers()); // what was learned before the start too
    locator.onMoment(null);
    locator = replay.locator;
    locator.onMoment(onMoment);
    for (const [id, up] of online) locator.setGateway(id, up);
    for (const presence of locator.presences()) replay.presences.set(presence.staff_id, presence);
    for (const [id, presence] of replay.presences) {
      if (published.get(id) !== JSON.stringify(presence)) results.add('presence', [presence]);
    }
    const rest = replay.take(() => true);
    for (const location of rest.locations) history.correct(location, nowMs);
    recentStays.add(rest.stays, nowMs);
    results.add('stays', rest.stays);
    results.add('locations', rest.locations);
    addEvents(rest.events);
    version += 1;
  }

  return {
    hear, skip, flush, setBuilding, setGateway, began, adopt,
    /** What follows from another building, made while the one of now stays in use. @param {Building} next */
    prepare: (next) => inPieces(locator.prepare(next)),
    /** Everybody's, as it is: the broker may have forgotten them. @param {number} nowMs */
    publishPresences(nowMs) {
      for (const presence of locator.presences()) outbox.put(presenceMessage(presence), nowMs);
    },
    /** Forget receivers that are gone. @param {number} nowMs */
    sweep: (nowMs) => recentBatches.sweep(nowMs),
    /** Until `adopt` the listener gets every batch too, and publishes what depends on the past. @param {Listener} listener */
    shareReadings: (listener) => { past = listener; },
    /** @param {typeof onLate} listener */
    onLate: (listener) => { onLate = listener; },
    /** @param {typeof onSkipped} listener is called for each batch at once, before anything else is taken */
    onSkipped: (listener) => { onSkipped = listener; },
    /** @param {typeof onChange} listener gets other buildings, and gateways that come and go */
    onChange: (listener) => { onChange = listener; },
    /** Since when the building is in use as far as is known here, epoch ms. */
    buildingSinceMs: () => buildingSinceMs,
    presences: () => locator.presences(),
    /** Everybody's stay that goes on, as history has it. */
    openStays: () => locator.openStays(),
    /** Why somebody is said to be where they are; null: not heard of late. @param {string} id */
    trace(id) {
      const trace = locator.trace(id);
      return trace && Number.isFinite(trace.ts) ? trace : null; // of somebody new the first readings may still be gathered
    },
    /** How much stronger than calibrated the tag or phone of each is who was heard of late. */
    levels: () => locator.levels(),
    /** How much stronger than expected each gateway hears people, and each beacon is heard. */
    receivers: () => locator.receivers(),
    /** Who learns the devices' offsets, from the present alone. @param {((moment: import('../locator').Moment) => void)|null} listener */
    onMoment(listener) {
      onMoment = listener;
      locator.onMoment(listener);
    },
    /** What `receivers` said before the start. @param {import('../locator').Receiver[]} list */
    restoreReceivers: (list) => locator.restoreReceivers(list),
    /** Grows whenever somebody moved, came or went. */
    version: () => version,
    /** Time of the newest location that was published, epoch ms. */
    newestPublishedMs: () => newestPublishedMs,
    /** Age of locations when they are published, from the beginning of their second. */
    liveLag,
  };
}

module.exports = { createLiveTracking };
