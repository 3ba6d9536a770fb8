// @ts-check
'use strict';

const { LRUCache } = require('lru-cache');
const { auditWritten, callerOf, lookUpOf } = require('../access');
const { beaconIn } = require('../building/ids');
const { toNow } = require('../past/coverage');
const { createLatest, AHEAD_MS, locationsOf, locationsOfSeveral } = require('../past/lookup');
const { createUnlisted } = require('../live/unlisted');
const { BrokerUnavailable } = require('../broker/outbox');
const { ApiError, abortResponse, badRequest, errorAnswer, headersOf, unavailable } = require('../shared/api-error');
const { Rate, showBadge } = require('../shared/badge');
const { StoreBusy, StoreUnavailable } = require('../store');
const { bodyOf, createBodyCheck, methodNotAllowed, queryOf } = require('./checks');
const { PiecedJson, createRecords, stream } = require('./encode');
const { readBody, run } = require('./http-in-body');
const { COMPLETE_UNTIL, HACS_ROUTES } = require('./v1/description/hacs');

/**
 * The steps between `http in` and `http response`: who may ask (`sda-access`), and what is answered (`sda-history`, `sda-latest`,
 * `sda-detection`). A step sets `msg.payload`; one that answers or refuses sets `msg.statusCode` and `msg.headers` too, as
 * `http response` takes them.
 * @typedef {{req: import('express').Request, res: {_res: import('express').Response}, payload: any, statusCode?: number,
 *   headers?: Record<string, string>, caller?: {name: string, kind: string, rights: string[]}}} Message
 * @typedef {import('../access/guard').Right} Right
 * @typedef {{access: ReturnType<typeof import('../access/guard').createAccess>, hacs: Hacs}} Http what the node
 *   `sda-http` offers
 * @typedef {(message: string) => void} Log
 */

/** @param {any} msg @returns {{request: import('express').Request, response: import('express').Response}} @throws {Error} */
function httpOf(msg) {
  const response = msg.res?._res;
  if (!msg.req || !response) throw new Error('this message has no msg.req and msg.res: it must come from an http in node');
  return { request: msg.req, response };
}

/**
 * Who may ask: the check of one `sda-access` node.
 * @param {{right: Right|'any', changes: boolean, described?: {methods: readonly string[], body: import('./checks').BodySchema}}} wanted
 *   changes: the route is more than a question; described: query, form and JSON become one checked `msg.payload`
 * @returns {(msg: Message, http: Http) => Promise<void>} which throws ApiError where it is refused
 */
function createAccessCheck({ right, changes, described }) {
  const check = described && createBodyCheck(described.body);
  /** @type {{access: Http['access'], guard: import('express').RequestHandler}|null} */
  let known = null;
  /** @param {Http['access']} access */
  function guardOf(access) {
    if (known?.access !== access) known = { access, guard: access.requireRight(right, { changes }) };
    return known.guard;
  }

  return async (msg, { access }) => {
    const { request, response } = httpOf(msg);
    await run(guardOf(access), request, response);
    if (changes && request.method === 'HEAD') throw methodNotAllowed('HEAD', described?.methods ?? ['POST']); // Express answers it as GET
    const { name, kind, rights } = callerOf(response);
    msg.caller = { name, kind, rights: [...rights] };
    if (!check) return;
    await readBody(request, response);
    msg.payload = check(queryOf(request), bodyOf(request));
  };
}

/**
 * Makes the answer: the work of one node that asks.
 * @param {Right} right that `sda-access` before it must have checked
 * @param {(hacs: Hacs, payload: any, lookUp: import('../access/guard').LookUp) =>
 *   Promise<object|string>|object|string} ask
 * @returns {(msg: Message, http: Http, log: Log) => Promise<boolean>} false: it was too large for a message and is sent already
 */
const createAnswer = (right, ask) => async (msg, { hacs }, log) => {
  const { request, response } = httpOf(msg);
  const lookUp = lookUpOf(response);
  if (!callerOf(response)?.rights.has(right) || (right === 'history' && !lookUp)) {
    throw new Error(`nobody has checked who asks: wire an sda-access node with the right "${right}" before this one`);
  }
  const body = await ask(hacs, msg.payload, lookUp);
  await auditWritten(response);
  const headers = { ...headersOf(typeof body === 'string'), ...(body instanceof PiecedJson ? body.headers : {}) };
  const text = await deliver(body, response, () => response.set(headers), (error) => abortResponse(error, request, response, log));
  if (text === null) return false;
  msg.statusCode = 200;
  msg.headers = headers;
  msg.payload = text;
  return true;
};

/**
 * @param {object|string} body text, an object for JSON, or JSON in pieces
 * @param {import('express').Response} response
 * @param {() => void} begin sets the headers of an answer that is sent while it is made
 * @param {(error: Error) => void} failed such an answer ended before its end
 * @returns {Promise<string|null>} the whole answer; null: it was too large, and is sent
 */
async function deliver(body, response, begin, failed) {
  if (typeof body === 'string') return body;
  if (!(body instanceof PiecedJson)) return JSON.stringify(body);
  const { text, rest } = await body.hold(() => !response.destroyed);
  if (!rest) return text;
  begin();
  await stream(response, text, rest).catch(failed);
  return null;
}

/**
 * A refusal as `http response` takes it.
 * @param {Message} msg @param {any} error @param {Log} log takes what went wrong inside
 */
function refuse(msg, error, log) {
  const { status, headers, body } = errorAnswer(error, msg.req, log);
  msg.statusCode = status;
  msg.headers = { ...headersOf(false), ...headers };
  msg.payload = JSON.stringify(body);
}

/**
 * Register the work of a node that stands between `http in` and `http response`: it sends from its first output what goes on, from
 * its second what is refused; its badge shows how many. Where nothing is wired to the second it answers the refusal itself, so that no
 * caller waits in vain.
 * @param {any} RED @param {any} node @param {{http: string}} definition
 * @param {(msg: Message, http: Http, log: Log) => Promise<boolean|void>} work false: nothing goes on, it is answered
 */
function onRequest(RED, node, definition, work) {
  const log = (/** @type {string} */ text) => node.error(text);
  const isWired = (node.wires[1] ?? []).length > 0;
  const [asked, refused] = [new Rate(Date.now()), new Rate(Date.now())];
  const hide = showBadge(node, (nowMs) => {
    const [rate, bad] = [asked.perSecond(nowMs), refused.perSecond(nowMs)];
    return { fill: bad === '0' ? 'green' : 'yellow', shape: 'dot', text: `${rate} requests/s${bad === '0' ? '' : `, ${bad} refused/s`}` };
  });
  /** @param {Message} msg @param {(messages: (Message|null)[]) => void} send */
  async function answer(msg, send) {
    const { response } = httpOf(msg);
    asked.add(1);
    try {
      const http = RED.nodes.getNode(definition.http);
      if (!http?.access) throw new ApiError(503, 'Node-RED is starting', 1);
      if (await work(msg, http, log) !== false) send([msg, null]);
    } catch (error) {
      refused.add(1);
      refuse(msg, error, log);
      if (isWired) send([null, msg]);
      else response.status(/** @type {number} */ (msg.statusCode)).set(msg.headers).end(msg.payload);
    }
  }
  node.on('close', hide);
  node.on('input', (/** @type {any} */ msg, /** @type {any} */ send, /** @type {any} */ done) => { answer(msg, send).then(() => done(), done); });
}

/**
 * Answers of the three HACS-era routes. Each takes the request's parameters, checked as the description says, and gives the answer.
 * @typedef {import('../store').Sighting} Sighting
 * @typedef {{site: import('../site').Site, store: import('../store').Store, clock: () => number,
 *   refuseIncomplete?: import('../past/coverage').RefuseIncomplete, completeUntil?: import('../past/coverage').Coverage['completeUntil'],
 *   settledMs?: import('../past/coverage').Coverage['settledMs'],
 *   latest: ReturnType<typeof import('../past/lookup').createLatest>,
 *   unlisted: Pick<import('../live/unlisted').Unlisted, 'admit'|'most'>,
 *   moment: ReturnType<typeof createUniqueTimestamps>}} Context
 * @typedef {Record<string, any>} Params
 */

const ACKNOWLEDGE_MS = 2000;
const BUSY_S = 1;
/** Nothing is kept longer. */
const OLDEST_MS = 31 * 86_400_000;
/** One answer is at most as much as one person's locations of that time, one a second. */
const MAX_RECORDS = OLDEST_MS / 1000;

const textOf = createRecords();

/**
 * `/extractbeacon`: where somebody was, newest first; of several people or of all (`*`) one after the other.
 * @param {Context} context
 * @param {Params} params
 * @param {import('../access/guard').LookUp} lookUp
 */
function extractBeacon({ site, store, clock, refuseIncomplete, completeUntil = toNow }, params, lookUp) {
  const staffIds = staffOf(params);
  const { start_time: start, end_time: end } = params;
  if (start > end) throw badRequest('start_time is after end_time');
  // a record lies inside when its whole second does; where nothing can be there is nothing to look for
  const toMs = Math.min(Math.floor(end) * 1000 + 999, clock() + AHEAD_MS);
  const fromMs = Math.max(Math.ceil(start) * 1000, Math.min(toMs, clock() - OLDEST_MS));
  const deps = { history: site.memory.history, store, clock, refuseIncomplete };
  const who = typeof staffIds === 'string' ? [staffIds] : staffIds;
  const headers = { [COMPLETE_UNTIL]: String(completeUntil(fromMs, toMs + 1, who, clock())) };
  if (typeof staffIds !== 'string') {
    const count = staffIds?.length ?? Math.max(site.memory.history.counters().people, site.building().staff.size);
    refuseTooMuch(count, (toMs - fromMs) / 1000);
    lookUp(staffIds ?? '*', fromMs, toMs);
    const lists = locationsOfSeveral(deps, staffIds, fromMs, toMs);
    return records(texts(lists, (list) => textOf(site.building(), list, list.staffId)), headers);
  }
  lookUp(staffIds, fromMs, toMs);
  const { recent, older } = locationsOf(deps, staffIds, fromMs, toMs);
  return records(older ? texts(older, (list) => textOf(site.building(), list)) : [textOf(site.building(), recent)], headers);
}

/** One id, several, or null for everybody. @param {Params} params @returns {string|string[]|null} */
function staffOf({ staff_id: asked }) {
  const text = String(asked); // an integer is its decimal string
  if (text === '*') return null;
  return text.includes(',') ? [...new Set(text.split(','))] : text;
}

/** @param {number} people @param {number} seconds */
function refuseTooMuch(people, seconds) {
  if (people * seconds <= MAX_RECORDS) return;
  throw badRequest(`end_time is too far from start_time for ${people} staff members: ` +
    `ask for at most ${Math.floor(MAX_RECORDS / people)} s of so many, or for at most ${Math.floor(MAX_RECORDS / seconds)} of them`);
}

/** @param {Iterable<string>|AsyncIterable<string>} items @param {Record<string, string>} headers */
const records = (items, headers) => new PiecedJson('{"location":[', items, ']}', headers);

/** @template T @param {AsyncIterable<T>} lists @param {(list: T) => string} write */
async function* texts(lists, write) {
  try {
    for await (const list of lists) yield write(list);
  } catch (error) {
    throw asApiError(error);
  }
}

/**
 * `/retrieveformonitoring`: everybody's latest of the last quarter of an hour, newest first.
 * @param {Context} context
 */
async function retrieveForMonitoring({ site, latest }) {
  const data = (await fromStore(latest())).sort((a, b) => b.ts - a.ts).map((location) => ({
    staff_id: location.staff_id,
    ...record(site.building(), location),
    rssi: location.rssi,
    mac: location.beacon,
  }));
  return { data };
}

/**
 * `/newbeacondetect`: a reading by hand, which goes through the broker like any other.
 * @param {Context} context
 * @param {Params} params
 */
async function newBeaconDetect({ site, clock, moment, unlisted }, params) {
  const { beacon_address: written, rssi } = params;
  const staffId = String(params.staff_id);
  const { beacon, reason } = beaconIn(site.building(), written);
  if (beacon === null) throw badRequest(`beacon_address ${reason}`);
  if (!site.building().isRegistered(beacon)) throw new ApiError(404, `there is no beacon ${beacon} in the building file`);
  if (!unlisted.admit(staffId)) {
    throw new ApiError(403, `${unlisted.most} people are known already who are not in the building file: add "${staffId}" to its staff`);
  }
  const ts = moment(`${staffId} ${beacon}`);
  const payload = JSON.stringify({ v: 1, ts, readings: [{ beacon, rssi: Math.round(rssi) }] });
  try {
    await site.broker.outbox.publish({ topic: `sda/v1/phone/${staffId}/readings`, payload }, clock(), ACKNOWLEDGE_MS);
  } catch (error) {
    throw error instanceof BrokerUnavailable ? unavailable(`the reading was not taken: ${error.message}`) : error;
  }
  return 'New Beacon Detection Added';
}

/** @param {import('../building').Building} building @param {Sighting} location */
function record(building, { level, room, ts }) {
  return { level, location: building.roomName(room), timestamp: Math.floor(ts / 1000) };
}

/** @param {unknown} error */
const asApiError = (error) => (error instanceof StoreUnavailable
  ? unavailable(`history is not available: ${error.message}`, error instanceof StoreBusy ? BUSY_S : undefined) : error);

/** @template T @param {Promise<T>} answer @returns {Promise<T>} */
const fromStore = (answer) => answer.catch((error) => { throw asApiError(error); });

const NO_QUERY = new URLSearchParams();
/** @param {string} path */
const checkOf = (path) => createBodyCheck(/** @type {typeof HACS_ROUTES[number]} */ (HACS_ROUTES.find((one) => one.path === path)).body);

/**
 * Answers for the nodes `sda-history`, `sda-latest` and `sda-detection`. Parameters are checked here too: between `sda-access` and these
 * nodes a flow may change them, and a route of a user's own may have no check at all.
 * @typedef {ReturnType<typeof createHacs>} Hacs
 * @param {Omit<Context, 'latest'|'moment'|'unlisted'> & Partial<Pick<Context, 'unlisted'>>} context unlisted: without it nothing is
 *   kept over a restart
 */
function createHacs(context) {
  const whole = { ...context, latest: createLatest(context), moment: createUniqueTimestamps(context.clock),
    unlisted: context.unlisted ?? createUnlisted({ ...context, file: null }) };
  const [checkWindow, checkDetection] = [checkOf('/extractbeacon'), checkOf('/newbeacondetect')];
  return {
    /** @param {unknown} params @param {import('../access/guard').LookUp} lookUp */
    history: (params, lookUp) => extractBeacon(whole, checkWindow(NO_QUERY, params), lookUp),
    latest: () => retrieveForMonitoring(whole),
    /** @param {unknown} params */
    detect: (params) => newBeaconDetect(whole, checkDetection(NO_QUERY, params)),
  };
}

/** The result runs ahead of the clock by at most this much; after that it is the clock's time again. */
const AHEAD_MAX_MS = 1000;
const KEYS_MAX = 10_000;

/**
 * Unique timestamps by key: InfluxDB keeps one point a millisecond and series. Returns the clock's time, or the next free millisecond.
 * @param {() => number} clock
 * @returns {(key: string) => number} epoch ms
 */
function createUniqueTimestamps(clock) {
  /** @type {LRUCache<string, number>} */
  const last = new LRUCache({ max: KEYS_MAX });
  return (key) => {
    const nowMs = clock();
    const freeMs = (last.get(key) ?? 0) + 1;
    const ms = freeMs > nowMs && freeMs <= nowMs + AHEAD_MAX_MS ? freeMs : nowMs;
    last.set(key, ms);
    return ms;
  };
}

module.exports = { createAccessCheck, createAnswer, deliver, onRequest, createHacs, extractBeacon, createUniqueTimestamps };
