// @ts-check
'use strict';

const { asStored } = require('../store/readings');

/**
 * Stays that were published of late and may not be in the database yet, the newest of each beginning. Whoever answers from what is
 * stored, or compares with it, has to know them. Pure.
 * @typedef {import('../locator').Stay} Stay
 * @typedef {ReturnType<typeof createRecentStays>} RecentStays
 */

const STAYS_KEPT_MS = 5 * 60_000; // far longer than ingest takes, unless it is behind
const MAX_STAYS = 16; // of a person

/** @param {Pick<import('./known-people').KnownPeople, 'note'>} [knownPeople] knows of a person before a stay is remembered */
function createRecentStays(knownPeople) {
  /** By person and beginning, in the order of publication. @type {Map<string, Map<number, {stay: Stay, atMs: number}>>} */
  const kept = new Map();
  let prunedMs = -Infinity;

  /** @param {number} nowMs */
  function prune(nowMs) {
    prunedMs = nowMs;
    for (const [id, stays] of kept) {
      for (const [enterMs, { atMs }] of stays) if (atMs < nowMs - STAYS_KEPT_MS) stays.delete(enterMs);
      if (stays.size === 0) kept.delete(id);
    }
  }

  return {
    /** @param {Iterable<Stay>} stays @param {number} nowMs */
    add(stays, nowMs) {
      for (const stay of stays) {
        knownPeople?.note(stay.staff_id);
        let mine = kept.get(stay.staff_id);
        if (!mine) kept.set(stay.staff_id, mine = new Map());
        mine.delete(stay.enter_ms);
        mine.set(stay.enter_ms, { stay: { ...stay }, atMs: nowMs });
        if (mine.size > MAX_STAYS) mine.delete(/** @type {number} */ (mine.keys().next().value));
      }
      if (nowMs - prunedMs >= STAYS_KEPT_MS / 5) prune(nowMs);
    },
    /**
     * Those that may still be on their way into the database, without those that were taken back.
     * @param {(stay: Stay) => boolean} isWanted @returns {Stay[]}
     */
    list: (isWanted) => [...kept.values()].flatMap((stays) => [...stays.values()].map(({ stay }) => stay))
      .filter((stay) => stay.leave_ms > stay.enter_ms && isWanted(stay)),
    /**
     * The stored stays of a person when all that was published has arrived.
     * @param {string} staffId @param {Stay[]} stored @returns {Stay[]}
     */
    over(staffId, stored) {
      const mine = kept.get(staffId);
      if (!mine) return stored;
      /** @type {Map<number, Stay>} */
      const whole = new Map();
      for (const stay of stored) whole.set(stay.enter_ms, stay);
      for (const [enterMs, { stay }] of mine) whole.set(enterMs, stay);
      return [...whole.values()];
    },
  };
}

/**
 * Events that were published of late and may not be in the database yet. Pure.
 * @typedef {import('../store/readings').StoredEvent} StoredEvent
 * @typedef {ReturnType<typeof createRecentEvents>} RecentEvents
 */

const EVENTS_KEPT_MS = 15 * 60_000; // far longer than ingest takes, unless it is behind
const MAX_EVENTS = 50_000; // 10 MB

/**
 * @param {number} sinceMs nothing that was published before is known
 * @param {Pick<import('../events').EventBus, 'on'>} [bus] says what is published
 */
function createRecentEvents(sinceMs, bus) {
  /** In the order of publication. @type {Map<string, {event: StoredEvent, atMs: number}>} */
  const kept = new Map();
  let completeMs = sinceMs;

  /** @param {number} nowMs */
  function prune(nowMs) {
    for (const [key, { atMs }] of kept) {
      if (atMs >= nowMs - EVENTS_KEPT_MS && kept.size <= MAX_EVENTS) break;
      kept.delete(key);
      completeMs = Math.max(completeMs, atMs + 1);
    }
  }

  /** @param {{ts: number, type: string, subject?: string}[]} published @param {number} nowMs */
  function add(published, nowMs) {
    for (const event of published.map(asStored)) {
      const key = keyOf(event);
      kept.delete(key);
      kept.set(key, { event, atMs: nowMs });
    }
    prune(nowMs);
  }
  bus?.on('events', add);

  return {
    add,
    /**
     * @param {(event: StoredEvent) => boolean} isWanted
     * @returns {StoredEvent[]} in no order
     */
    list(isWanted) {
      /** @type {StoredEvent[]} */
      const found = [];
      for (const { event } of kept.values()) if (isWanted(event)) found.push(event);
      return found;
    },
    /** Every event from this time on is here: none is published before it happened. */
    completeFrom: () => completeMs,
  };
}

/** Two points of the database with this key are one. @param {StoredEvent} event */
const keyOf = ({ ts, type, subject }) => `${ts} ${type} ${subject}`;

module.exports = { createRecentStays, createRecentEvents, keyOf };
