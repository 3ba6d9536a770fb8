// @ts-check
'use strict';

const { callerOf, lookUpOf, openToAll } = require('../access');
const { ApiError } = require('../http/errors');
const { createCheck } = require('../http/checks');
const { failing, oneOf, queryOf, unknown } = require('../http/plumbing');
const { createAsk, pageById } = require('../http/v1/ask');
const { createCursors } = require('../http/v1/cursor');
const { createDescription, operationsOf } = require('../http/v1/description');
const { sendJson } = require('../http/v1/send');
const { locationsPage, staysPage } = require('./pages');
const { staffOf } = require('./people');

/**
 * `/api/v1/staff…` for a whole campus: the operations of a site's description that are listed here, with `site` in what lies at one.
 * @typedef {import('./sites').Sites} Sites
 * @typedef {import('../http/v1/ask').Ask} Ask
 * @typedef {{ask: Ask, sites: Sites, signal: AbortSignal}} Work
 */

const PREFIX = '/api/v1';
const MOST = 10_000; // of a page of a site
/** @type {Record<string, (work: Work) => Promise<object>>} */
const ANSWERS = { listStaff, getStaff, listLocations, listStays };
/** Of a site's HACS-era routes. */
const HACS = new Set(['extractBeacon', 'newBeaconDetect', 'retrieveForMonitoring']);
/** Schemas whose things lie at one site. */
const AT_A_SITE = ['Presence', 'Location', 'Stay', 'HacsLatest'];

/** What this entry answers, as OpenAPI. @param {string} version @returns {any} */
function describe(version) {
  const whole = structuredClone(createDescription(version));
  whole.info.title = 'SDA Locator, campus';
  const isOurs = (/** @type {any} */ { operationId: id }) => id in ANSWERS || HACS.has(id.replace(/ByPost$/, ''));
  const paths = Object.entries(whole.paths).filter(([, item]) => Object.values(item).every(isOurs));
  /** @type {any} */ (whole).paths = Object.fromEntries(paths);
  for (const name of AT_A_SITE) {
    const schema = /** @type {any} */ (whole.components.schemas)[name];
    schema.properties.site = { type: 'string', description: 'Name of the site in campus.toml.' };
    schema.required = [...schema.required, 'site'];
  }
  return whole;
}

/**
 * @param {import('express').Router} router
 * @param {{sites: Sites, clock: () => number, version: string, secret: string, log: (message: string) => void}} context secret: of
 *   cursors, the same for every entry of a campus
 * @param {ReturnType<typeof import('../access/guard').createAccess>['requireRight']} requireRight
 */
function addApi(router, { sites, clock, version, secret, log }, requireRight) {
  const description = describe(version);
  const described = JSON.stringify(description);
  const cursors = createCursors(secret);
  router.all(`${PREFIX}/openapi.json`, openToAll, oneOf('GET', 'HEAD'), (_request, response) => sendJson(response, described, { open: true }));
  for (const operation of operationsOf(description).filter(({ id }) => id in ANSWERS)) {
    const check = createCheck(operation.parameters);
    const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
    router.all(path, requireRight(operation.right), oneOf('GET', 'HEAD'), (request, response, next) => {
      lookUpOf(response)?.('*', 0, 0); // the sites write it down, by the caller's name
      Promise.resolve()
        .then(() => {
          const ask = createAsk(operation, check(request.params, queryOf(request)), clock(), callerOf(response), cursors);
          return /** @type {typeof listStaff} */ (ANSWERS[operation.id])({ ask, sites, signal: response.locals.signal });
        })
        .then((result) => sendJson(response, result), next);
    });
  }
  router.use(PREFIX, requireRight('any'));
  router.use('/api', unknown, failing(log));
}

/**
 * A list of each site to its end, page by page.
 * @param {Work} work @param {string} path @param {string} items name of the list in the answer @param {Record<string, string>} [query]
 * @returns {Promise<{site: string, items: any[], completeMs: number, isKnown: boolean, isWhole: boolean}[]>}
 */
function listsOf({ ask, sites, signal }, path, items, query = {}) {
  return sites.each(async (askSite, site) => {
    const found = [];
    let completeMs = Infinity;
    for (let cursor = null; ;) {
      const params = new URLSearchParams({ ...query, limit: String(MOST), ...(cursor === null ? {} : { cursor }) });
      const answer = await askSite({ method: 'GET', path: `${path}?${params}`, caller: ask.caller.name });
      const data = JSON.parse(await answer.text());
      if (answer.status === 404) return { site, items: [], completeMs, isKnown: false, isWhole: true };
      found.push(...data[items]);
      completeMs = Math.min(completeMs, data.complete_until_ms ?? Infinity);
      cursor = data.next;
      if (cursor === null) return { site, items: found, completeMs, isKnown: true, isWhole: true };
    }
  }, { accept: [200, 404], signal });
}

/** @param {{isKnown: boolean}[]} parts @param {string} id @throws {ApiError} 404 where no site knows them */
function mustBeKnown(parts, id) {
  if (!parts.some(({ isKnown }) => isKnown)) throw new ApiError(404, `there is no staff member ${id}`);
}

/** @param {string} id */
const pathOf = (id) => `${PREFIX}/staff/${encodeURIComponent(id)}`;

/** @param {Ask['window']} window */
const spanOf = ({ fromMs, toMs }) => ({ start: new Date(fromMs).toISOString(), end: new Date(toMs).toISOString() });

/** @param {Work} work */
async function listStaff(work) {
  const everybody = staffOf(await listsOf(work, `${PREFIX}/staff`, 'staff'));
  const { items, next } = pageById(everybody, ({ staff_id: id }) => id, work.ask);
  return { staff: items, next };
}

/** @param {Work} work */
async function getStaff({ ask, sites, signal }) {
  const { staff_id: id } = ask.params;
  const lists = await sites.each(async (askSite, site) => {
    const answer = await askSite({ method: 'GET', path: pathOf(id), caller: ask.caller.name });
    const item = JSON.parse(await answer.text());
    return { site, items: answer.status === 404 ? [] : [item], isKnown: answer.status !== 404 };
  }, { accept: [200, 404], signal });
  mustBeKnown(lists, id);
  return staffOf(lists)[0];
}

/** @param {Work} work */
async function listLocations({ ask, sites, signal }) {
  const { params: { staff_id: id }, window, after, limit, caller } = ask;
  const query = new URLSearchParams({ ...spanOf({ fromMs: after?.ts ?? window.fromMs, toMs: window.toMs }), limit: String(limit) });
  const parts = await sites.each(async (askSite, site) => {
    const answer = await askSite({ method: 'GET', path: `${pathOf(id)}/locations?${query}`, caller: caller.name });
    const { locations = [], next = null, complete_until_ms: completeMs = Infinity } = JSON.parse(await answer.text());
    return { site, items: locations, isWhole: next === null, isKnown: answer.status !== 404, completeMs };
  }, { accept: [200, 404], signal });
  if (!after) mustBeKnown(parts, id);
  const { items, nextMs } = locationsPage(parts, limit);
  const end = nextMs === null || nextMs >= window.toMs;
  return { staff_id: id, start_ms: window.fromMs, end_ms: window.toMs, complete_until_ms: completeOf(parts, window),
    locations: items, next: ask.next(end ? null : { ts: nextMs, id: '', same: 0 }) };
}

/** @param {Work} work */
async function listStays(work) {
  const { ask: { params: { staff_id: id }, window, after, limit, next } } = work;
  const parts = await listsOf(work, `${pathOf(id)}/stays`, 'stays', spanOf(window));
  mustBeKnown(parts, id);
  const { items, last } = staysPage(parts, after, limit);
  return { staff_id: id, start_ms: window.fromMs, end_ms: window.toMs, complete_until_ms: completeOf(parts, window),
    stays: items, next: next(last && { ...last, same: 0 }) };
}

/** @param {{completeMs: number}[]} parts @param {Ask['window']} window */
const completeOf = (parts, { toMs }) => Math.min(toMs, ...parts.map(({ completeMs }) => completeMs));

module.exports = { addApi };
