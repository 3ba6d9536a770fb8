// @ts-check
'use strict';

const { createHash, createHmac, hkdfSync } = require('node:crypto');
const { sameSecret } = require('../../access');
const { badRequest } = require('../../shared/api-error');

/**
 * One page out of something that grows meanwhile. Items are in the order of (ts, id); a page goes on behind the last item
 * of the page before, so what is written in between neither doubles nor hides anything.
 * @template T
 * @typedef {(fromMs: number, toMs: number, count: number) => Promise<T[]>} Read the first `count` items of [fromMs, toMs) in
 *   the order of ts (descending where asked so); those of one ts in any order, but always the same
 */

/**
 * @template T
 * @param {Read<T>} read
 * @param {{fromMs: number, toMs: number}} window
 * @param {Pick<Cursor, 'ts'|'id'|'same'>|null} after
 * @param {number} limit
 * @param {{ts: (item: T) => number, id: (item: T) => string, newestFirst?: boolean}} order
 * @returns {Promise<{items: T[], last: Pick<Cursor, 'ts'|'id'|'same'>|null}>} last: where to go on; null: that was all
 */
async function readPage(read, window, after, limit, order) {
  const { ts, id, newestFirst = false } = order;
  const { from, to } = behind(window, after, newestFirst);
  const isPast = (/** @type {T} */ item) => after !== null && ts(item) === after.ts && compare(id(item), after.id) <= 0;
  const { found, more } = to > from ? await readEnough((count) => read(from, to, count), isPast, limit + 1, after?.same ?? 0) : NOTHING;
  if (more) { // the last millisecond may have more than was read
    const edge = ts(/** @type {T} */ (found.at(-1)));
    while (found.length > 0 && ts(/** @type {T} */ (found.at(-1))) === edge) found.pop();
    if (found.filter((item) => !isPast(item)).length <= limit) found.push(...await read(edge, edge + 1, Number.MAX_SAFE_INTEGER));
  }
  const sign = newestFirst ? -1 : 1;
  const fresh = found.sort((a, b) => sign * (ts(a) - ts(b)) || compare(id(a), id(b))).filter((item) => !isPast(item));
  const items = fresh.slice(0, limit);
  const last = items.at(-1);
  if (!last || (!more && fresh.length <= limit)) return { items, last: null };
  const same = items.filter((item) => ts(item) === ts(last)).length + (after?.ts === ts(last) ? after.same : 0);
  return { items, last: { ts: ts(last), id: id(last), same } };
}

/** @type {{found: any[], more: boolean}} */
const NOTHING = { found: [], more: false };

/**
 * So many that are not on a page yet: of the moment where the page before ended there may be more by now.
 * @template T
 * @param {(count: number) => Promise<T[]>} read @param {(item: T) => boolean} isPast on a page already
 * @param {number} fresh @param {number} known of those that are
 * @returns {Promise<{found: T[], more: boolean}>}
 */
async function readEnough(read, isPast, fresh, known) {
  for (let skipped = known; ;) {
    const found = await read(fresh + skipped);
    const more = found.length >= fresh + skipped;
    const pastNow = found.filter(isPast).length;
    if (!more || pastNow <= skipped) return { found, more };
    skipped = pastNow;
  }
}

/**
 * The part of a window in which what follows can lie.
 * @param {{fromMs: number, toMs: number}} window @param {Pick<Cursor, 'ts'>|null} after @param {boolean} newestFirst
 */
function behind({ fromMs, toMs }, after, newestFirst) {
  if (!after) return { from: fromMs, to: toMs };
  return newestFirst ? { from: fromMs, to: Math.min(toMs, after.ts + 1) } : { from: Math.max(fromMs, after.ts), to: toMs };
}

/** @param {string} a @param {string} b */
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

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
 * The question that a cursor belongs to; other questions refuse it.
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

module.exports = { readPage, questionOf, createCursors };
