// @ts-check
'use strict';

const { isTaskCancelledError, timeout, TimeoutStrategy } = require('cockatiel');
const { LRUCache } = require('lru-cache');
const { LATEST_MS } = require('./history');
const { keyOf } = require('./recent');
const { StoreUnavailable, StoreBusy } = require('../store');

/**
 * Where people were, from memory and database together, newest first, piece by piece: what memory holds completely is never
 * asked for, and where both know a millisecond memory counts.
 * @typedef {import('./history').LocationList} LocationList
 * @typedef {import('../store').StaffLocations} StaffLocations
 * @typedef {{history: Pick<import('./history').History, 'completeFrom'|'locations'|'staffIds'>,
 *   store: Pick<import('../store').Store, 'locations'>, clock: () => number,
 *   refuseIncomplete?: import('./coverage').RefuseIncomplete}} Deps
 */

/** Nothing can lie further ahead: readings may be 5 minutes ahead of us. */
const AHEAD_MS = 10 * 60_000;
/** Memory moves on while a long answer is taken; what it gave up since then must be among what the database was asked for. */
const TAKEN_WITHIN_MS = 4 * 60_000;

/**
 * @param {Deps} deps
 * @param {string} staffId
 * @param {number} fromMs inclusive
 * @param {number} toMs inclusive
 * @returns {{recent: LocationList, older: AsyncGenerator<LocationList, void, void>|null}} older: where memory does not reach; it takes
 *   `recent` in
 */
function locationsOf({ history, store, clock, refuseIncomplete = () => {} }, staffId, fromMs, toMs) {
  const nowMs = clock();
  const olderToMs = Math.min(toMs, history.completeFrom(staffId, nowMs) - 1, nowMs + AHEAD_MS);
  const recent = history.locations(staffId, fromMs, toMs);
  return { recent, older: fromMs <= olderToMs ? older() : null };

  async function* older() {
    refuseIncomplete(fromMs, olderToMs + 1, [staffId], nowMs);
    const merge = createMerge(recent);
    for await (const piece of store.locations([staffId], fromMs, olderToMs, (olderToMs - fromMs) / 1000)) yield merge.with(piece);
    yield merge.rest();
  }
}

/**
 * One person after the other.
 * @param {Deps} deps
 * @param {string[]|null} staffIds null: everybody
 * @param {number} fromMs inclusive
 * @param {number} toMs inclusive
 * @returns {AsyncGenerator<StaffLocations, void, void>} pieces of the same person follow each other
 */
async function* locationsOfSeveral({ history, store, clock, refuseIncomplete = () => {} }, staffIds, fromMs, toMs) {
  const askedMs = clock();
  const known = [...new Set(staffIds ?? history.staffIds())].sort().reverse();
  const whole = (staffId = '') => ({ staffId, ...history.locations(staffId, fromMs, toMs) });
  const lacks = (/** @type {string} */ staffId) => history.completeFrom(staffId, askedMs) > fromMs;
  // nobody has an empty id: what memory says of it holds for everybody it does not know
  const asked = staffIds === null && lacks('') ? null : known.filter(lacks);
  const olderToMs = Math.min(toMs, askedMs + AHEAD_MS);
  let next = 0;
  if (asked === null || asked.length > 0) {
    const completeMs = (asked ?? ['', ...known]).reduce((ms, id) => Math.max(ms, history.completeFrom(id, askedMs)), 0);
    refuseIncomplete(fromMs, Math.min(olderToMs + 1, completeMs), asked, askedMs);
    let merge = createMerge({ ms: [], places: [] });
    let staffId = '';
    const records = ((asked ?? known).length * (olderToMs - fromMs)) / 1000;
    for await (const piece of store.locations(asked, fromMs, olderToMs, records)) {
      if (piece.staffId !== staffId) {
        yield { staffId, ...merge.rest() };
        for (; next < known.length && /** @type {string} */ (known[next]) > piece.staffId; next += 1) yield whole(known[next]);
        if (known[next] === piece.staffId) next += 1;
        if (clock() - askedMs > TAKEN_WITHIN_MS) throw new StoreUnavailable('the answer was taken too slowly');
        staffId = piece.staffId;
        merge = createMerge(history.locations(staffId, fromMs, toMs), history.completeFrom(staffId, clock()));
      }
      yield { staffId, ...merge.with(piece) };
    }
    yield { staffId, ...merge.rest() };
  }
  for (; next < known.length; next += 1) yield whole(known[next]);
}

/**
 * Takes one person's recent locations into the pieces of the older ones.
 * @param {LocationList} recent
 * @param {number} [completeFromMs] from here on the recent one has everything
 */
function createMerge(recent, completeFromMs = Infinity) {
  let at = 0;
  return {
    /** @param {LocationList} piece newest first, and so all that follow @returns {LocationList} */
    with(piece) {
      if (at === recent.ms.length && (piece.ms[0] ?? 0) < completeFromMs) return piece;
      /** @type {LocationList} */
      const merged = { ms: [], places: [] };
      const take = (/** @type {LocationList} */ from, /** @type {number} */ index) => {
        merged.ms.push(/** @type {number} */ (from.ms[index]));
        merged.places.push(/** @type {import('./history').Place} */ (from.places[index]));
      };
      for (let index = 0; index < piece.ms.length; index += 1) {
        const ms = /** @type {number} */ (piece.ms[index]);
        while (/** @type {number} */ (recent.ms[at]) > ms) take(recent, at++);
        if (recent.ms[at] !== ms && ms < completeFromMs) take(piece, index);
      }
      return merged;
    },
    /** @returns {LocationList} what no piece was old enough for */
    rest() {
      const rest = { ms: recent.ms.slice(at), places: recent.places.slice(at) };
      at = recent.ms.length;
      return rest;
    },
  };
}

/**
 * Everybody's latest location of the last quarter of an hour. Memory answers first; InfluxDB answers for people not in memory. One query
 * for the time before memory serves all callers. It is repeated every 5 s while that time is being located, then every 60 s: only late
 * readings change it then, and what is located once more is in memory.
 * @typedef {import('../store').Sighting} Sighting
 * @typedef {{locations: Sighting[], completeMs: number, keptMs: number}} Before completeMs: up to when everybody is among them, epoch ms;
 *   keptMs: so long it is not asked again
 */

const BEFORE_KEPT_MS = 5000;
const BEFORE_SETTLED_KEPT_MS = 60_000;
/** Locations are newer by no more, unless our clock was set back. */
const LATEST_AHEAD_MS = 5000;
/** So long a caller waits for the first answer; who comes later finds it. */
const timeoutPolicy = timeout(800, TimeoutStrategy.Aggressive);

/**
 * @param {{site: {memory: {history: Pick<import('./history').History, 'latestSince'|'latestCompleteFrom'>}},
 *   store: Pick<import('../store').Store, 'latest'>, clock: () => number,
 *   settledMs?: import('./coverage').Coverage['settledMs']}} deps
 */
function createLatest({ site, store, clock, settledMs = (nowMs) => nowMs }) {
  /** @type {Before|null} */
  let before = null;
  /** @type {Promise<Before>|null} */
  let asking = null;
  let askedMs = -Infinity;

  /** @param {number} fromMs @param {number} completeMs */
  function ask(fromMs, completeMs) {
    askedMs = clock();
    const keptMs = settledMs(askedMs) < completeMs ? BEFORE_KEPT_MS : BEFORE_SETTLED_KEPT_MS;
    asking = store.latest(fromMs, completeMs).then((locations) => (before = { locations, completeMs, keptMs }));
    asking.catch(() => {}).finally(() => { asking = null; });
    return asking;
  }

  /** @param {number} fromMs @returns {Promise<Before>} */
  async function lookBefore(fromMs) {
    const completeMs = site.memory.history.latestCompleteFrom();
    if (before && before.completeMs >= completeMs) {
      if (!asking && clock() - askedMs >= before.keptMs) ask(fromMs, completeMs);
      return before;
    }
    return timeoutPolicy.execute(() => asking ?? ask(fromMs, completeMs)).catch((error) => {
      throw isTaskCancelledError(error) ? new StoreBusy('InfluxDB is still looking for them') : error;
    });
  }

  /** @returns {Promise<Sighting[]>} in no order */
  return async function latest() {
    const nowMs = clock();
    const fromMs = nowMs - LATEST_MS;
    const recent = /** @type {Sighting[]} */ (site.memory.history.latestSince(fromMs, nowMs + LATEST_AHEAD_MS));
    const found = new Map(recent.map((location) => [location.staff_id, location]));
    if (fromMs >= site.memory.history.latestCompleteFrom()) return [...found.values()];
    for (const location of (await lookBefore(fromMs)).locations) {
      const known = found.get(location.staff_id);
      if (location.ts >= fromMs && !(known && known.ts >= location.ts)) found.set(location.staff_id, location);
    }
    return [...found.values()];
  };
}

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
 * @param {{memory: {recentEvents: Pick<import('./recent').RecentEvents, 'list'|'completeFrom'>}}} deps.site
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
    const published = site.memory.recentEvents.list(wanted);
    const settledMs = Math.floor((clock() - SETTLED_MS) / STEP_MS) * STEP_MS;
    const endMs = settledMs < site.memory.recentEvents.completeFrom() ? toMs : Math.min(toMs, settledMs);
    const inMemory = published.filter(({ ts }) => ts >= endMs);
    const earlier = inMemory.length >= count || fromMs >= endMs ? []
      : await stored({ only, fromMs: Math.floor(fromMs / STEP_MS) * STEP_MS, toMs: endMs, count });
    const all = new Map([...earlier.filter(wanted), ...published].map((event) => [keyOf(event), event]));
    return [...all.values()].sort((a, b) => b.ts - a.ts || (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, count);
  };
}

module.exports = { AHEAD_MS, locationsOf, locationsOfSeveral, createLatest, createEvents };
