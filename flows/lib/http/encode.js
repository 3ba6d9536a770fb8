// @ts-check
'use strict';

const { Readable } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const { setImmediate: yieldToEventLoop } = require('node:timers/promises');

/**
 * A JSON answer made of pieces of text. A small one is complete before its status is sent; a large one is sent while it is made,
 * and when that fails its connection is broken off, so that nobody takes a part for the whole.
 */

/** So much is held back: up to here an error still has its own status, and the answer a length. */
const HELD_CHARS = 512 * 1024;
const PIECE_CHARS = 64 * 1024;
/** Other work goes on after so much of ours. */
const WORK_MS = 5;
/** A caller who takes nothing for so long is gone. */
const STALLED_MS = 30_000;

class PiecedJson {
  /**
   * @param {string} before
   * @param {Iterable<string>|AsyncIterable<string>} items each followed by a comma
   * @param {string} after
   * @param {Record<string, string>} [headers] of the response, beside the usual ones
   */
  constructor(before, items, after, headers = {}) {
    this.before = before;
    this.items = items;
    this.after = after;
    this.headers = headers;
  }

  /** @returns {AsyncGenerator<string, void, void>} pieces of some length */
  async* pieces() {
    let text = '';
    let head = this.before;
    let sinceMs = performance.now();
    for await (const item of this.items) {
      text += item;
      if (text.length >= PIECE_CHARS) {
        yield head + text.slice(0, -1); // the comma waits for what follows it
        [head, text] = [',', ''];
      }
      if (performance.now() - sinceMs >= WORK_MS) {
        await yieldToEventLoop();
        sinceMs = performance.now();
      }
    }
    if (head === ',' && text === '') yield this.after;
    else yield head + text.slice(0, -1) + this.after;
  }

  /**
   * The beginning, up to half a megabyte.
   * @param {() => boolean} isWanted false: nobody waits for it any more
   * @returns {Promise<{text: string, rest: AsyncGenerator<string, void, void>|null}>} rest: what follows; null: that was all
   * @throws {Error} why it could not be made
   */
  async hold(isWanted = () => true) {
    const pieces = this.pieces();
    let text = '';
    while (text.length < HELD_CHARS) {
      const { value, done } = await pieces.next();
      if (done) return { text, rest: null };
      if (!isWanted()) {
        await pieces.return();
        return { text, rest: null };
      }
      text += value;
    }
    return { text, rest: pieces };
  }
}

/**
 * Send what is too large to be held.
 * @param {import('express').Response} response its status and headers are set
 * @param {string} text the beginning @param {AsyncGenerator<string, void, void>} rest
 * @returns {Promise<void>} when it is taken, or its caller is gone
 * @throws {Error} why it could not be made to its end; the connection is broken off then
 */
async function stream(response, text, rest) {
  if (response.req.method === 'HEAD') {
    await rest.return();
    response.end();
    return;
  }
  response.setTimeout(STALLED_MS, () => response.destroy());
  await pipeline(Readable.from(chain(text, rest)), response).catch((error) => {
    response.destroy();
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error; // that is a caller who has gone
  });
}

/** @param {string} first @param {AsyncIterable<string>} rest */
async function* chain(first, rest) {
  yield first;
  yield* rest;
}

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

/**
 * Lists of locations as the records of HACS-era answers. What all records of one room have in common is written once: a poll of the last
 * seconds is joined from pieces, a fifth of the time that making objects and stringifying them takes.
 * @typedef {import('../past/history').LocationList} LocationList
 * @typedef {import('../building').Building} Building
 */

/** Rooms come from the database too, and from buildings of long ago. */
const REMEMBERED = 20_000;

function createRecords() {
  /** @type {Building|null} whose names these are */
  let building = null;
  /** @type {Map<string, string>} */
  const heads = new Map();

  /** @param {Building} its @param {import('../past/history').Place} place */
  function headOf(its, { level, room }) {
    const key = `${level}\n${room}`;
    let head = heads.get(key);
    if (head === undefined) {
      if (heads.size >= REMEMBERED) heads.clear();
      heads.set(key, head = `"level":${JSON.stringify(level)},"location":${JSON.stringify(its.roomName(room))},"timestamp":`);
    }
    return head;
  }

  /**
   * @param {Building} its as it is now
   * @param {LocationList} list
   * @param {string} [staffId] where the records shall say whose they are
   * @returns {string} records, each followed by a comma
   */
  return function textOf(its, { ms, places }, staffId) {
    if (its !== building) {
      building = its;
      heads.clear();
    }
    const whose = staffId === undefined ? '{' : `{"staff_id":${JSON.stringify(staffId)},`;
    let text = '';
    let last = null;
    let head = '';
    for (let index = 0; index < ms.length; index += 1) {
      const place = /** @type {import('../past/history').Place} */ (places[index]);
      if (place !== last) head = whose + headOf(its, last = place);
      text += `${head}${Math.floor(/** @type {number} */ (ms[index]) / 1000)}},`;
    }
    return text;
  };
}

module.exports = { PiecedJson, stream, Encoded, sendJson, createRecords };
