// @ts-check
'use strict';

const { randomBytes } = require('node:crypto');
const { badRequest } = require('../../shared/api-error');
const { createCursors, questionOf } = require('./cursor');
const { momentMs, readWindow } = require('./window');

/**
 * What a request asks, as the answers take it.
 * @typedef {import('./cursor').Cursor} Cursor
 * @typedef {Pick<Cursor, 'ts'|'id'|'same'>} Last
 * @typedef {object} Ask
 * @property {Record<string, any>} params checked, defaults filled in
 * @property {import('./window').Window} window the time it is about; a whole one where the operation has none
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
 * @param {import('./cursor').Cursors} [cursors]
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

module.exports = { createAsk, isSet, pageById, several };
