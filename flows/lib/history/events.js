// @ts-check
'use strict';

const { LRUCache } = require('lru-cache');
const { keyOf } = require('./recent-events');

/**
 * Events, newest first: those of the last minute from memory, earlier ones from the database, whose answers hold for some seconds. The
 * newest page, which everybody asks for, costs the database one question in ten seconds.
 * @typedef {import('../store/readings').StoredEvent} StoredEvent
 * @typedef {{type?: string, subject?: string}} Only events of this type, of this subject
 */

const SETTLED_MS = 60_000; // what happened before is in the database, unless ingest is behind
const STEP_MS = 10_000; // ends of the times that are asked of the database, so that equal questions meet
const FRESH_MS = 10_000; // what is erased from the database is gone here as soon
const MAX_EVENTS = 50_000; // in all answers that are kept; 10 MB

/**
 * @param {object} deps
 * @param {Pick<import('../store').Store, 'events'>} deps.store
 * @param {{recentEvents: Pick<import('./recent-events').RecentEvents, 'list'|'completeFrom'>}} deps.site
 * @param {() => number} deps.clock
 */
function createEvents({ store, site, clock }) {
  /** @type {LRUCache<string, StoredEvent[], Question>} */
  const answers = new LRUCache({
    maxSize: MAX_EVENTS,
    sizeCalculation: (events) => events.length + 1,
    ttl: FRESH_MS,
    perf: { now: clock },
    fetchMethod: (_key, _stale, { context: { only, fromMs, toMs, count } }) => store.events(only, fromMs, toMs, count),
  });

  /**
   * @typedef {{only: Only, fromMs: number, toMs: number, count: number}} Question
   * @param {Question} question
   */
  async function stored(question) {
    const { only: { type = '', subject = '' }, fromMs, toMs, count } = question;
    const key = JSON.stringify([type, subject, fromMs, toMs, count]);
    return await answers.fetch(key, { context: question }) ?? store.events(question.only, fromMs, toMs, count); // pushed out meanwhile
  }

  /**
   * @param {Only} only
   * @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<StoredEvent[]>} newest first; those of one moment always in the same order
   */
  return async function events(only, fromMs, toMs, count) {
    const wanted = (/** @type {StoredEvent} */ { ts, type, subject }) => ts >= fromMs && ts < toMs
      && (only.type === undefined || only.type === type) && (only.subject === undefined || only.subject === subject);
    const published = site.recentEvents.list(wanted);
    const settledMs = Math.floor((clock() - SETTLED_MS) / STEP_MS) * STEP_MS;
    const endMs = settledMs < site.recentEvents.completeFrom() ? toMs : Math.min(toMs, settledMs);
    const inMemory = published.filter(({ ts }) => ts >= endMs);
    const earlier = inMemory.length >= count || fromMs >= endMs ? []
      : await stored({ only, fromMs: Math.floor(fromMs / STEP_MS) * STEP_MS, toMs: endMs, count });
    const all = new Map([...earlier.filter(wanted), ...published].map((event) => [keyOf(event), event]));
    return [...all.values()].sort((a, b) => b.ts - a.ts || (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, count);
  };
}

module.exports = { createEvents };
