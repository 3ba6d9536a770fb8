// @ts-check
'use strict';

const { asStored } = require('../store/readings');

/**
 * Events that were published of late and may not be in the database yet. Pure.
 * @typedef {import('../store/readings').StoredEvent} StoredEvent
 * @typedef {ReturnType<typeof createRecentEvents>} RecentEvents
 */

const KEPT_MS = 15 * 60_000; // far longer than ingest takes, unless it is behind
const MAX_EVENTS = 50_000; // 10 MB

/** @param {number} sinceMs nothing that was published before is known */
function createRecentEvents(sinceMs) {
  /** In the order of publication. @type {Map<string, {event: StoredEvent, atMs: number}>} */
  const kept = new Map();
  let completeMs = sinceMs;

  /** @param {number} nowMs */
  function prune(nowMs) {
    for (const [key, { atMs }] of kept) {
      if (atMs >= nowMs - KEPT_MS && kept.size <= MAX_EVENTS) break;
      kept.delete(key);
      completeMs = Math.max(completeMs, atMs + 1);
    }
  }

  return {
    /** @param {{ts: number, type: string, subject?: string}[]} published @param {number} nowMs */
    add(published, nowMs) {
      for (const event of published.map(asStored)) {
        const key = keyOf(event);
        kept.delete(key);
        kept.set(key, { event, atMs: nowMs });
      }
      prune(nowMs);
    },
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

/** What makes two points of the database one. @param {StoredEvent} event */
const keyOf = ({ ts, type, subject }) => `${ts} ${type} ${subject}`;

module.exports = { createRecentEvents, keyOf };
