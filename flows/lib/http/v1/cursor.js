// @ts-check
'use strict';

const { createHash, createHmac, hkdfSync } = require('node:crypto');
const { sameSecret } = require('../../access');
const { badRequest } = require('../../shared/api-error');

/**
 * Where an answer ended, so that the next one goes on behind it whatever has been written meanwhile. For callers it is opaque,
 * and signed: `same` of a forged one could make us read without bound.
 * `ts` and `id` are those of the last item of the page; `same`: how many items of that very `ts` were on pages so
 * far, which bounds how many to skip. Where order has no time, `ts` is 0.
 * @typedef {{fromMs: number, toMs: number, ts: number, id: string, same: number}} Cursor
 */

const SIGNATURE_CHARS = 22; // 128 bits
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

/**
 * @typedef {ReturnType<typeof createCursors>} Cursors
 * @param {string|Buffer} secret the same after a restart, or cursors of before are refused
 */
function createCursors(secret) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'sda-locator cursor', 32));
  /** @param {unknown[]} content */
  const sign = (content) => createHmac('sha256', key).update(JSON.stringify(content)).digest('base64url').slice(0, SIGNATURE_CHARS);

  return {
    /** @param {string} question @param {Cursor} cursor */
    write(question, { fromMs, toMs, ts, id, same }) {
      const content = [question, fromMs, toMs, ts, id, same];
      return Buffer.from(JSON.stringify([...content, sign(content)])).toString('base64url');
    },
    /** @param {string} question @param {string} text @returns {Cursor} */
    read(question, text) {
      const content = decode(text);
      const signature = content.pop();
      if (typeof signature !== 'string' || !sameSecret(signature, sign(content))) throw foreign();
      const [of, fromMs, toMs, ts, id, same] = content;
      if (of !== question) throw badRequest('cursor belongs to another question: path and filters must stay as they were');
      return { fromMs, toMs, ts, id, same };
    },
  };
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

module.exports = { questionOf, createCursors };
