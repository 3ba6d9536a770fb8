// @ts-check
'use strict';

const { eventOf, locationMessages, messagesOf } = require('../broker/messages');
const { reconciled, stayOf } = require('./stays');

/**
 * Results of a rebuild on their way: corrected in memory, then by the outbox like everything else, one message after the
 * other and at a bounded rate, so that what happens now never waits behind it. Users' nodes receive it when the broker has it.
 * @typedef {import('../locator').Location} Location
 * @typedef {import('../locator').Stay} Stay
 */

const MESSAGE_POINTS = 400; // fits into one message
const POINTS_A_SECOND = 20_000; // a fifth of what Telegraf and InfluxDB take beside everything else
const ACKNOWLEDGE_MS = 10_000;
const EVENTS_AT_ONCE = 100; // each is a message …
const EVENT_MS = 0.5; // … and 2,000 a second a fifth of what the broker hands on beside everything else
const BULK_MS = 3_600_000; // stays shorter than this are compared all at once
const DAY_MS = 24 * 3_600_000;

/**
 * @param {import('../site').Site} site
 * @param {import('../store').Store} store
 * @param {import('./background').Background} background
 * @param {() => number} clock
 * @param {(locations: number, stays: number) => void} onPublished
 * @param {boolean} keepsOrder whether the broker does
 */
function createPublishing(site, store, background, clock, onPublished, keepsOrder) {
  const confirmation = createConfirmation();
  if (!keepsOrder) site.bus.on('corrected', confirmation.location);

  /** @param {Stay[]} changes @param {Stay[]} before of the same person */
  function noteStays(changes, before) {
    site.memory.recentStays.add(changes, clock());
    if (keepsOrder) return;
    for (const stay of changes) if (before.some((one) => isReplaced(one, stay))) confirmation.stay(stay, clock());
  }

  /**
   * @param {Pick<import('./replay').Found, 'locations'|'stays'> & Partial<import('./replay').Found>} found
   * @param {boolean} [open] whether these stays go on
   */
  async function publish(found, open = false) {
    const stays = found.stays.length > 0 ? await background.retry(() => compare(found.stays, open)) : [];
    for (const location of found.locations) site.memory.history.correct(location, clock());
    await send(found.locations, stays);
    const events = (found.events ?? []).map(eventOf);
    const messages = messagesOf('events', events);
    site.bus.emit('events', events, clock());
    for (let at = 0; at < messages.length; at += EVENTS_AT_ONCE) {
      const some = messages.slice(at, at + EVENTS_AT_ONCE);
      await background.retry(() => Promise.all(some.map((message) => site.broker.outbox.publish(message, clock(), ACKNOWLEDGE_MS))));
      await background.pause(some.length * EVENT_MS);
    }
    site.broker.results.again({ locations: found.locations, stays, events });
    onPublished(found.locations.length, found.stays.length);
  }

  /** @param {Location[]} locations @param {Stay[]} stays */
  async function send(locations, stays) {
    for (const message of locationMessages({ locations, stays }, MESSAGE_BYTES)) {
      await background.retry(() => site.broker.outbox.publish(message, clock(), ACKNOWLEDGE_MS));
      await background.pause(message.payload.length / BYTES_A_MS);
    }
  }

  /** Everybody's that began then. @param {number} fromMs @param {number} toMs @returns {Promise<Map<string, Stay[]>>} by person */
  async function storedStays(fromMs, toMs) {
    /** @type {Map<string, Stay[]>} */
    const stored = new Map();
    for (const stay of await store.stays(fromMs, toMs)) {
      const others = stored.get(stay.staff_id);
      if (others) others.push(stay);
      else stored.set(stay.staff_id, [stay]);
    }
    return stored;
  }

  /** @param {Stay[]} found @param {boolean} open @returns {Promise<Stay[]>} what to write, so that no two overlap */
  async function compare(found, open) {
    const short = found.filter(({ duration_s: seconds }) => seconds * 1000 < BULK_MS);
    const enters = short.map(({ enter_ms: ms }) => ms);
    const leaves = short.map(({ leave_ms: ms }) => ms);
    const stored = short.length === 0 ? new Map()
      : await storedStays(enters.reduce((a, b) => Math.min(a, b)) - BULK_MS, leaves.reduce((a, b) => Math.max(a, b)));
    /** @type {Stay[]} */
    const changes = [];
    for (const stay of found) {
      const others = short.includes(stay) ? stored.get(stay.staff_id) ?? []
        : await store.stays(stay.enter_ms - DAY_MS, stay.leave_ms, stay.staff_id);
      const before = site.memory.recentStays.over(stay.staff_id, others);
      const change = reconciled(stay, before, open);
      changes.push(...change);
      noteStays(change, before);
    }
    return changes;
  }

  /**
   * Retracts stays published since `fromMs` that contradict these open stays.
   * @param {import('../locator').Presence[]} open who is where, and since when @param {number} fromMs
   */
  async function retractContradicted(open, fromMs) {
    if (open.length === 0) return;
    const stored = await background.retry(() => storedStays(fromMs - BULK_MS, clock()));
    const changes = open.flatMap((presence) => {
      const stay = stayOf(presence);
      const before = site.memory.recentStays.over(stay.staff_id, stored.get(stay.staff_id) ?? []);
      const change = reconciled(stay, before, true).filter(({ enter_ms: ms }) => ms !== stay.enter_ms);
      noteStays(change, before);
      return change;
    });
    await send([], changes);
    site.broker.results.again({ locations: [], stays: changes, events: [] });
  }

  /** Publish once more, as they are now, what was corrected a minute ago; to be called every few seconds. */
  function confirm() {
    const { locations, stays } = confirmation.takeDue(site.connected(), clock());
    const located = locations.map((one) => site.memory.history.between(one.staff_id, one.ts, one.ts)[0] ?? one);
    const stayed = stays.map((one) => site.memory.recentStays.over(one.staff_id, [one])
      .find(({ enter_ms: ms }) => ms === one.enter_ms) ?? one);
    if (locations.length + stays.length === 0) return;
    for (const message of locationMessages({ locations: located, stays: stayed }, MESSAGE_BYTES)) site.broker.outbox.put(message, clock());
  }

  return {
    publish,
    retractContradicted,
    confirm,
    /** When enough has come together. @param {{count: () => number, take: () => import('./replay').Found}} replay */
    publishSome: async (replay) => { if (replay.count() >= MESSAGE_POINTS) await publish(replay.take()); },
  };
}

/** @param {Stay} before @param {Stay} stay */
const isReplaced = (before, stay) => before.enter_ms === stay.enter_ms && (before.leave_ms !== stay.leave_ms || before.room !== stay.room);

const POINT_BYTES = 120;
const MESSAGE_BYTES = MESSAGE_POINTS * POINT_BYTES;
const BYTES_A_MS = (POINTS_A_SECOND * POINT_BYTES) / 1000;

/**
 * Corrections that are to be published once more. A broker that keeps no order may deliver an older message again after a correction,
 * and of two points of a time the database keeps what comes last. Pure.
 */

const QUIET_MS = 60_000; // a broker may deliver again after 10 s what was not acknowledged, several times
const MAX_NOTED = 50_000;

function createConfirmation() {
  /** By kind, person and time, in the order of publication. @type {Map<string, {atMs: number, location?: Location, stay?: Stay}>} */
  const noted = new Map();
  let brokenMs = -Infinity;

  /** @param {string} key @param {{atMs: number, location?: Location, stay?: Stay}} one */
  function note(key, one) {
    noted.delete(key);
    noted.set(key, one);
    if (noted.size > MAX_NOTED) noted.delete(/** @type {string} */ (noted.keys().next().value));
  }

  return {
    /** It replaces another one. @param {Location} location @param {number} nowMs */
    location: (location, nowMs) => note(`location ${location.ts} ${location.staff_id}`, { atMs: nowMs, location }),
    /** The same. @param {Stay} stay @param {number} nowMs */
    stay: (stay, nowMs) => note(`stay ${stay.enter_ms} ${stay.staff_id}`, { atMs: nowMs, stay }),
    /**
     * Those that were published a minute ago, and not since the connection broke; each once.
     * @param {boolean} isConnected @param {number} nowMs @returns {{locations: Location[], stays: Stay[]}}
     */
    takeDue(isConnected, nowMs) {
      if (!isConnected) brokenMs = nowMs;
      const due = { locations: /** @type {Location[]} */ ([]), stays: /** @type {Stay[]} */ ([]) };
      for (const [key, { atMs, location, stay }] of noted) {
        if (nowMs - Math.max(atMs, brokenMs) < QUIET_MS) break;
        noted.delete(key);
        if (location) due.locations.push(location);
        if (stay) due.stays.push(stay);
      }
      return due;
    },
  };
}

module.exports = { createPublishing, createConfirmation, QUIET_MS };
