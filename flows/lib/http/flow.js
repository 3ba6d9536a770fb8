// @ts-check
'use strict';

const { auditWritten, callerOf, lookUpOf } = require('../access');
const { PiecedJson, stream } = require('./encode');
const { bodyOf, createBodyCheck, methodNotAllowed, queryOf } = require('./checks');
const { readBody, run } = require('./http-in-body');
const { ApiError, abortResponse, errorAnswer, headersOf } = require('../shared/api-error');
const { Rate, showBadge } = require('../shared/badge');

/**
 * The steps between `http in` and `http response`: who may ask (`sda-access`), and what is answered (`sda-history`, `sda-latest`,
 * `sda-detection`). A step sets `msg.payload`; one that answers or refuses sets `msg.statusCode` and `msg.headers` too, as
 * `http response` takes them.
 * @typedef {{req: import('express').Request, res: {_res: import('express').Response}, payload: any, statusCode?: number,
 *   headers?: Record<string, string>, caller?: {name: string, kind: string, rights: string[]}}} Message
 * @typedef {import('../access/guard').Right} Right
 * @typedef {{access: ReturnType<typeof import('../access/guard').createAccess>, hacs: import('./hacs').Hacs}} Http what the node
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
 * What is answered: the work of one node that asks.
 * @param {Right} right that `sda-access` before it must have checked
 * @param {(hacs: import('./hacs').Hacs, payload: any, lookUp: import('../access/guard').LookUp) =>
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

module.exports = { createAccessCheck, createAnswer, deliver, onRequest };
