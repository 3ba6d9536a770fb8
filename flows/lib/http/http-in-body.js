// @ts-check
'use strict';

const express = require('express');
const { BODY_BYTES } = require('./checks');

/**
 * Works around Node-RED's `http in`, which reads a body of up to 5 MB before any node can find out who sends it. Its option not to parse
 * the body (https://github.com/node-red/node-red/pull/5037) reads it as well, and without a limit. No version ends this as of Node-RED
 * 5.0.7; one whose `http in` can hand on a request with its body unread makes this file superfluous.
 *
 * `_body` is the mark of body-parser 1 (https://github.com/expressjs/body-parser) for a body that was read, which all parsers obey.
 */

const json = express.json({ limit: BODY_BYTES, strict: false });
const form = express.urlencoded({ limit: BODY_BYTES, extended: false });

/** Stands before `http in`, which then leaves the body alone. @type {import('express').RequestHandler} */
function leaveBody(request, response, next) {
  /** @type {any} */ (request)._body = true;
  response.locals.isBodyUnread = true;
  next();
}

/**
 * Reads a body that was left, form or JSON; one that `http in` has read stays.
 * @param {import('express').Request} request @param {import('express').Response} response
 * @returns {Promise<void>}
 */
async function readBody(request, response) {
  if (!response.locals.isBodyUnread) return;
  /** @type {any} */ (request)._body = false;
  await run(json, request, response);
  await run(form, request, response);
}

/**
 * A handler as a promise.
 * @param {import('express').RequestHandler} handler @param {import('express').Request} request @param {import('express').Response} response
 * @returns {Promise<void>}
 */
const run = (handler, request, response) => new Promise((resolve, reject) => {
  handler(request, response, (/** @type {any} */ error) => (error ? reject(error) : resolve()));
});

module.exports = { leaveBody, readBody, run };
