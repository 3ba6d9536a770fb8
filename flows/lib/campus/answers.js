// @ts-check
'use strict';

const { ApiError, badRequest } = require('../http/errors');
const { pageById } = require('../http/v1/ask');
const { contactsOf } = require('./contacts');
const { locationsPage, staysPage } = require('./pages');
const { staffOf } = require('./people');

/**
 * What `/api/v1/staff…` answers of all sites, by operation. Who is unknown at one site and known at another has nothing at the first.
 * @typedef {import('./sites').Sites} Sites
 * @typedef {import('../http/v1/ask').Ask} Ask
 * @typedef {{ask: Ask, sites: Sites, signal: AbortSignal}} Work signal: until when the answer is wanted
 */

const STAFF = '/api/v1/staff';
/** Of one page of a site. */
const MOST = 10_000;
const MOST_CONTACTS = 1000;
/** Statuses that are answers: 404 is of who is unknown there. */
const ACCEPT = [200, 404];

/** @param {string} id */
const pathOf = (id) => `${STAFF}/${encodeURIComponent(id)}`;

/** A window as every site takes it, whatever its clock says. @param {Ask['window']} window */
const spanOf = ({ fromMs, toMs }) => ({ start: new Date(fromMs).toISOString(), end: new Date(toMs).toISOString() });

/** @param {{isKnown: boolean}[]} parts @param {string} id @throws {ApiError} 404 where no site knows them */
function mustBeKnown(parts, id) {
  if (!parts.some(({ isKnown }) => isKnown)) throw new ApiError(404, `there is no staff member ${id}`);
}

/**
 * One answer of each site.
 * @template T
 * @param {Work} work @param {string} path
 * @param {(data: any, site: string) => T} read what is kept of it; data is {} where the person is unknown
 * @returns {Promise<(T & {site: string, isKnown: boolean})[]>} in the order of campus.toml
 */
const answersOf = ({ ask, sites, signal }, path, read) => sites.each(async (askSite, site) => {
  const answer = await askSite({ method: 'GET', path, caller: ask.caller.name });
  const data = await answer.json();
  const isKnown = answer.status !== 404;
  return { ...read(isKnown ? data : {}, site), site, isKnown };
}, { accept: ACCEPT, signal });

/**
 * A list of each site to its end, page by page.
 * @param {Work} work @param {string} path @param {string} items name of the list in the answer @param {Record<string, string>} [query]
 * @returns {Promise<{site: string, items: any[], completeMs: number, isKnown: boolean, isWhole: boolean}[]>}
 */
const listsOf = ({ ask, sites, signal }, path, items, query = {}) => sites.each(async (askSite, site) => {
  const found = [];
  let completeMs = Infinity;
  for (let cursor = null; ;) {
    const params = new URLSearchParams({ ...query, limit: String(MOST), ...(cursor === null ? {} : { cursor }) });
    const answer = await askSite({ method: 'GET', path: `${path}?${params}`, caller: ask.caller.name });
    const data = await answer.json();
    if (answer.status === 404) return { site, items: [], completeMs, isKnown: false, isWhole: true };
    found.push(...data[items]);
    completeMs = Math.min(completeMs, data.complete_until_ms ?? Infinity);
    cursor = data.next;
    if (cursor === null) return { site, items: found, completeMs, isKnown: true, isWhole: true };
  }
}, { accept: ACCEPT, signal });

/** What answers about the past begin with. @param {Ask} ask @param {{completeMs: number}[]} parts */
const past = ({ params: { staff_id: id }, window: { fromMs, toMs } }, parts) => ({
  staff_id: id, start_ms: fromMs, end_ms: toMs, complete_until_ms: Math.min(toMs, ...parts.map(({ completeMs }) => completeMs)),
});

/** @type {Record<string, (work: Work) => Promise<object>>} */
const ANSWERS = {
  async listStaff(work) {
    const everybody = staffOf(await listsOf(work, STAFF, 'staff'));
    const { items, next } = pageById(everybody, ({ staff_id: id }) => id, work.ask);
    return { staff: items, next };
  },

  async getStaff(work) {
    const { staff_id: id } = work.ask.params;
    const parts = await answersOf(work, pathOf(id), (data) => ({ items: [data] }));
    mustBeKnown(parts, id);
    return staffOf(parts.filter(({ isKnown }) => isKnown))[0];
  },

  async listLocations(work) {
    const { ask } = work;
    const { params: { staff_id: id }, window, after, limit } = ask;
    const query = new URLSearchParams({ ...spanOf({ fromMs: after?.ts ?? window.fromMs, toMs: window.toMs }), limit: String(limit) });
    const parts = await answersOf(work, `${pathOf(id)}/locations?${query}`,
      ({ locations = [], next = null, complete_until_ms: completeMs = Infinity }) =>
        ({ items: locations, isWhole: next === null, completeMs }));
    mustBeKnown(parts, id);
    const { items, nextMs } = locationsPage(parts, limit);
    const isEnd = nextMs === null || nextMs >= window.toMs;
    return { ...past(ask, parts), locations: items, next: ask.next(isEnd ? null : { ts: nextMs, id: '', same: 0 }) };
  },

  async listStays(work) {
    const { ask } = work;
    const { params: { staff_id: id }, window, after, limit } = ask;
    const parts = await listsOf(work, `${pathOf(id)}/stays`, 'stays', spanOf(window));
    mustBeKnown(parts, id);
    const { items, last } = staysPage(parts, after, limit);
    return { ...past(ask, parts), stays: items, next: ask.next(last && { ...last, same: 0 }) };
  },

  async listContacts(work) {
    const { ask } = work;
    const { params: { staff_id: id, least_s: leastS }, window, limit } = ask;
    const query = new URLSearchParams({ ...spanOf(window), limit: String(MOST_CONTACTS) });
    const parts = await answersOf(work, `${pathOf(id)}/contacts?${query}`,
      ({ contacts = [], count = 0, complete_until_ms: completeMs = Infinity }, site) => {
        if (count > contacts.length) {
          throw badRequest(`more than ${MOST_CONTACTS} contacts lie in this time at site ${site}: ask for it in parts`);
        }
        return { items: contacts, completeMs };
      });
    mustBeKnown(parts, id);
    const all = contactsOf(parts, leastS);
    return { ...past(ask, parts), count: all.length, contacts: all.slice(0, limit) };
  },
};

module.exports = { ANSWERS };
