// @ts-check
'use strict';

/**
 * JSON as ingest reads it. JSON.parse differs in three points: of a key that is given twice ingest takes the first; a
 * number that is whole but not written so (`1e3`, `5.00000000000000000001`) it does not take for a whole one; and it
 * skips a byte order mark. Messages with any of that are rare, so each is parsed the fast way first, and read again
 * token by token only where its text could hold one.
 */

/** As Telegraf skips them, whatever the encoding they announce. */
const BYTE_ORDER_MARK = /^(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe(?:\0\0)?|\0\0\xfe\xff)/;
/** An escape (which may hide a key or a quote), an exponent, or a fraction where a whole number belongs. */
const UNUSUAL = /\\|[[:,\s]-?\d[\d.]*[eE]|"(?:ts|v|rssi)"\s*:\s*-?\d+\./;
const TOKEN = /[[\]{},:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s[\]{},:"]+/g;
const WHOLE = /^-?\d+(?:\.0+)?$/;

/** A whole number that is not written as one. */
class OddNumber {
  /** @param {string} source as it stands in the message */
  constructor(source) {
    this.source = source;
  }
}

/**
 * @param {Buffer} bytes
 * @returns {any} numbers may be OddNumber
 * @throws {SyntaxError} when it is not JSON
 */
function parse(bytes) {
  const first = bytes[0];
  const mark = first === 0x7b ? null : BYTE_ORDER_MARK.exec(bytes.toString('latin1', 0, 4));
  const text = bytes.toString('utf8', mark?.[0].length ?? 0);
  const data = JSON.parse(text);
  return UNUSUAL.test(text) || colons(text) !== keys(data) ? parseTokens(text) : data;
}

/** Colons are keys, or text that needs a closer look. @param {string} text */
function colons(text) {
  let count = 0;
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) count += 1;
  return count;
}

/** How many keys a batch has, and its readings; one fewer than colons when a key stands twice. @param {any} data */
function keys(data) {
  if (data === null || typeof data !== 'object') return 0;
  let count = Object.keys(data).length;
  if (Array.isArray(data.readings)) {
    for (const reading of data.readings) if (reading !== null && typeof reading === 'object') count += Object.keys(reading).length;
  }
  return count;
}

/** Without recursion: a message may nest thousands deep. @param {string} text known to be JSON */
function parseTokens(text) {
  /** @type {any[]} */
  const root = [];
  const open = [root];
  /** @type {(string|null)[]} the key that waits for its value, for each open object */
  const waiting = [null];
  /** @param {any} value */
  const put = (value) => {
    const into = /** @type {any} */ (open[open.length - 1]);
    if (Array.isArray(into)) {
      into.push(value);
      return;
    }
    const key = /** @type {string} */ (waiting.pop());
    waiting.push(null);
    if (!(key in into)) into[key] = value;
  };
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ',' || token === ':') continue;
    if (token === '{' || token === '[') {
      const value = token === '[' ? [] : Object.create(null);
      put(value);
      open.push(value);
      waiting.push(null);
    } else if (token === '}' || token === ']') {
      open.pop();
      waiting.pop();
    } else if (!Array.isArray(open[open.length - 1]) && waiting[waiting.length - 1] === null) {
      waiting[waiting.length - 1] = JSON.parse(token);
    } else put(scalar(token));
  }
  return root[0];
}

/** @param {string} token */
function scalar(token) {
  const value = JSON.parse(token);
  return Number.isInteger(value) && !WHOLE.test(token) ? new OddNumber(token) : value;
}

module.exports = { parse, OddNumber };
