// @ts-check
'use strict';

const { parse } = require('csv-parse/sync');
const { decodeText, encodingFault } = require('./decode');

/**
 * Parses a list of beacons as installers write it: a table with the header `mac,location,level` (columns in any order; comma,
 * semicolon or tab; quotes as in RFC 4180), or lines `MAC:location:level`. One row is one line, so an unbalanced quote costs its
 * own line only.
 * @typedef {{line: number, text: string, mac: string, location: string, level: string}} Row line: from 1
 * @typedef {{line: number, text: string, kind: string, reason: string}} Fault
 */

const COLUMNS = /** @type {const} */ (['mac', 'location', 'level']);
/** Other names of columns. @type {Record<string, string>} */
const ALIASES = { 'mac address': 'mac', mac_address: 'mac', beacon: 'mac', 'beacon id': 'mac', room: 'location', area: 'location', floor: 'level',
  storey: 'level' };
/** A MAC with its own separators, valid or not, and the separator after it. */
const MAC_FIRST = /^[0-9a-z]{2}(?:[:-][0-9a-z]{1,3}){4,6}\s*([,;\t:])/i;
const SEPARATOR = /[,;\t:]/;
/** Some programs write this line for Excel alone. */
const SEPARATOR_LINE = /^"?sep=.?"?$/i;
const COLONS = /^((?:[0-9a-f]{2}:){5}[0-9a-f]{2}|[^:]*):(.*)$/i;
/** An invalid MAC with colons, then location and level. */
const BAD_COLONS = /^([0-9a-z]{1,3}(?::[0-9a-z]{1,3}){3,6}):([^:]*):([^:]*)$/i;

/** The file as a whole cannot be read as a list of beacons. */
class ImportError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'ImportError';
  }
}

/**
 * @param {Uint8Array} bytes UTF-8, or UTF-16 with a byte order mark, as spreadsheets save it
 * @returns {string}
 * @throws {ImportError}
 */
function decode(bytes) {
  const text = decodeText(bytes);
  if (text === null) throw new ImportError(`the file ${encodingFault(bytes, '"CSV UTF-8"')}`);
  return text;
}

/**
 * The separator after the first cell: a text in quotes, a MAC with its own separators, or anything without a separator.
 * @param {string} line
 * @returns {string|undefined} undefined: there is none
 */
function separatorOf(line) {
  const start = line.trimStart();
  const quoted = start.startsWith('"') ? start.indexOf('"', 1) : -1;
  const afterQuotes = quoted > 0 ? start.slice(quoted + 1) : '';
  const next = afterQuotes.replace(/^[^\S\t]+/, '').slice(0, 1);
  if (next !== '' && SEPARATOR.test(next)) return next;
  return (MAC_FIRST.exec(start)?.[1] ?? SEPARATOR.exec(start)?.[0] ?? SEPARATOR.exec(line)?.[0]);
}

/**
 * @param {string} text
 * @param {{linesMax?: number}} [bounds]
 * @returns {import('../../shared/pieces').Work<{rows: Row[], faults: Fault[]}>} every non-empty line but the
 *   header is a row or a fault
 * @throws {ImportError} when the header has missing or extra columns
 */
function* readRows(text, { linesMax = Infinity } = {}) {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)
    .map((line, i) => ({ line: i + 1, text: line })).filter((line) => line.text.trim() !== '');
  if (lines.length > linesMax) throw new ImportError(`the list has ${lines.length} rows, at most ${linesMax} are taken at once: split it`);
  if (lines[0] && SEPARATOR_LINE.test(lines[0].text)) lines.shift();
  const header = lines[0] && readHeader(lines[0].text);
  /** @type {Row[]} */
  const rows = [];
  /** @type {Fault[]} */
  const faults = [];
  for (const { line, text: written } of header ? lines.slice(1) : lines) {
    yield;
    const { cells, kind, reason } = cellsOf(written, header?.separator);
    if (kind || cells.length > COLUMNS.length) {
      const many = `${cells.length} columns where 3 are needed: ${COLUMNS.join(', ')}`;
      faults.push({ line, text: written, kind: kind ?? 'columns', reason: reason ?? many });
      continue;
    }
    const order = header?.order ?? COLUMNS;
    const row = Object.fromEntries(order.map((column, i) => [column, (cells[i] ?? '').trim()]));
    rows.push(/** @type {Row} */ ({ line, text: written, ...row }));
  }
  return { rows, faults };
}

/**
 * @param {string} line the first one
 * @returns {{separator: string, order: string[]}|null} null: the line is the first row
 */
function readHeader(line) {
  const separator = separatorOf(line);
  if (!separator) return null;
  const order = (cellsOf(line, separator).cells).map((cell) => cell.trim().toLowerCase()).map((cell) => ALIASES[cell] ?? cell);
  if (!order.includes('mac')) return null;
  const missing = COLUMNS.filter((column) => !order.includes(column));
  if (missing.length > 0) throw new ImportError(`the header "${line}" lacks the column ${missing.join(' and ')}`);
  if (order.length > COLUMNS.length) throw new ImportError(`the header "${line}" has other columns than ${COLUMNS.join(', ')}; take them out`);
  return { separator, order };
}

/**
 * @param {string} line
 * @param {string} [separator] of the header; without one each line has its own
 * @returns {{cells: string[], kind?: string, reason?: string}}
 */
function cellsOf(line, separator = separatorOf(line) ?? ',') {
  if (separator === ':') {
    const [, mac = line, rest] = COLONS.exec(line) ?? [];
    if ((line.split('"').length - 1) % 2 === 1) return { cells: [], kind: 'quotes', reason: 'quotes do not match' };
    const bad = mac.length <= 3 ? BAD_COLONS.exec(line.trim()) : null;
    if (bad) return { cells: bad.slice(1) };
    return { cells: rest === undefined ? [line] : [mac, ...rest.split(':')] };
  }
  try {
    const [cells = []] = parse(line, { delimiter: separator, relax_column_count: true, ltrim: true, rtrim: true });
    return { cells };
  } catch (error) {
    return { cells: [], kind: 'quotes', reason: `quotes do not match: ${error instanceof Error ? error.message : error}` };
  }
}

module.exports = { readRows, decode, ImportError };
