// @ts-check
'use strict';

const { badRequest, isSet, pageById, several } = require('./core');
const { contactsOf } = require('./contacts');
const { listPage } = require('./lists');
const { locationsPage } = require('./pages');
const { staffOf } = require('./people');
const { PLACE_ANSWERS } = require('./places');
const { answersOf, given, listsOf, mustBeKnown, spanOf } = require('./questions');

/**
 * What `/api/v1` answers of all sites, by operation.
 * @typedef {import('./questions').Work} Work
 * @typedef {import('./core').Ask} Ask
 */

const STAFF = '/api/v1/staff';
const MAX_CONTACTS = 1000;
const MAX_EVENTS = 1000;
/** @type {import('./lists').Order} */
const OF_STAYS = { ts: ({ enter_ms: ms }) => ms, id: ({ staff_id: id = '' }) => id, newestFirst: false };
/** @type {import('./lists').Order} */
const OF_EVENTS = { ts: ({ ts }) => ts, id: ({ subject, type }) => `${subject} ${type}`, newestFirst: true };

/** Of a location, once one site's counts for its second. @param {any} location */
const isDoubtful = ({ probably, corrected }) => probably === true || corrected === true;

/** @param {string} id */
const pathOf = (id) => `${STAFF}/${encodeURIComponent(id)}`;

/** What answers about the past begin with. @param {Ask} ask @param {{completeMs: number}[]} parts */
const past = ({ window: { fromMs, toMs } }, parts) => ({
  start_ms: fromMs, end_ms: toMs, complete_until_ms: Math.min(toMs, ...parts.map(({ completeMs }) => Math.max(fromMs, completeMs))),
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
    mustBeKnown(parts, `staff member ${id}`);
    return staffOf(parts.filter(({ isKnown }) => isKnown))[0];
  },

  async listLocations(work) {
    const { ask } = work;
    const { params: { staff_id: id, doubtful }, window, after, limit } = ask;
    const query = new URLSearchParams({ ...spanOf({ fromMs: after?.ts ?? window.fromMs, toMs: window.toMs }), limit: String(limit) });
    const parts = await answersOf(work, `${pathOf(id)}/locations?${query}`,
      ({ locations = [], next = null, complete_until_ms: completeMs = Infinity }) =>
        ({ items: locations, isWhole: next === null, completeMs }), [id]);
    mustBeKnown(parts, `staff member ${id}`);
    const { items, nextMs } = locationsPage(parts, limit);
    const isEnd = nextMs === null || nextMs >= window.toMs;
    const locations = isSet(doubtful) ? items.filter(isDoubtful) : items;
    return { staff_id: id, ...past(ask, parts), locations, next: ask.next(isEnd ? null : { ts: nextMs, id: '', same: 0 }) };
  },

  async listStays(work) {
    const { ask } = work;
    const { staff_id: id } = ask.params;
    const page = await listPage(work, { path: `${pathOf(id)}/stays`, items: 'stays', order: OF_STAYS, mayBeUnknown: true, about: [id] });
    if (!ask.after) mustBeKnown(page.lists, `staff member ${id}`);
    return { staff_id: id, ...past(ask, [page]), stays: page.items, next: page.next };
  },

  async searchStays(work) {
    const { ask } = work;
    const page = await listPage(work, { path: '/api/v1/stays', items: 'stays', order: OF_STAYS, query: given(ask.params, 'staff_id', 'level'),
      about: ask.params.staff_id === undefined ? undefined : several(ask.params.staff_id) });
    return { ...past(ask, [page]), stays: page.items, next: page.next };
  },

  async listEvents(work) {
    const { ask } = work;
    const page = await listPage(work, { path: '/api/v1/events', items: 'events', order: OF_EVENTS, most: MAX_EVENTS,
      query: given(ask.params, 'type', 'subject') });
    return { ...past(ask, [page]), events: page.items, next: page.next };
  },

  async listContacts(work) {
    const { ask } = work;
    const { params: { staff_id: id, least_s: leastS }, window, limit } = ask;
    const query = new URLSearchParams({ ...spanOf(window), limit: String(MAX_CONTACTS) });
    const parts = await answersOf(work, `${pathOf(id)}/contacts?${query}`,
      ({ contacts = [], count = 0, complete_until_ms: completeMs = Infinity }, site) => {
        if (count > contacts.length) {
          throw badRequest(`more than ${MAX_CONTACTS} contacts lie in this time at site ${site}: ask for it in parts`);
        }
        return { items: contacts, completeMs };
      }, [id]);
    mustBeKnown(parts, `staff member ${id}`);
    const all = contactsOf(parts, leastS);
    return { staff_id: id, ...past(ask, parts), count: all.length, contacts: all.slice(0, limit) };
  },

  ...PLACE_ANSWERS,
};

module.exports = { ANSWERS };
