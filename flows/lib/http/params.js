// @ts-check
'use strict';

const { ID } = require('../building/ids');
const { badRequest } = require('./errors');

/** Epoch seconds stay below this until the year 5138; milliseconds are above it since 1973. */
const MILLISECONDS_FROM = 1e11;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * The parameters of a request: query string, form and JSON together. The same one twice is a list, which the
 * readers below refuse.
 * @param {string} url
 * @param {unknown} body parsed form or JSON
 * @returns {Record<string, unknown>}
 */
function readParams(url, body) {
  /** @type {Record<string, unknown>} */
  const params = Object.create(null);
  const add = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    params[name] = name in params ? [params[name], value] : value;
  };
  const query = url.indexOf('?');
  if (query >= 0) for (const [name, value] of new URLSearchParams(url.slice(query))) add(name, value);
  if (body !== undefined && body !== null) {
    if (typeof body !== 'object' || Array.isArray(body)) throw badRequest('the body must be a JSON object or a form');
    for (const [name, value] of Object.entries(body)) add(name, value);
  }
  return params;
}

/** @param {Record<string, unknown>} params @param {string} name */
function one(params, name) {
  const value = params[name];
  if (value === undefined || value === null || value === '') throw badRequest(`${name} is missing`);
  if (Array.isArray(value)) throw badRequest(`${name} must be given once`);
  return value;
}

/** @param {Record<string, unknown>} params @param {string} name @returns {string} */
function text(params, name) {
  const value = one(params, name);
  if (typeof value !== 'string') throw badRequest(`${name} must be text`);
  return value;
}

/** A staff id; an integer is its decimal string. @param {Record<string, unknown>} params @param {string} name @returns {string} */
function id(params, name) {
  const value = one(params, name);
  const string = Number.isSafeInteger(value) ? String(value) : value;
  if (typeof string !== 'string' || !ID.test(string)) {
    throw badRequest(`${name} must be 1 to 64 letters, digits, "_", "." or "-"`);
  }
  return string;
}

/** @param {Record<string, unknown>} params @param {string} name @returns {number} finite */
function number(params, name) {
  const value = one(params, name);
  const parsed = typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value;
  if (typeof parsed !== 'number' || !Number.isFinite(parsed)) throw badRequest(`${name} is not a number`);
  return parsed;
}

/** @param {Record<string, unknown>} params @param {string} name @param {number} least @param {number} most @returns {number} */
function whole(params, name, least, most) {
  const value = number(params, name);
  if (!Number.isInteger(value) || value < least || value > most) throw badRequest(`${name} must be a whole number from ${least} to ${most}`);
  return value;
}

/** A time in epoch seconds. @param {Record<string, unknown>} params @param {string} name @returns {number} */
function epochSeconds(params, name) {
  const value = number(params, name);
  if (value >= MILLISECONDS_FROM) throw badRequest(`${name} looks like milliseconds; epoch seconds are expected`);
  if (value < 0) throw badRequest(`${name} must not be negative`);
  return value;
}

module.exports = { readParams, one, text, id, number, whole, epochSeconds };
