// @ts-check
'use strict';

const { createHash, timingSafeEqual } = require('node:crypto');

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest();

/**
 * Compare two secrets in a time that depends on neither.
 * @param {string} a
 * @param {string} b
 */
const sameSecret = (a, b) => timingSafeEqual(digest(a), digest(b));

/**
 * The key a request carries, or null.
 * @param {{authorization?: string|undefined, 'x-api-key'?: string|string[]|undefined}} headers
 * @returns {string|null}
 */
function presentedKey(headers) {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '');
  if (bearer) return bearer[1] ?? null;
  const key = headers['x-api-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

/**
 * User and password of an HTTP Basic header, or null.
 * @param {string|undefined} authorization
 * @returns {{user: string, password: string}|null}
 */
function basicCredentials(authorization) {
  const basic = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization ?? '');
  if (!basic) return null;
  const text = Buffer.from(/** @type {string} */ (basic[1]), 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

module.exports = { sameSecret, presentedKey, basicCredentials };
