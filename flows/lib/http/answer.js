// @ts-check
'use strict';

const { setImmediate: breathe } = require('node:timers/promises');
const { Readable } = require('node:stream');
const { pipeline } = require('node:stream/promises');

/**
 * A JSON answer that comes in pieces of text. A small one is known as a whole before its status is sent; a large one is
 * sent while it is made, and when that fails its connection is broken off, so that nobody takes a part for the whole.
 */

/** So much is held back: up to here an error still has its own status, and the answer a length. */
const HELD_CHARS = 512 * 1024;
const PIECE_CHARS = 64 * 1024;
/** Others get their turn after so much work. */
const TURN_MS = 5;
/** Who takes nothing for so long is gone. */
const STALLED_MS = 30_000;

class PiecedJson {
  /**
   * @param {string} before
   * @param {Iterable<string>|AsyncIterable<string>} items each followed by a comma
   * @param {string} after
   */
  constructor(before, items, after) {
    this.before = before;
    this.items = items;
    this.after = after;
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
      if (performance.now() - sinceMs >= TURN_MS) {
        await breathe();
        sinceMs = performance.now();
      }
    }
    if (head === ',' && text === '') yield this.after;
    else yield head + text.slice(0, -1) + this.after;
  }

  /**
   * @param {import('express').Response} response
   * @param {() => void} begin sets status and headers; until then nothing is sent
   * @returns {Promise<void>} when it is taken, or its caller is gone
   * @throws {Error} why it could not be made, or not to its end
   */
  async send(response, begin) {
    const pieces = this.pieces();
    let held = '';
    for (;;) {
      const { value, done } = await pieces.next();
      const isWanted = !response.destroyed && (held.length < HELD_CHARS || response.req.method !== 'HEAD');
      if (done || !isWanted) {
        await pieces.return();
        begin();
        response.end(held);
        return;
      }
      held += value;
      if (held.length >= HELD_CHARS && response.req.method !== 'HEAD') break;
    }
    begin();
    response.setTimeout(STALLED_MS, () => response.destroy());
    await pipeline(Readable.from(chain(held, pieces)), response).catch((error) => {
      response.destroy();
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error; // that is a caller who has gone
    });
  }
}

/** @param {string} first @param {AsyncIterable<string>} rest */
async function* chain(first, rest) {
  yield first;
  yield* rest;
}

module.exports = { PiecedJson };
