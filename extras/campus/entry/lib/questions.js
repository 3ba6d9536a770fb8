// @ts-check
'use strict';

const { ApiError } = require('./core');

/**
 * What the answers of `/api/v1` ask the sites. Who or what is unknown at one site and known at another has nothing at the first.
 * @typedef {import('./sites').Sites} Sites
 * @typedef {import('./core').Ask} Ask
 * @typedef {{ask: Ask, sites: Sites, signal: AbortSignal, only?: string}} Work signal: until when the answer is wanted; only: the one site
 *   that is asked
 * @typedef {readonly string[]|undefined} About staff ids, where a question is about these people alone: sites that know none of them are
 *   not asked
 * @typedef {{site: string, items: any[], completeMs: number, isKnown: boolean}} List completeMs: Infinity where the site does not say
 */

/** Of one page of a site. */
const MAX_ITEMS = 10_000;
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
 * Answers of the sites that have to be asked. Who is listed somewhere may have no past anywhere: so where nobody who was asked knows them
 * the others are asked, too.
 * @template {{site: string, isKnown: boolean}} T
 * @param {Work} work @param {About} about
 * @param {(only: readonly string[]|undefined) => Promise<T[]>} each asks these; undefined: all of them
 * @param {(spared: import('./sites').Spared) => T} empty what a site answers that knows nobody of them
 * @returns {Promise<T[]>} in the order of campus.toml
 */
async function ofThoseWhoKnow({ ask, sites, only = ask.params.site }, about, each, empty) {
  if (only !== undefined || about === undefined) return each(only === undefined ? undefined : [only]);
  const { asked, spared } = sites.about(about);
  const found = asked.length > 0 ? await each(asked) : [];
  if (!found.some(({ isKnown }) => isKnown)) return inOrder(sites, [...found, ...await each(spared.map(({ site }) => site))]);
  sites.count(spared);
  return inOrder(sites, [...found, ...spared.map(empty)]);
}

/** @template {{site: string}} T @param {Sites} sites @param {T[]} parts @returns {T[]} */
const inOrder = ({ names }, parts) => parts.sort((a, b) => names.indexOf(a.site) - names.indexOf(b.site));

/**
 * One answer of each site.
 * @template T
 * @param {Work} work @param {string} path
 * @param {(data: any, site: string) => T} read what is kept of it; data is {} where it is unknown
 * @param {About} [about]
 * @returns {Promise<(T & {site: string, isKnown: boolean})[]>} in the order of campus.toml
 */
const answersOf = (work, path, read, about) => {
  const each = (/** @type {readonly string[]|undefined} */ only) => work.sites.each(async (askSite, site) => {
    const answer = await askSite({ method: 'GET', path, caller: work.ask.caller.name });
    const data = await answer.json();
    const isKnown = answer.status !== 404;
    return { ...read(isKnown ? data : {}, site), site, isKnown };
  }, { accept: ACCEPT, signal: work.signal, only });
  return ofThoseWhoKnow(work, about, each,
    ({ site, untilMs }) => ({ ...read({ complete_until_ms: untilMs }, site), site, isKnown: false }));
};

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
 * @param {About} [options.about]
 * @returns {Promise<List[]>} in the order of campus.toml
 */
const listsOf = (work, path, items,
  { query = {}, most = MAX_ITEMS, first = most, keep = () => true, enough = Infinity, mayBeUnknown = false, about } = {}) => {
  const each = (/** @type {readonly string[]|undefined} */ only) => work.sites.each(async (askSite, site) => {
    /** @type {List} */
    const list = { site, items: [], completeMs: Infinity, isKnown: true };
    for (let cursor = null, limit = Math.min(first, most); ; limit = most) {
      const params = new URLSearchParams({ ...query, limit: String(limit), ...(cursor === null ? {} : { cursor }) });
      const answer = await askSite({ method: 'GET', path: `${path}?${params}`, caller: work.ask.caller.name });
      const data = await answer.json();
      if (answer.status === 404) return { ...list, isKnown: false };
      for (const item of data[items]) if (keep(item, site)) list.items.push(item);
      list.completeMs = Math.min(list.completeMs, data.complete_until_ms ?? Infinity);
      cursor = data.next;
      if (cursor === null || list.items.length >= enough) return list;
    }
  }, { accept: mayBeUnknown ? ACCEPT : [200], signal: work.signal, only });
  return ofThoseWhoKnow(work, about, each, ({ site, untilMs }) => ({ site, items: [], completeMs: untilMs, isKnown: false }));
};

module.exports = { answersOf, listsOf, given, mustBeKnown, spanOf };
