// @ts-check
'use strict';

const { eventOf, refusalOf, wordsOf } = require('../broker/messages');
const { createLocator, emptyOutcome } = require('../locator');
const { createIntervalHistogram } = require('../health/figures');
const { inPieces } = require('../shared/pieces');
const { RecentBatches, inOrder } = require('./batches');
const { Inbox } = require('./inbox');
const { NewestFirst } = require('./newest-first');
const { Crowding, PublishedPresences, Simulated } = require('./presence');
const { PROBE_TOPIC, Refusals, probeMs, readMessage } = require('./readings');

/**
 * The present: messages of receivers are checked, wait for their turn, and the locator says who is where. What it finds goes into memory
 * and to the broker. While the past is rebuilt it shares its readings; in the end it goes on from what the locator of the rebuild knows.
 * Owns no socket and no timer.
 * @typedef {import('../building').Building} Building
 * @typedef {import('../locator').Location} Location
 * @typedef {import('../locator').LocationEvent} LocationEvent
 * @typedef {import('./readings').Batch} Batch
 * @typedef {object} Replay a locator that heard a time up to now
 * @property {Map<string, import('../locator').Presence>} presences
 * @property {(ms: number) => void} pass
 * @property {(enough: () => boolean) => Pick<import('../locator').Outcome, 'locations'|'stays'|'events'>} take
 * @property {(ids?: Iterable<string>) => import('../locator').Saved} save
 */

/** A locator that begins sees everybody enter. What knows better has caught up by then, unless the database is away. */
const EVENTS_HELD_MS = 60_000;

class Live {
  #bus;
  #startedMs;
  #building;
  #locator;
  #learnedVersions;
  #beacons;
  #gateways;
  #history;
  #recentStays;
  #results;
  #leavesOut;
  #clock;
  #counters = { messages: 0, readings: 0, unregistered: 0, refused: 0, locations: 0, late: 0, late_known: 0, stays: 0, events: 0,
    located_later: 0 };
  #refusedMs = 0;
  /** When a phone or gateway, and no simulator, sent something. @type {number|null} */
  #receivedMs = null;
  #recentBatches = new RecentBatches();
  #found = emptyOutcome();
  /** Locations of these that are in memory already. */
  #remembered = 0;
  /** Beginnings of the seconds that were located for the first time, epoch ms. @type {number[]} */
  #fresh = [];
  #newestPublishedMs = 0;
  #flushedMs = -Infinity;
  #clocks;
  #version = 0;
  #buildingSinceMs;
  /** Whether the time before the start is not located yet. */
  #recovering = false;
  #crowding = new Crowding();
  /** @type {Set<Inbox<any>>} */
  #inboxes = new Set();

  /**
   * @param {object} deps
   * @param {import('../events').EventBus} deps.bus
   * @param {Building} deps.building
   * @param {number} deps.startedMs
   * @param {Pick<import('../site').Devices, 'beacons'|'gateways'|'learnedVersions'>} deps.devices
   * @param {Pick<import('../site').Memory, 'history'|'recentStays'>} deps.memory
   * @param {import('../broker').Broker} deps.broker
   * @param {import('../clocks').Clocks} deps.clocks of receivers: batches pass there first
   * @param {boolean} deps.leavesOut whether batches may be left out under overload: what is left out is located from a database
   * @param {{file?: string|null, warn?: (text: string) => void}} deps.presences file: who is retained at the broker, over restarts
   * @param {() => number} deps.clock of what waits for its turn
   */
  constructor({ bus, building, startedMs, devices, memory, broker, clocks, leavesOut, presences, clock }) {
    this.#bus = bus;
    this.#startedMs = startedMs;
    this.#buildingSinceMs = startedMs;
    this.#building = building;
    this.#learnedVersions = devices.learnedVersions;
    this.#beacons = devices.beacons;
    this.#gateways = devices.gateways;
    this.#history = memory.history;
    this.#recentStays = memory.recentStays;
    this.#results = broker.results;
    this.#leavesOut = leavesOut;
    this.#clocks = clocks;
    this.#clock = clock;
    this.#locator = createLocator(building, {}, undefined, devices.learnedVersions);
    this.#locator.onSample((sample) => bus.emit('sample', sample));
    this.refusals = new Refusals();
    this.simulated = new Simulated();
    this.published = new PublishedPresences({ ...presences, bus, broker });
    /** Age of locations when they are published: of the batch by which they were found, or from the beginning of their second. */
    this.lag = createIntervalHistogram();
    /** Batches that were checked, on their way to be located; under overload each receiver's newest first. */
    this.queue = new NewestFirst({
      take: (batch) => this.#hear(batch, clock()), skip: (batch) => this.skip(batch, clock()),
      after: () => this.#results.deliver(clock()), onFault: (error) => bus.emit('error', error),
    });
  }

  // --- a message comes in

  /**
   * Where messages wait to be checked, in pieces, so that requests get a turn.
   * @template T
   * @param {(message: T) => void} take @param {() => void} after each piece
   */
  openInbox(take, after) {
    /** @type {Inbox<T>} */
    const inbox = new Inbox(take, { after, onClose: () => this.#inboxes.delete(inbox) });
    this.#inboxes.add(inbox);
    return inbox;
  }

  /** How many messages have come and wait to be checked. */
  unchecked() {
    return [...this.#inboxes].reduce((sum, inbox) => sum + inbox.size(), 0);
  }

  /**
   * Checks a message of readings. What is refused is counted, and remembered with its reason.
   * @param {string} topic
   * @param {Buffer} payload
   * @param {number} nowMs
   * @returns {{batch: Batch|null, refused: import('../broker/messages').Refusal[]}} batch: what is good of it
   */
  check(topic, payload, nowMs) {
    if (topic === PROBE_TOPIC) {
      const sentMs = probeMs(payload);
      if (sentMs !== null) {
        this.#clocks.probed(sentMs, nowMs);
        this.#bus.emit('probe', sentMs, nowMs);
      }
      return { batch: null, refused: [] };
    }
    this.#counters.messages += 1;
    const { batch, rejections } = readMessage(topic, payload, nowMs);
    this.#counters.readings += batch?.readings.length ?? 0;
    const refused = rejections.map((rejection) => {
      this.#counters.refused += rejection.count;
      this.refusals.add(rejection, nowMs);
      this.#refusedMs = Math.max(nowMs, this.#refusedMs + 1); // no two may have the same, or they would be one point
      return refusalOf(rejection, topic, payload, this.#refusedMs);
    });
    if (batch && batch.readings.length > 0) this.refusals.measured(batch.receiver); // after its refusals: one RSSI among them is enough
    return { batch, refused };
  }

  /** Locate checked batches when it is their turn. @param {Batch[]} batches @param {number} nowMs */
  put(batches, nowMs) {
    if (this.#leavesOut) this.queue.put(this.#clocks.correct(batches, nowMs), nowMs);
    else this.locate(batches, nowMs);
  }

  /** Locate checked batches now. @param {Batch[]} batches @param {number} nowMs */
  locate(batches, nowMs) {
    for (const batch of this.#clocks.correct(batches, nowMs)) this.#hear(batch, nowMs);
    this.#results.deliver(nowMs);
  }

  /** Locate all that waits, now. */
  drain() {
    this.queue.put(this.#clocks.drain(), this.#clock());
    this.queue.drain();
  }

  // --- it is located

  /** @param {Batch} batch @param {number} nowMs */
  #hear(batch, nowMs) {
    this.#note(batch, nowMs);
    const again = this.#recentBatches.isRepeated(batch);
    this.#locator.hear(inOrder(batch), nowMs, this.#found);
    for (const { staff_id: staffId, ts } of this.#found.late.splice(0)) {
      this.#counters[again ? 'late_known' : 'late'] += 1;
      if (!again) this.#bus.emit('late', staffId, ts, nowMs);
    }
    this.#remember(nowMs, batch.ts);
  }

  /**
   * Under overload a batch is left out: it is located later, from the database. While a start locates the past, the start does that.
   * @param {Batch} batch @param {number} nowMs
   */
  skip(batch, nowMs) {
    const stored = this.#note(batch, nowMs);
    const again = this.#recentBatches.knowsOlder(batch);
    this.#recentBatches.isRepeated(batch);
    this.#counters.located_later += 1;
    if (!this.#recovering && stored && !again) this.#bus.emit('skipped', batch, nowMs);
  }

  /**
   * Takes the part that does not depend on who is where.
   * @param {Batch} batch @param {number} nowMs @returns {boolean} whether the database takes it
   */
  #note(batch, nowMs) {
    const building = this.#building;
    this.#counters.unregistered += this.#beacons.addBatch(batch, building, nowMs);
    if (batch.kind === 'gateway') this.#gateways.addBatch(batch, building, nowMs);
    this.simulated.hear(batch, building, nowMs);
    if (!batch.simulated) this.#receivedMs = nowMs;
    const stored = batch.readings.some(({ beacon }) => building.isRegistered(beacon));
    this.#bus.emit('batch', batch, nowMs, stored);
    return stored;
  }

  /**
   * Results go into memory at once, so that an answer never waits for the next batch.
   * @param {number} nowMs @param {number} [readMs] of the batch by which it was found
   */
  #remember(nowMs, readMs = -Infinity) {
    const found = this.#found;
    for (; this.#remembered < found.locations.length; this.#remembered += 1) {
      const location = /** @type {Location} */ (found.locations[this.#remembered]);
      if (!this.#isOurs(location)) continue;
      const { ts } = location;
      const isFirst = this.#history.addOrCorrect(location, nowMs);
      if (isFirst) this.#fresh.push(readMs >= ts && readMs < ts + 1000 ? readMs : ts); // what is corrected does not lag
    }
    if (found.presences.length > 0 || found.events.length > 0) this.#version += 1;
    this.#results.add('presence', found.presences.splice(0));
    this.#addEvents(found.events.splice(0).filter(({ ts }) => !this.#recovering || ts >= this.eventsFromMs()));
  }

  /** @param {Parameters<typeof eventOf>[0][]} events */
  #addEvents(events) {
    this.#counters.events += events.length;
    this.#results.add('events', events.map(eventOf));
  }

  /** While the past is rebuilt, the rebuild alone publishes what was before the start. @param {{ts: number}} one */
  #isOurs({ ts }) {
    return !this.#recovering || ts >= this.#startedMs;
  }

  // --- time passes

  /** Let the locator's time pass and hand over what it found; several times a second. @param {number} nowMs */
  flush(nowMs) {
    for (const batch of this.#clocks.due(nowMs)) this.#hear(batch, nowMs);
    this.#gather(nowMs);
    this.#results.deliver(nowMs);
  }

  /** @param {number} nowMs @param {(staffId: string) => boolean} [isElsewhere] of whom somebody else publishes that */
  #gather(nowMs, isElsewhere = () => false) {
    const found = this.#found;
    if (nowMs < this.#flushedMs) this.#locator.forgetAfter(nowMs);
    this.#flushedMs = nowMs;
    this.#locator.tick(nowMs, found);
    this.#remember(nowMs);
    found.stays = found.stays.filter(({ staff_id: id }) => !isElsewhere(id));
    found.locations = found.locations.filter(({ staff_id: id }) => !isElsewhere(id));
    if (this.#recovering) { // stays whose beginning is not known yet, and a backlog without what was before it: the rebuild publishes them
      found.stays = [];
      found.locations = found.locations.filter((location) => this.#isOurs(location));
    }
    this.#counters.locations += found.locations.length;
    this.#counters.stays += found.stays.length;
    for (const ts of this.#fresh.splice(0)) this.lag.add(nowMs - ts);
    for (const { ts } of found.locations) this.#newestPublishedMs = Math.max(this.#newestPublishedMs, ts);
    this.#recentStays.add(found.stays, nowMs);
    this.#results.add('stays', found.stays); // before locations: whoever sees a location in the database finds the stays before it
    this.#results.add('locations', found.locations);
    this.#found = emptyOutcome();
    this.#remembered = 0;
  }

  /** Who is lost, which rooms are crowded; about once a second. @param {number} nowMs */
  tick(nowMs) {
    const presences = this.presences();
    const now = { presences, isRecovering: this.#recovering, building: this.#building, startedMs: this.#startedMs };
    const lost = this.published.takeBack(now, nowMs);
    this.publishEvents([...lost, ...this.#crowding.tick(presences, this.#building, nowMs)], nowMs);
    this.#recentBatches.sweep(nowMs);
  }

  /** @param {Parameters<typeof eventOf>[0][]} events @param {number} nowMs */
  publishEvents(events, nowMs) {
    this.#addEvents(events);
    this.#results.deliver(nowMs);
  }

  // --- the building changes

  /** Prepares for another building, while the present one stays in use. @param {Building} next */
  prepare(next) {
    return inPieces(this.#locator.prepare(next));
  }

  /**
   * Use another building from now on; what was found with the old one stays.
   * @param {Building} next @param {number} nowMs
   * @param {import('../locator').Prepared} [prepared] by `prepare`, which takes its time; else that is done now
   */
  setBuilding(next, nowMs, prepared) {
    this.#building = next;
    this.#buildingSinceMs = nowMs;
    this.#locator.setBuilding(next, nowMs, this.#found, prepared);
    this.#remember(nowMs);
    this.#version += 1;
    this.#bus.emit('buildingChanged', next, nowMs, prepared);
    this.#results.deliver(nowMs);
  }

  /**
   * The broker's word about a gateway: its silence means nothing while it is out.
   * @param {string} id @param {boolean} up @param {number} nowMs
   */
  setGateway(id, up, nowMs) {
    this.#locator.setGateway(id, up, nowMs);
    this.#bus.emit('gatewayChanged', id, up, nowMs);
  }

  // --- the past is rebuilt meanwhile

  /** Until `adopt` somebody else publishes what depends on the time before the start. */
  awaitRecovery() {
    this.#recovering = true;
  }

  /**
   * A rebuild has caught up: who is located here goes on from what its locator knows, who heard everything in time.
   * @param {Replay} replay @param {number} nowMs @param {ReadonlySet<string>|null} [staff] of these people; null: of all that it knows
   * @returns {import('../locator').Stay[]} that it found last, and that are still to be published
   */
  adopt(replay, nowMs, staff = null) {
    this.#gather(nowMs, (id) => staff?.has(id) ?? replay.presences.has(id)); // the replay has found the same, and knows it better
    const isFirst = this.#recovering;
    this.#recovering = false;
    const published = new Map(this.presences().map((presence) => [presence.staff_id, wordsOf(presence)]));
    replay.pass(nowMs);
    if (!this.#locator.restore(replay.save(staff ?? undefined))) throw new Error('the rebuild is about another building than the present');
    for (const presence of this.presences()) replay.presences.set(presence.staff_id, presence);
    for (const presence of replay.presences.values()) {
      const before = published.get(presence.staff_id);
      const isNew = before !== wordsOf(presence) && (isFirst || before !== undefined || presence.state !== 'lost');
      if (isNew && (staff?.has(presence.staff_id) ?? true)) this.#results.add('presence', [presence]);
    }
    const rest = replay.take(() => true);
    for (const location of rest.locations) this.#history.correct(location, nowMs);
    this.#results.add('locations', rest.locations);
    this.#addEvents(rest.events);
    this.#version += 1;
    this.#results.deliver(nowMs);
    return rest.stays;
  }

  /**
   * Somebody is where they are since another time than it seemed.
   * @param {string} id @param {string} room @param {number} sinceMs @param {number} nowMs
   */
  correctStayStart(id, room, sinceMs, nowMs) {
    const presence = this.#locator.correctStayStart(id, room, sinceMs);
    if (presence) this.#results.add('presence', [presence]);
    this.#results.deliver(nowMs);
  }

  /**
   * All that is known here, and of which batches.
   * @param {number} nowMs @returns {Pick<import('../past/checkpoints').Checkpoint, 'heard'|'locator'>}
   */
  save(nowMs) {
    return { heard: this.#recentBatches.save(), locator: this.#locator.save(nowMs, this.#found) };
  }

  /** Another locator, for a time that is over. @param {Building} building of then */
  async newLocator(building) {
    return createLocator(building, {}, await this.prepare(building), this.#learnedVersions);
  }

  /** Until the rebuild has caught up, it alone publishes events before this; epoch ms. */
  eventsFromMs() {
    return this.#startedMs + EVENTS_HELD_MS;
  }

  // --- what is known

  /** The building in use. */
  building() {
    return this.#building;
  }

  /** Since when it is in use as far as is known here, epoch ms. */
  buildingSinceMs() {
    return this.#buildingSinceMs;
  }

  /** Who is where. */
  presences() {
    return this.#locator.presences();
  }

  /** Everybody's stay that goes on, as history has it. */
  openStays() {
    return this.#locator.openStays();
  }

  /** Why somebody is said to be where they are; null: not heard of late. @param {string} id */
  trace(id) {
    const trace = this.#locator.trace(id);
    return trace && Number.isFinite(trace.ts) ? trace : null; // of somebody new the first readings may still be gathered
  }

  /** How much stronger than calibrated the tag or phone of each is who was heard of late. */
  learnedStrengths() {
    return this.#locator.learnedStrengths();
  }

  /** Grows whenever somebody moved, came or went. */
  version() {
    return this.#version;
  }

  /** Time of the newest location that was published, epoch ms. */
  newestPublishedMs() {
    return this.#newestPublishedMs;
  }

  /** When a real receiver sent something last, epoch ms; null: none has since the start. */
  receivedMs() {
    return this.#receivedMs;
  }

  counters() {
    return { ...this.#counters };
  }
}

module.exports = { Live };
