// @ts-check
'use strict';

const { ApiError, badRequest } = require('../shared/api-error');

/** Handlers that the routes share: methods, bodies, answers, errors. */

const BODY_BYTES = 16 * 1024;

/** @type {import('express').RequestHandler} */
const notFound = (request, _response, next) => next(new ApiError(404, `there is no ${request.baseUrl}${request.path}`));

/** Refuses other methods, and says which there are. @param {...string} methods */
const allowMethods = (...methods) => Object.assign(/** @type {import('express').RequestHandler} */ ((request, _response, next) => {
  next(methods.includes(request.method) ? undefined : methodNotAllowed(request.method, methods));
}), { methods });

/** @param {string} method of the request @param {readonly string[]} methods that there are @returns {ApiError} 405 with `Allow` */
const methodNotAllowed = (method, methods) => new ApiError(405,
  `${method} is not possible here, use ${methods.filter((one) => one !== 'HEAD').join(' or ')}`, undefined, { headers: { Allow: methods.join(', ') } });

/** What the parsers made of the body; a type that none of them reads is said to be so. @param {import('express').Request} request */
function bodyOf(request) {
  const type = request.headers['content-type'];
  const sent = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  if (sent && type && !request.is(['json', 'urlencoded'])) throw badRequest(`a body of ${type} is not read: send a form or JSON`);
  return sent ? request.body : undefined;
}

/** @param {import('express').Request} request */
function queryOf({ originalUrl }) {
  const at = originalUrl.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : originalUrl.slice(at));
}

module.exports = { BODY_BYTES, allowMethods, bodyOf, methodNotAllowed, notFound, queryOf };
