// @ts-check
'use strict';

/** Refusals of requests, and how they and what went wrong inside are answered. */

/** A refusal: its status, what and why and, where it helps, when to try again. */
class ApiError extends Error {
  /**
   * @param {number} status @param {string} message @param {number} [retryAfterS]
   * @param {{more?: object, headers?: Record<string, string>}} [beside] the message
   */
  constructor(status, message, retryAfterS, { more = {}, headers = {} } = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.more = more;
    this.headers = headers;
  }
}

/** @param {string} message */
const badRequest = (message) => new ApiError(400, message);

/** @param {string} message @param {number} [retryAfterS] */
const unavailable = (message, retryAfterS = 5) => new ApiError(503, message, retryAfterS);

/** The caller ended the connection before its body was read. */
const GONE = 'stream.not.readable';
const PARSING = {
  [GONE]: () => 'the request ended before its body was read',
  'entity.parse.failed': () => 'the body is not valid JSON',
  'entity.too.large': (/** @type {any} */ error) => `the body is larger than ${error.limit} bytes`,
};
/** Errors of this route carry an empty list beside the message. */
const WITH_LIST = '/extractbeacon';

/**
 * An error as it is answered. What went wrong inside is logged and not answered.
 * @param {any} error
 * @param {import('express').Request} request
 * @param {(message: string) => void} log
 * @param {object} [extra] part of the answer
 * @returns {{status: number, headers: Record<string, string>, body: object}}
 */
function errorAnswer(error, request, log, extra = {}) {
  const path = request.baseUrl + request.path;
  const status = error.type === GONE ? 400 : error.status >= 400 && error.status < 600 ? error.status : 500;
  let message = error.message;
  if (!(error instanceof ApiError)) {
    message = status < 500 ? /** @type {any} */ (PARSING)[error.type]?.(error) ?? message : 'something went wrong inside; the log says what';
  }
  if (status === 500) log(`${request.method} ${path}: ${error.stack ?? error}`);
  return {
    status,
    headers: { ...(error instanceof ApiError ? error.headers : {}), ...(error.retryAfterS ? { 'Retry-After': String(error.retryAfterS) } : {}) },
    body: { error: message, ...error.more, ...extra, ...(path.startsWith(WITH_LIST) ? { location: [] } : {}) },
  };
}

/**
 * Errors as JSON, with the right status.
 * @param {(message: string) => void} log
 * @param {object} [extra] part of every error's answer
 * @returns {import('express').ErrorRequestHandler}
 */
const errorHandler = (log, extra = {}) => (error, request, response, _next) => {
  if (response.headersSent) {
    abortResponse(error, request, response, log);
    return;
  }
  const { status, headers, body } = errorAnswer(error, request, log, extra);
  response.set(headers);
  send(response, status, body);
};

/** An answer that cannot be sent to its end: its connection is closed, so that nobody takes a part for the whole.
 * @param {Error} error @param {import('express').Request} request @param {import('express').Response} response
 * @param {(message: string) => void} log */
function abortResponse(error, request, response, log) {
  log(`${request.method} ${request.path}: the answer was broken off: ${error.message}`);
  response.destroy();
}

/** @param {boolean} isText @returns {Record<string, string>} of an answer that no cache keeps */
const headersOf = (isText) => ({
  'Cache-Control': 'no-store',
  'Content-Type': `${isText ? 'text/plain' : 'application/json'}; charset=utf-8`,
  'X-Content-Type-Options': 'nosniff',
});

/**
 * @param {import('express').Response} response
 * @param {number} status
 * @param {object|string} body text, or an object for JSON
 */
function send(response, status, body) {
  const isText = typeof body === 'string';
  response.status(status).set(headersOf(isText)).end(isText ? body : JSON.stringify(body));
}

module.exports = { ApiError, abortResponse, badRequest, errorAnswer, errorHandler, headersOf, send, unavailable };
