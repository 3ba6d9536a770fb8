// @ts-check
'use strict';

/** A body that is encoded already, with its ETag: what is asked often is encoded once. */
class Encoded {
  /** @param {() => Buffer} body made only when it is sent @param {string} etag strong, in its quotes */
  constructor(body, etag) {
    this.body = body;
    this.etag = etag;
  }
}

/**
 * Answer with JSON and an ETag; who sends that back gets 304 as long as it holds. Express compares, and answers HEAD without body.
 * @param {import('express').Response} response
 * @param {object|string} result a string or Buffer is JSON already
 * @param {{open?: boolean}} [kind] open: no secret, may lie in a browser's cache as long as it asks whether it still holds
 */
function sendJson(response, result, { open = false } = {}) {
  response.set({
    'Cache-Control': open || result instanceof Encoded ? 'private, no-cache' : 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
  });
  if (!(result instanceof Encoded)) {
    response.send(typeof result === 'string' || Buffer.isBuffer(result) ? result : JSON.stringify(result));
    return;
  }
  response.set('ETag', result.etag);
  if (response.req.fresh) response.status(304).end();
  else response.send(result.body());
}

module.exports = { Encoded, sendJson };
