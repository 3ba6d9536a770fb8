// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { badRequest } = require('../errors');

/**
 * Where an answer ended, so that the next one goes on behind it whatever has been written meanwhile. For callers it is opaque.
 * `ts` and `id` are those of the last item told; `same`: how many items of that very `ts` were told, which bounds how many to
 * skip. Where order has no time, `ts` is 0.
 * @typedef {{fromMs: number, toMs: number, ts: number, id: string, same: number}} Cursor
 */

const PAGING = new Set(['cursor', 'limit', 'start', 'end']);

/**
 * What a cursor belongs to: other questions refuse it.
 * @param {string} operation
 * @param {Record<string, unknown>} params all but those that choose the page
 */
function questionOf(operation, params) {
  const sorted = Object.entries(params).filter(([name]) => !PAGING.has(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify([operation, sorted])).digest('base64url').slice(0, 8);
}

/** @param {string} question @param {Cursor} cursor */
const writeCursor = (question, { fromMs, toMs, ts, id, same }) =>
  Buffer.from(JSON.stringify([question, fromMs, toMs, ts, id, same])).toString('base64url');

/** @param {string} question @param {string} text @returns {Cursor} */
function readCursor(question, text) {
  const [of, fromMs, toMs, ts, id, same] = decode(text);
  if (typeof id !== 'string' || ![fromMs, toMs, ts, same].every(Number.isSafeInteger) || fromMs > toMs || same < 0) throw foreign();
  if (of !== question) throw badRequest('cursor belongs to another question: path and filters must stay as they were');
  return { fromMs, toMs, ts, id, same };
}

/** @param {string} text @returns {any[]} */
function decode(text) {
  try {
    const data = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(data) ? data : [];
  } catch {
    return [];
  }
}

const foreign = () => badRequest('cursor is none of ours: take what the answer before gave as "next"');

module.exports = { questionOf, writeCursor, readCursor };
