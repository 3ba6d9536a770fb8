// @ts-check
'use strict';

const { ApiError } = require('../http/errors');

/**
 * What the answers of `/api/v1` ask the sites. Who or what is unknown at one site and known at another has nothing at the first.
 * @typedef {import('./sites').Sites} Sites
 * @typedef {import('../http/v1/ask').Ask} Ask
 * @typedef {{ask: Ask, sites: Sites, signal: AbortSignal, only?: string}} Work signal: until when the answer is wanted; only: the one site
 *   that is asked
 * @typedef {{site: string, items: any[], completeMs: number, isKnown: boolean}} List completeMs: Infinity where the site does not say
 */

/** Of one page of a site. */
const MOST = 10_000;
/** Statuses that are answers: 404 is of who or what is unknown there. */
const ACCEPT = [200, 404];

/** A window as every site takes it, whatever its clock says. @param {Ask['window']} window */
const spanOf = ({ fromMs, toMs }) => ({ start: new Date(fromMs).toISOString(), end: new Date(toMs).toISOString() });

/**
 * Those parameters of a request that are given.
 * @param {Record<string, any>} params @param {...string} names
 * @returns {Record<string, string>}
 */
const given = (params, ...names) =>
  Object.fromEntries(names.flatMap((name) => (params[name] === undefined ? [] : [[name, String(params[name])]])));

/** @param {{isKnown: boolean}[]} parts @param {string} what such as `staff member 3` @throws {ApiError} 404 where no site knows it */
function mustBeKnown(parts, what) {
  if (!parts.some(({ isKnown }) => isKnown)) throw new ApiError(404, `there is no ${what}`);
}

/**
 * One answer of each site.
 * @template T
 * @param {Work} work @param {string} path
 * @param {(data: any, site: string) => T} read what is kept of it; data is {} where it is unknown
 * @returns {Promise<(T & {site: string, isKnown: boolean})[]>} in the order of campus.toml
 */
const answersOf = ({ ask, sites, signal, only = ask.params.site }, path, read) => sites.each(async (askSite, site) => {
  const answer = await askSite({ method: 'GET', path, caller: ask.caller.name });
  const data = await answer.json();
  const isKnown = answer.status !== 404;
  return { ...read(isKnown ? data : {}, site), site, isKnown };
}, { accept: ACCEPT, signal, only });

/**
 * A list of each site, page by page: to its end, or until enough of it is there.
 * @param {Work} work @param {string} path @param {string} items name of the list in the answer
 * @param {object} [options]
 * @param {Record<string, string>} [options.query]
 * @param {number} [options.most] items of one page that a site gives
 * @param {number} [options.first] items of the first page
 * @param {(item: any, site: string) => boolean} [options.keep] whether an item is wanted
 * @param {number} [options.enough] wanted items; a site may give more
 * @param {boolean} [options.mayBeUnknown] whether what the path names may be unknown at a site
 * @returns {Promise<List[]>} in the order of campus.toml
 */
const listsOf = ({ ask, sites, signal, only = ask.params.site }, path, items,
  { query = {}, most = MOST, first = most, keep = () => true, enough = Infinity, mayBeUnknown = false } = {}) =>
  sites.each(async (askSite, site) => {
    /** @type {List} */
    const list = { site, items: [], completeMs: Infinity, isKnown: true };
    for (let cursor = null, limit = Math.min(first, most); ; limit = most) {
      const params = new URLSearchParams({ ...query, limit: String(limit), ...(cursor === null ? {} : { cursor }) });
      const answer = await askSite({ method: 'GET', path: `${path}?${params}`, caller: ask.caller.name });
      const data = await answer.json();
      if (answer.status === 404) return { ...list, isKnown: false };
      for (const item of data[items]) if (keep(item, site)) list.items.push(item);
      list.completeMs = Math.min(list.completeMs, data.complete_until_ms ?? Infinity);
      cursor = data.next;
      if (cursor === null || list.items.length >= enough) return list;
    }
  }, { accept: mayBeUnknown ? ACCEPT : [200], signal, only });

module.exports = { answersOf, listsOf, given, mustBeKnown, spanOf };
