// @ts-check
'use strict';

const { compareIds } = require('./core');
const { listsOf, spanOf } = require('./questions');

/**
 * Lists by time, of several sites as one, page by page. An item's place is (time, id, site). Each site is asked for what follows the
 * place where the page before ended, so that nothing doubles or hides, whichever entry gives the next page.
 * @typedef {import('./questions').Work} Work
 * @typedef {{ts: number, id: string, site: string}} Place
 * @typedef {{ts: (item: any) => number, id: (item: any) => string, newestFirst: boolean}} Order that a site's list has: by ts, then by id
 * @typedef {Place & {same: number, completeMs: number}} Last same: how many items of that ts were on pages so far; completeMs: up to
 *   when what was read until there was complete
 */

/** In the order of a list. @param {Place} a @param {Place} b @param {boolean} newestFirst */
const compare = (a, b, newestFirst) =>
  (newestFirst ? b.ts - a.ts : a.ts - b.ts) || compareIds(a.id, b.id) || compareIds(a.site, b.site);

/**
 * The part of a window in which everything that follows lies.
 * @param {import('./core').Window} window @param {Place|null} after @param {boolean} newestFirst
 */
function restOf({ fromMs, toMs }, after, newestFirst) {
  if (!after) return { fromMs, toMs };
  return newestFirst ? { fromMs, toMs: Math.min(toMs, after.ts + 1) } : { fromMs: Math.max(fromMs, after.ts), toMs };
}

/**
 * @param {Work} work
 * @param {{path: string, items: string, order: Order, most?: number, query?: Record<string, string>, mayBeUnknown?: boolean,
 *   about?: import('./questions').About}} list items: its name in an answer of a site; most, mayBeUnknown, about: as `listsOf` has them
 * @returns {Promise<{items: any[], next: string|null, completeMs: number, lists: import('./questions').List[]}>} items with their `site`;
 *   completeMs: up to when nothing is missing in the pages so far
 */
async function listPage(work, { path, items: name, order, most, query = {}, mayBeUnknown, about }) {
  const { ask } = work;
  const { newestFirst } = order;
  const after = read(ask.after);
  const part = restOf(ask.window, after, newestFirst);
  /** @param {any} item @param {string} site @returns {Place} */
  const placeOf = (item, site) => ({ ts: order.ts(item), id: order.id(item), site });
  const lists = await listsOf(work, path, name, {
    query: { ...query, ...spanOf(part) }, most, first: ask.limit + 1 + (after?.same ?? 0), enough: ask.limit + 1, mayBeUnknown, about,
    keep: (item, site) => after === null || compare(placeOf(item, site), after, newestFirst) > 0,
  });
  const found = lists.flatMap(({ site, items }) => items.map((item) => ({ item, place: placeOf(item, site) })))
    .sort((a, b) => compare(a.place, b.place, newestFirst));
  const page = found.slice(0, ask.limit);
  // a site that is complete up to the end of its part says nothing of what follows: the pages before have
  const completeMs = Math.min(after?.completeMs ?? ask.window.toMs, ...lists.map(({ completeMs: ms }) => (ms < part.toMs ? ms : Infinity)));
  const last = found.length > page.length ? page.at(-1)?.place : null;
  const same = page.filter(({ place }) => place.ts === last?.ts).length + (last && after?.ts === last.ts ? after.same : 0);
  return { items: page.map(({ item, place: { site } }) => ({ ...item, site })), lists, completeMs,
    next: ask.next(last ? written({ ...last, completeMs, same }) : null) };
}

/** A place as a cursor holds it. @param {Last} last */
const written = ({ ts, id, site, same, completeMs }) => ({ ts, same, id: JSON.stringify([id, site, completeMs]) });

/** @param {import('./core').Cursor|null} cursor that we signed @returns {Last|null} */
function read(cursor) {
  if (!cursor) return null;
  const [id, site, completeMs] = JSON.parse(cursor.id);
  return { ts: cursor.ts, same: cursor.same, id, site, completeMs };
}

module.exports = { listPage };
