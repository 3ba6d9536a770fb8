// @ts-check
'use strict';

const { isUtf8 } = require('node:buffer');

/**
 * The contract's JSON: strict RFC 8259 in UTF-8, as ingest takes it (`ingest/readings.star`; `make fuzz` compares both). It differs from
 * JSON.parse in three points: the first of two equal keys counts; a whole number that is not written as one (`1e3`,
 * `5.00000000000000000001`) is not whole; a byte order mark is skipped.
 * Such messages are rare: each message goes through JSON.parse first, and through the slow tokenizer only where its text may
 * contain one of them.
 */

/** These marks are skipped whatever encoding they announce; what follows is UTF-8 or refused. */
const BYTE_ORDER_MARK = /^(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe(?:\0\0)?|\0\0\xfe\xff)/;
/** An escape (it may hide a key or a quote), an exponent, or a fraction in a field of whole numbers. */
const UNUSUAL = /\\|[[:,\s]-?\d[\d.]*[eE]|"(?:ts|v|rssi)"\s*:\s*-?\d+\./;
const TOKEN = /[[\]{},:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s[\]{},:"]+/g;
const WHOLE = /^-?\d+(?:\.0+)?$/;

/** A whole number that is not written as one. */
class OddNumber {
  /** @param {string} source its text in the message */
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
  const rest = mark ? bytes.subarray(mark[0].length) : bytes;
  if (!isUtf8(rest)) throw new SyntaxError('it is not encoded in UTF-8');
  const text = rest.toString('utf8');
  const data = JSON.parse(text);
  return UNUSUAL.test(text) || countColons(text) !== countKeys(data) ? parseTokens(text) : data;
}

/** Number of colons: one a key, and more in strings. @param {string} text */
function countColons(text) {
  let count = 0;
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) count += 1;
  return count;
}

/** Number of keys of a batch and its readings; fewer than colons when a key is repeated. @param {any} data */
function countKeys(data) {
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
