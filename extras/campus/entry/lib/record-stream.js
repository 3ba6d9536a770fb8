// @ts-check
'use strict';

const { SiteUnavailable } = require('./site');

/**
 * The records of an `/extractbeacon` answer, taken out of its text piece by piece, so that an answer of any length passes through.
 * @typedef {{staffId: string, timestamp: number, text: string}} HistoryRecord staffId: '' in an answer about one person; timestamp:
 *   epoch seconds; text: as the site wrote it, with its name added
 */

const HEAD = '{"location":[';
const TAIL = ']}';
/** One record, flat, from its brace to its brace; a brace within a text does not count. */
const RECORD = /,?(\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\})/y;

/**
 * @param {string} text from the beginning of a record
 * @param {string} site
 * @returns {{records: HistoryRecord[], rest: string}} rest: what is not whole yet
 */
function split(text, site) {
  const mark = `,"site":${JSON.stringify(site)}}`;
  /** @type {HistoryRecord[]} */
  const records = [];
  let end = 0;
  RECORD.lastIndex = 0;
  for (let match = RECORD.exec(text); match; match = RECORD.exec(text)) {
    const record = /** @type {string} */ (match[1]);
    const { staff_id: staffId = '', timestamp } = JSON.parse(record);
    records.push({ staffId, timestamp, text: record.slice(0, -1) + mark });
    end = RECORD.lastIndex;
  }
  return { records, rest: text.slice(end) };
}

/**
 * @param {string} site its name
 * @param {AsyncIterable<Buffer>} pieces of its answer
 * @returns {AsyncGenerator<HistoryRecord[], void, void>} never empty
 * @throws {SiteUnavailable} where it is no such answer, or only the beginning of one
 */
async function* recordsOf(site, pieces) {
  const decoder = new TextDecoder();
  let rest = '';
  let began = false;
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    if (!began) {
      if (rest.length < HEAD.length) continue;
      if (!rest.startsWith(HEAD)) throw new SiteUnavailable(site, 'answers /extractbeacon with something else than records');
      rest = rest.slice(HEAD.length);
      began = true;
    }
    const found = split(rest, site);
    rest = found.rest;
    if (found.records.length > 0) yield found.records;
  }
  if (!began || rest !== TAIL) throw new SiteUnavailable(site, 'ended its answer of /extractbeacon before the end');
}

module.exports = { recordsOf };
