// @ts-check
'use strict';

const {
  abortResponse, ApiError, badRequest, callerOf, COMPLETE_UNTIL, createAccessCheck, deliver, HACS_ROUTES, headersOf, lookUpOf,
  PiecedJson, refuseMethods,
} = require('./core');
const { merge } = require('./merge');
const { latestOf } = require('./people');
const { recordsOf } = require('./record-stream');
const { asApiError } = require('./sites');

/**
 * The three HACS-era routes for a whole campus, with the parameters and messages of a site.
 * @typedef {import('./sites').Sites} Sites
 * @typedef {{sites: Sites, same: () => void, log: (message: string) => void}} Context same: a record was left out, see merge.js
 * @typedef {{caller: string, signal: AbortSignal}} Way on whose behalf; until when it is wanted
 */

/**
 * Which sites to ask for a history, and up to when the others are known to have nothing of it. Of people whom nobody knows the first
 * site is asked: each look-up is in the audit log of a site.
 * @param {Sites} sites @param {unknown} staff the checked parameter @returns {{asked: string[], untilMs: number}}
 */
function sitesToAsk(sites, staff) {
  if (staff === '*') return { asked: sites.names, untilMs: Infinity };
  const { asked, spared } = sites.about(String(staff).split(','));
  const [first] = asked.length === 0 ? spared.splice(0, 1) : [];
  sites.count(spared);
  return { asked: first ? [first.site] : asked, untilMs: Math.min(...spared.map(({ untilMs }) => untilMs)) };
}

/**
 * `/extractbeacon`: one history of the sites where somebody was, taken through while they send theirs.
 * @param {Context} context @param {Record<string, any>} params checked @param {Way} way
 * @returns {Promise<PiecedJson>}
 */
async function extractBeacon({ sites, same }, params, { caller, signal }) {
  const { start_time: start, end_time: end } = params;
  if (start > end) throw badRequest('start_time is after end_time');
  const question = { staff_id: params.staff_id, start_time: start, end_time: end };
  const { asked, untilMs } = sitesToAsk(sites, params.staff_id);
  const answers = await sites.each((ask) => ask({ method: 'POST', path: '/extractbeacon', body: question, caller }), { only: asked, signal });
  const until = answers.map(({ headers }) => Number(headers[COMPLETE_UNTIL.toLowerCase()] ?? NaN));
  const isPast = untilMs >= (Math.floor(end) + 1) * 1000;
  if (!isPast) until.push(Math.max(Math.ceil(start) * 1000, untilMs)); // a time within that which was asked for, as a site's is
  /** @type {Record<string, string>} */
  const headers = until.every(Number.isFinite) ? { [COMPLETE_UNTIL]: String(Math.min(...until)) } : {};
  const sources = answers.map(({ site, pieces }) => ({ site, records: recordsOf(site, pieces) }));
  return new PiecedJson('{"location":[', named(merge(sources, same)), ']}', headers);
}

/** @param {AsyncGenerator<string, void, void>} texts */
async function* named(texts) {
  try {
    yield* texts;
  } catch (error) {
    throw asApiError(error);
  }
}

/**
 * `/newbeacondetect`: for the site whose building has the beacon; the others say that there is none.
 * @param {Context} context @param {Record<string, any>} params checked @param {Way} way
 */
async function newBeaconDetect({ sites }, { staff_id, beacon_address, rssi }, { caller, signal }) {
  const question = { method: /** @type {const} */ ('POST'), path: '/newbeacondetect', body: { staff_id, beacon_address, rssi }, caller };
  const results = await sites.each(async (ask) => {
    try {
      const answer = await ask(question);
      return { status: answer.status, text: await answer.text(), error: null };
    } catch (error) {
      return { status: 0, text: '', error: asApiError(error) };
    }
  }, { accept: [200, 403, 404], signal });
  const taken = results.find(({ status }) => status === 200);
  if (taken) return taken.text;
  const failed = results.find(({ error }) => error !== null); // it may be the one that has the beacon
  if (failed) throw failed.error;
  const refused = results.find(({ status }) => status === 403) ?? results[0]; // 403: too many people without an entry in its building file
  const { error } = JSON.parse(refused?.text ?? '{}');
  throw new ApiError(refused?.status ?? 404, refused?.status === 404 ? `${error} of any site` : error);
}

/** `/retrieveformonitoring` @param {Context} context @param {object} _params @param {Way} way */
async function retrieveForMonitoring({ sites }, _params, { caller, signal }) {
  const question = { method: /** @type {const} */ ('GET'), path: '/retrieveformonitoring', caller };
  const lists = await sites.each(async (ask, site) => ({ site, items: (await (await ask(question)).json()).data }), { signal });
  return { data: latestOf(lists) };
}

const WORK = { '/extractbeacon': extractBeacon, '/newbeacondetect': newBeaconDetect, '/retrieveformonitoring': retrieveForMonitoring };

/**
 * @param {import('express').Router} router @param {Context} context
 * @param {ReturnType<typeof import('./core').createAccess>} access
 */
function addHacs(router, context, access) {
  refuseMethods(router, access.requireRight);
  for (const { path, right, changes, body, methods } of HACS_ROUTES) {
    const checkAccess = createAccessCheck({ right, changes, described: { methods, body } });
    const work = WORK[/** @type {keyof typeof WORK} */ (path)];
    router.all(path, (request, response, next) => {
      /** @type {any} */
      const msg = { req: request, res: { _res: response }, payload: undefined };
      answer().catch(next);

      async function answer() {
        await checkAccess(msg, /** @type {any} */ ({ access }));
        lookUpOf(response)?.('*', 0, 0); // the sites write it down, by the caller's name
        const result = await work(context, msg.payload, { caller: callerOf(response).name, signal: response.locals.signal });
        const headers = { ...headersOf(typeof result === 'string'), ...(result instanceof PiecedJson ? result.headers : {}) };
        const broken = (/** @type {Error} */ error) => abortResponse(error, request, response, context.log);
        const text = await deliver(result, response, () => response.set(headers), broken);
        if (text !== null) response.status(200).set(headers).send(text);
      }
    });
  }
}

module.exports = { addHacs };
