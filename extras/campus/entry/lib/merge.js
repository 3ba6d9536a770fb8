// @ts-check
'use strict';

const { SiteUnavailable } = require('./site');

/**
 * Histories of several sites as one: one person after the other, each newest first, one location a second. Where two sites know the
 * same second of somebody, the first in campus.toml counts, so that the answer is the same for every window and every entry.
 * @typedef {import('./record-stream').HistoryRecord} HistoryRecord
 * @typedef {{site: string, records: AsyncGenerator<HistoryRecord[], void, void>}} Source
 */

/** A piece of the answer, characters. */
const PIECE_CHARS = 64 * 1024;

/** The order of an answer: staff ids descending, as sites have them, then times. @param {HistoryRecord} a @param {HistoryRecord} b */
function compare(a, b) {
  if (a.staffId !== b.staffId) return a.staffId < b.staffId ? 1 : -1;
  return b.timestamp - a.timestamp;
}

/** One site's records, one by one. */
class Head {
  /** @param {Source} source */
  constructor({ site, records }) {
    this.site = site;
    this.records = records;
    /** @type {HistoryRecord[]} */
    this.piece = [];
    this.at = 0;
    /** @type {HistoryRecord|null} null: there are no more */
    this.record = null;
  }

  /** Whether the next one is there without waiting. */
  get isReady() {
    return this.at + 1 < this.piece.length;
  }

  /** The next one of the piece. */
  step() {
    const next = /** @type {HistoryRecord} */ (this.piece[this.at += 1]);
    if (this.record && compare(this.record, next) > 0) {
      throw new SiteUnavailable(this.site, 'answers /extractbeacon in another order than newest first: it may be of another version');
    }
    this.record = next;
  }

  /** The first of the next piece. */
  async load() {
    const { value, done } = await this.records.next();
    if (done) {
      this.record = null;
      return;
    }
    this.piece = value;
    this.at = -1;
    this.step();
  }
}

/**
 * @param {Source[]} sources in the order of campus.toml
 * @param {() => void} [same] is called for each record that is left out, because another site has the same second
 * @returns {AsyncGenerator<string, void, void>} records as text, each followed by a comma
 * @throws {SiteUnavailable} where a site breaks off
 */
async function* merge(sources, same = () => {}) {
  const heads = sources.map((source) => new Head(source));
  try {
    await Promise.all(heads.map((head) => head.load()));
    /** @type {HistoryRecord|null} */
    let last = null;
    let text = '';
    for (;;) {
      const head = first(heads);
      if (head === null) break;
      const record = /** @type {HistoryRecord} */ (head.record);
      if (last && compare(last, record) === 0) same();
      else text += `${record.text},`;
      last = record;
      if (text.length >= PIECE_CHARS) {
        yield text;
        text = '';
      }
      if (head.isReady) head.step();
      else await head.load();
    }
    yield text;
  } finally {
    for (const { records } of heads) records.return().catch(() => {}); // not awaited: one that waits for its site ends with the request
  }
}

/** Whose record comes next; of equal ones the first site's. @param {Head[]} heads @returns {Head|null} null: all are at their end */
function first(heads) {
  /** @type {Head|null} */
  let best = null;
  for (const head of heads) {
    if (head.record && (!best?.record || compare(head.record, best.record) < 0)) best = head;
  }
  return best;
}

module.exports = { merge };
