// @ts-check
'use strict';

const { eventOf, wordsOf } = require('../outbox/messages');
const { createRecentBatches } = require('./recent-batches');
const { createLocator, emptyOutcome } = require('../locator');
const { createIntervalHistogram } = require('../health/figures');
const { inPieces } = require('../shared/pieces');
const { inOrder } = require('./batches');
const { buildingChange, gatewayChange } = require('./changes');

/** A locator that begins sees everybody enter. What knows better has caught up by then, unless the database is away. */
const EVENTS_HELD_MS = 60_000;

/**
 * The locator at work on the present: what it finds goes into memory and to the outbox. While the past is rebuilt it shares
 * its readings; in the end it goes on from what the locator of the rebuild knows.
 * @typedef {import('../building').Building} Building
 * @typedef {import('../locator').Location} Location
 * @typedef {import('./changes').Change} Change
 * @typedef {object} Replay a locator that heard a time up to now
 * @property {Map<string, import('../locator').Presence>} presences
 * @property {(ms: number) => void} pass
 * @property {(enough: () => boolean) => Pick<import('../locator').Outcome, 'locations'|'stays'|'events'>} take
 * @property {(ids?: Iterable<string>) => import('../locator').Saved} save
 * @typedef {(batch: import('./readings').Batch, nowMs: number, stored: boolean) => void} Listener stored: the database takes it
 * @param {object} deps
 * @param {Building} deps.building
 * @param {number} deps.startedMs
 * @param {readonly import('../locator').LearnedVersion[]} deps.learnedVersions
 * @param {(sample: import('../locator').Sample) => void} deps.onSample who learns of the building, from the present alone
 * @param {ReturnType<typeof import('../history').createHistory>} deps.history
 * @param {Pick<import('../history/recent-stays').RecentStays, 'add'>} deps.recentStays
 * @param {Pick<import('../outbox/results').Results, 'add'>} deps.results for what is new; the caller delivers it
 * @param {{locations: number, late: number, late_known: number, stays: number, events: number,
 *   located_later: number}} deps.counters are counted up
 */
function createLiveTracking({ building, startedMs, learnedVersions, onSample, history, recentStays, results, counters }) {
  const locator = createLocator(building, {}, undefined, learnedVersions);
  locator.onSample(onSample);
  let found = emptyOutcome();
  let [remembered, flushedMs] = [0, -Infinity];
  /** Beginnings of the seconds that were located for the first time, epoch ms. @type {number[]} */
  const fresh = [];
  const recentBatches = createRecentBatches();
  const liveLag = createIntervalHistogram();
  let newestPublishedMs = 0;
  const eventsFromMs = startedMs + EVENTS_HELD_MS;
  let version = 0;
  let buildingSinceMs = startedMs;
  /** Gets every batch, too. @type {Listener|null} */
  let onBatch = null;
  /** Whether the time before the start is not located yet. */
  let recovering = false;
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
    onBatch?.(batch, nowMs, isStored(batch));
    for (const { staff_id: staffId, ts } of found.late.splice(0)) {
      counters[again ? 'late_known' : 'late'] += 1;
      if (!again) onLate(staffId, ts);
    }
    remember(nowMs, batch.ts);
  }

  /**
   * Under overload a batch is left out: it is located later, from the database. While a start locates the past, the start does that.
   * @param {import('./readings').Batch} batch @param {number} nowMs
   */
  function skip(batch, nowMs) {
    const again = recentBatches.knowsOlder(batch);
    recentBatches.isRepeated(batch);
    counters.located_later += 1;
    const stored = isStored(batch);
    onBatch?.(batch, nowMs, stored);
    if (!recovering && stored && !again) onSkipped(batch);
  }

  /** Whether the database takes it. @param {import('./readings').Batch} batch */
  const isStored = ({ readings }) => readings.some(({ beacon }) => building.isRegistered(beacon));

  /**
   * What was found goes into memory at once, so that an answer never waits for the next batch.
   * @param {number} nowMs @param {number} [readMs] of the batch by which it was found
   */
  function remember(nowMs, readMs = -Infinity) {
    for (; remembered < found.locations.length; remembered += 1) {
      const location = /** @type {Location} */ (found.locations[remembered]);
      if (!isOurs(location)) continue;
      const { ts } = location;
      const isFirst = history.addOrCorrect(location, nowMs);
      if (isFirst) fresh.push(readMs >= ts && readMs < ts + 1000 ? readMs : ts); // what is corrected does not lag
    }
    if (found.presences.length > 0 || found.events.length > 0) version += 1;
    results.add('presence', found.presences.splice(0));
    addEvents(found.events.splice(0).filter(({ ts }) => !recovering || ts >= eventsFromMs));
  }

  /** @param {import('../locator').LocationEvent[]} events */
  function addEvents(events) {
    counters.events += events.length;
    results.add('events', events.map(eventOf));
  }

  /** While the past is rebuilt, the rebuild alone publishes what was before the start. @param {{ts: number}} one */
  const isOurs = ({ ts }) => !recovering || ts >= startedMs;

  /**
   * Let the locator's time pass and hand over what it found; several times a second.
   * @param {number} nowMs @param {(staffId: string) => boolean} [isElsewhere] of whom somebody else publishes that
   */
  function flush(nowMs, isElsewhere = () => false) {
    if (nowMs < flushedMs) locator.forgetAfter(nowMs);
    flushedMs = nowMs;
    locator.tick(nowMs, found);
    remember(nowMs);
    found.stays = found.stays.filter(({ staff_id: id }) => !isElsewhere(id));
    found.locations = found.locations.filter(({ staff_id: id }) => !isElsewhere(id));
    if (recovering) { // stays whose beginning is not known yet, and a backlog without what was before it: the rebuild publishes them
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
    onChange(buildingChange(next, nowMs, prepared));
    version += 1;
  }

  /**
   * What the broker says about a gateway: that one hears nothing means nothing while it is out.
   * @param {string} id @param {boolean} up @param {number} nowMs
   */
  function setGateway(id, up, nowMs) {
    locator.setGateway(id, up, nowMs);
    onChange(gatewayChange(id, up, nowMs));
  }

  /**
   * Somebody is where they are since another time than it seemed.
   * @param {string} id @param {string} room @param {number} sinceMs
   */
  function correctStayStart(id, room, sinceMs) {
    const presence = locator.correctStayStart(id, room, sinceMs);
    if (presence) results.add('presence', [presence]);
  }

  /**
   * A rebuild has caught up: who is located here goes on from what its locator knows, who heard everything in time.
   * @param {Replay} replay @param {number} nowMs @param {ReadonlySet<string>|null} [staff] of these people; null: of all that it knows
   * @returns {import('../locator').Stay[]} that it found last, and that are still to be published
   */
  function adopt(replay, nowMs, staff = null) {
    flush(nowMs, (id) => staff?.has(id) ?? replay.presences.has(id)); // the replay has found the same, and knows it better
    const isFirst = recovering;
    recovering = false;
    const published = new Map(locator.presences().map((presence) => [presence.staff_id, wordsOf(presence)]));
    replay.pass(nowMs);
    if (!locator.restore(replay.save(staff ?? undefined))) throw new Error('the rebuild is about another building than the present');
    for (const presence of locator.presences()) replay.presences.set(presence.staff_id, presence);
    for (const presence of replay.presences.values()) {
      const before = published.get(presence.staff_id);
      const isNew = before !== wordsOf(presence) && (isFirst || before !== undefined || presence.state !== 'lost');
      if (isNew && (staff?.has(presence.staff_id) ?? true)) results.add('presence', [presence]);
    }
    const rest = replay.take(() => true);
    for (const location of rest.locations) history.correct(location, nowMs);
    results.add('locations', rest.locations);
    addEvents(rest.events);
    version += 1;
    return rest.stays;
  }

  /**
   * All that is known here, and of which batches.
   * @param {number} nowMs @returns {Pick<import('../checkpoints').Checkpoint, 'heard'|'locator'>}
   */
  const save = (nowMs) => ({ heard: recentBatches.save(), locator: locator.save(nowMs, found) });

  return {
    hear, skip, flush, setBuilding, setGateway, correctStayStart, adopt, save,
    /** What follows from another building, made while the one of now stays in use. @param {Building} next */
    prepare: (next) => inPieces(locator.prepare(next)),
    /** Whether the time before the start is not located yet. */
    isRecovering: () => recovering,
    /** Forget receivers that are gone. @param {number} nowMs */
    sweep: (nowMs) => recentBatches.sweep(nowMs),
    /** Until the rebuild has caught up, it alone publishes events before this; epoch ms. */
    eventsFromMs: () => eventsFromMs,
    /** @param {Listener|null} listener gets every batch from now on, too; there is one */
    shareReadings: (listener) => { onBatch = listener; },
    /** The same; and until `adopt` somebody else publishes what depends on the time before the start. @param {Listener} listener */
    awaitRecovery(listener) {
      onBatch = listener;
      recovering = true;
    },
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
    learnedStrengths: () => locator.learnedStrengths(),
    /** Grows whenever somebody moved, came or went. */
    version: () => version,
    /** Time of the newest location that was published, epoch ms. */
    newestPublishedMs: () => newestPublishedMs,
    /** Age of locations when they are published: of the batch by which they were found, or from the beginning of their second. */
    liveLag,
  };
}

module.exports = { createLiveTracking };
