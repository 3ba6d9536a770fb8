// @ts-check
'use strict';

const { PiecedJson } = require('./answer');
const { ApiError, badRequest } = require('./errors');

/** What the routes share: methods, bodies, answers, errors. */

const BODY_BYTES = 16 * 1024;

/** @type {import('express').RequestHandler} */
const unknown = (request, _response, next) => next(new ApiError(404, `there is no ${request.baseUrl}${request.path}`));

/** Refuses other methods, and says which there are. @param {...string} methods */
const oneOf = (...methods) => Object.assign(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
  if (methods.includes(request.method)) {
    next();
    return;
  }
  response.set('Allow', methods.join(', '));
  next(new ApiError(405, `${request.method} is not possible here, use ${methods.filter((method) => method !== 'HEAD').join(' or ')}`));
}), { methods });

/** What the parsers made of the body; a type that none of them reads is said to be so. @param {import('express').Request} request */
function bodyOf(request) {
  const type = request.headers['content-type'];
  const sent = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  if (sent && type && !request.is(['json', 'urlencoded'])) throw badRequest(`a body of ${type} is not read: send a form or JSON`);
  return sent ? request.body : undefined;
}

/**
 * Errors as JSON, with the right status. What went wrong inside is logged, not told.
 * @param {(message: string) => void} log
 * @param {object} [extra] part of every error's answer
 * @returns {import('express').ErrorRequestHandler}
 */
const failing = (log, extra = {}) => (error, request, response, _next) => {
  if (response.headersSent) {
    log(`${request.method} ${request.path}: the answer was broken off: ${error.message}`);
    response.destroy();
    return;
  }
  const parsing = { 'entity.parse.failed': 'the body is not valid JSON', 'entity.too.large': `the body is larger than ${error.limit} bytes` };
  const status = error.status >= 400 && error.status < 600 ? error.status : 500;
  let message = error.message;
  if (!(error instanceof ApiError)) message = status < 500 ? /** @type {any} */ (parsing)[error.type] ?? message : 'something went wrong inside; the log says what';
  if (status === 500) log(`${request.method} ${request.path}: ${error.stack ?? error}`);
  if (error instanceof ApiError) response.set(error.headers);
  if (error.retryAfterS) response.set('Retry-After', String(error.retryAfterS));
  send(response, status, { error: message, ...error.more, ...extra });
};

/**
 * @param {import('express').Response} response
 * @param {number} status
 * @param {object|string} body text, an object for JSON, or JSON in pieces
 * @returns {void|Promise<void>}
 */
function send(response, status, body) {
  const text = typeof body === 'string';
  const begin = () => response.status(status).set({
    'Cache-Control': 'no-store',
    'Content-Type': `${text ? 'text/plain' : 'application/json'}; charset=utf-8`,
    'X-Content-Type-Options': 'nosniff',
  });
  if (body instanceof PiecedJson) return body.send(response, begin);
  begin().end(text ? body : JSON.stringify(body));
}

module.exports = { BODY_BYTES, unknown, oneOf, bodyOf, failing, send };
