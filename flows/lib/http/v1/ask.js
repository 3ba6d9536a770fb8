// @ts-check
'use strict';

const { randomBytes } = require('node:crypto');
const { toNow } = require('../../past/coverage');
const { ApiError, badRequest, unavailable } = require('../../shared/api-error');
const { parseMoment } = require('../../shared/rfc3339');
const { StoreBusy, StoreUnavailable } = require('../../store');
const { createCursors, questionOf } = require('./paging');

/**
 * A request as the answers take it.
 * @typedef {import('./paging').Cursor} Cursor
 * @typedef {Pick<Cursor, 'ts'|'id'|'same'>} Last
 * @typedef {object} Ask
 * @property {Record<string, any>} params checked, defaults filled in
 * @property {Window} window the time it is about; a whole one where the operation has none
 * @property {Cursor|null} after where the page before ended
 * @property {number} limit
 * @property {number} nowMs
 * @property {import('../../access/guard').Caller} caller
 * @property {(last: Last|null) => string|null} next the cursor for what follows
 * @property {Record<string, any>} [body] form, JSON and query together, checked, of an operation that changes something
 */

/**
 * @param {{id: string, parameters: {name: string}[]}} operation
 * @param {Record<string, any>} params
 * @param {number} nowMs
 * @param {import('../../access/guard').Caller} caller
 * @param {import('./paging').Cursors} [cursors]
 * @returns {Ask}
 */
function createAsk({ id, parameters }, params, nowMs, caller, cursors = OF_THIS_RUN) {
  const question = questionOf(id, params);
  const after = params.cursor === undefined ? null : cursors.read(question, params.cursor);
  const timed = parameters.some(({ name }) => name === 'start');
  const window = timed && after ? windowOf(after, params) : timed ? readWindow(params, nowMs) : { fromMs: 0, toMs: 0 };
  /** @param {Last|null} last */
  const next = (last) => last && cursors.write(question, { ...window, ...last });
  return { params, window, after, limit: params.limit ?? 0, nowMs, caller, next };
}

const OF_THIS_RUN = createCursors(randomBytes(32));

/** The ids of a parameter that takes one or several, with commas between them. @param {string} ids @returns {string[]} */
const several = (ids) => ids.split(',');

/** The window of the first request goes on; saying it again is fine, saying another is not. @param {Cursor} after @param {any} params */
function windowOf({ fromMs, toMs }, { start, end }) {
  for (const [name, given, ms] of /** @type {const} */ ([['start', start, fromMs], ['end', end, toMs]])) {
    if (given !== undefined && momentMs(given) !== ms) throw badRequest(`${name} is not that of the request which gave the cursor`);
  }
  return { fromMs, toMs };
}

/** A switch in a query. @param {string} [written] */
const isSet = (written) => written === '1' || written === 'true';

/**
 * A page of a list that lies in memory, ordered by id.
 * @template T
 * @param {T[]} items in the order of their ids @param {(item: T) => string} idOf @param {Ask} ask
 * @returns {{items: T[], next: string|null}}
 */
function pageById(items, idOf, { after, limit, next }) {
  const rest = after ? items.filter((item) => idOf(item) > after.id) : items;
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return { items: page, next: next(last && rest.length > limit ? { ts: 0, id: idOf(last), same: 0 } : null) };
}

/**
 * The time a request asks about: half-open, start included, end not.
 * @typedef {{fromMs: number, toMs: number}} Window
 */

const DAY_MS = 86_400_000;
const LONGEST_MS = 31 * DAY_MS;
/** Readings may be 5 minutes ahead of us: nothing can lie further ahead than this. */
const AHEAD_MS = 10 * 60_000;

/**
 * @param {string|number|undefined} value RFC 3339, or epoch seconds
 * @returns {number|undefined} epoch ms
 */
function momentMs(value) {
  if (value === undefined) return undefined;
  return typeof value === 'number' ? Math.round(value * 1000) : /** @type {number} */ (parseMoment(value));
}

/**
 * @param {{start?: string|number, end?: string|number}} params checked; no end: now; no start: a day before the end
 * @param {number} nowMs
 * @returns {Window}
 */
function readWindow({ start, end }, nowMs) {
  const toMs = momentMs(end) ?? nowMs;
  const fromMs = momentMs(start) ?? toMs - DAY_MS;
  if (fromMs > toMs) throw badRequest(end === undefined ? 'start lies ahead' : 'start is after end');
  if (toMs - fromMs > LONGEST_MS) throw badRequest('from start to end are more than 31 days: ask for them in parts');
  return { fromMs, toMs };
}

/**
 * The part of a window in which something can be: what lies outside is not asked for.
 * @param {Window} window
 * @param {number} nowMs
 * @param {number} keptDays how long the data are kept
 * @returns {Window} empty (fromMs = toMs) where nothing can be
 */
function possible({ fromMs, toMs }, nowMs, keptDays) {
  const end = Math.min(toMs, nowMs + AHEAD_MS);
  return { fromMs: Math.min(Math.max(fromMs, nowMs - keptDays * DAY_MS), end), toMs: end };
}

/** Shared by the answers. */

/** How long locations, stays and events are kept, days. */
const KEPT_DAYS = 30;

/** @param {string} what */
const notFound = (what) => new ApiError(404, `there is no ${what}`);

/** @param {Window} window */
const span = ({ fromMs, toMs }) => ({ start_ms: fromMs, end_ms: toMs });

/**
 * The window of an answer about the past, and up to when it is complete for those it concerns.
 * @param {Pick<import('./index').Context, 'completeUntil'|'clock'>} context
 */
const createWindowFields = ({ completeUntil = toNow, clock }) =>
  /** @param {Window} window @param {import('../../past/coverage').Who} who */
  (window, who) => ({ ...span(window), complete_until_ms: completeUntil(window.fromMs, window.toMs, who, clock()) });

/** Too many ask at once: that is soon over. */
const BUSY_S = 1;

/**
 * An answer of the database; 503 when it is away or overloaded.
 * @template T @param {Promise<T>|(() => Promise<T>)} answer @returns {Promise<T>}
 */
const fromStore = (answer) => (typeof answer === 'function' ? answer() : answer).catch((error) => {
  throw error instanceof StoreUnavailable
    ? unavailable(`history is not available: ${error.message}`, error instanceof StoreBusy ? BUSY_S : undefined) : error;
});

module.exports = {
  createAsk, isSet, pageById, several, momentMs, possible, DAY_MS, KEPT_DAYS, createWindowFields, fromStore, notFound, span,
};
