// @ts-check
'use strict';

const http = require('node:http');
const https = require('node:https');
const { decodeMultiStream } = require('@msgpack/msgpack');

/** The database did not answer, or not in time, or not with what was asked for. */
class StoreUnavailable extends Error {
  /** @param {string} reason @param {boolean} [answered] it is there, only this question it did not answer */
  constructor(reason, answered = false) {
    super(reason);
    this.name = 'StoreUnavailable';
    this.answered = answered;
  }
}

/**
 * @typedef {{tags: Record<string, string>, columns: string[], rows: any[][]}} Series
 * @typedef {AsyncGenerator<Series[], void, void>} Pieces
 * @typedef {object} Influx what asks the database
 * @property {(bucket: string, statement: string, params?: Record<string, string|number>, limitMs?: number) => Promise<Series[]>} query
 *   the whole answer, one entry a series
 * @property {(bucket: string, statement: string, params: Record<string, string|number>, limits?: Limits) => Pieces} pieces
 *   a long answer in order; the next piece is read when it is asked for
 * @property {(limitMs: number) => Promise<void>} ping whether it is there at all
 * @property {(limitMs: number) => Promise<string>} metrics its own figures, in Prometheus' text format
 * @typedef {{firstMs?: number, idleTimeoutMs?: number, rows?: number}} Limits so long InfluxDB may take for the first piece, and for each
 *   after it; rows of a piece
 */

const IDLE_TIMEOUT_MS = 20_000; // a query over many series thinks for seconds before its first row
const PIECE_ROWS = 2000; // a piece is decoded in one go: 0.3 ms

/**
 * InfluxQL over kept-alive HTTP: a fifth of the time that Flux takes for the same. Answers come as MessagePack, which costs
 * InfluxDB two thirds of what JSON costs it; as CSV it would leave out errors.
 * @param {{url: string, token: string, timeLimitMs?: number, connections?: number}} options timeLimitMs holds for a whole
 *   query, so that a frozen database answers as fast as a stopped one
 * @returns {Influx & {close: () => void}} both throw StoreUnavailable, `pieces` also in the middle of the answer
 */
function createInflux({ url, token, timeLimitMs = 800, connections = 16 }) {
  const { Agent, request } = url.startsWith('https:') ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });

  /** @type {Influx['query']} */
  async function query(bucket, statement, params = {}, limitMs = timeLimitMs) {
    /** @type {Series[]} */
    const all = [];
    const signal = AbortSignal.timeout(limitMs);
    try {
      for await (const piece of read(await ask(bucket, statement, params, {}, signal))) all.push(...piece.series);
    } catch (error) {
      throw named(error, signal.aborted ? `InfluxDB did not answer within ${limitMs} ms` : '');
    }
    return all;
  }

  /** @type {Influx['pieces']} */
  async function* pieces(bucket, statement, params, limits = {}) {
    const { firstMs = IDLE_TIMEOUT_MS, idleTimeoutMs = IDLE_TIMEOUT_MS, rows = PIECE_ROWS } = limits;
    const stop = new AbortController();
    let limitMs = firstMs;
    let timer = setTimeout(() => stop.abort(), limitMs);
    let over = false;
    try {
      const answer = await ask(bucket, statement, params, { chunked: 'true', chunk_size: String(rows) }, stop.signal);
      let more = true;
      for await (const { series, partial } of read(answer)) {
        clearTimeout(timer); // whoever takes the piece may take their time
        more = partial;
        yield series;
        limitMs = idleTimeoutMs;
        timer = setTimeout(() => stop.abort(), limitMs);
      }
      over = true;
      if (more) throw new StoreUnavailable('InfluxDB broke off in the middle of its answer');
    } catch (error) {
      throw named(error, stop.signal.aborted ? `InfluxDB did not go on within ${limitMs} ms` : '');
    } finally {
      clearTimeout(timer);
      if (!over) stop.abort(); // whoever wants no more ends the query
    }
  }

  /**
   * @param {string} bucket @param {string} statement @param {Record<string, string|number>} params
   * @param {Record<string, string>} extra @param {AbortSignal} signal
   * @returns {Promise<import('node:http').IncomingMessage>}
   */
  function ask(bucket, statement, params, extra, signal) {
    const headers = { authorization: `Token ${token}`, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/x-msgpack' };
    return new Promise((resolve, reject) => {
      const call = request(`${url}/query`, { method: 'POST', agent, signal, headers }, resolve);
      call.on('error', reject);
      call.end(new URLSearchParams({ db: bucket, epoch: 'ms', q: statement, params: JSON.stringify(params), ...extra }).toString());
    });
  }

  /** Fetches what needs no token. @param {string} path @param {number} limitMs @returns {Promise<string>} */
  async function fetched(path, limitMs) {
    const signal = AbortSignal.timeout(limitMs);
    try {
      const answer = await /** @type {Promise<import('node:http').IncomingMessage>} */ (new Promise((resolve, reject) => {
        request(`${url}${path}`, { agent: false, signal }, resolve).on('error', reject).end();
      }));
      return (await answer.setEncoding('utf8').toArray()).join('');
    } catch (error) {
      throw named(error, signal.aborted ? `InfluxDB did not answer within ${limitMs} ms` : '');
    }
  }

  /** @param {unknown} error @param {string} late why it was broken off @returns {Error} */
  function named(error, late) {
    if (error instanceof StoreUnavailable) return error;
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (late !== '') return new StoreUnavailable(late);
    return new StoreUnavailable(`InfluxDB at ${url}: ${message || code || 'no answer'}`);
  }

  return {
    query,
    pieces,
    ping: async (limitMs) => { await fetched('/ping', limitMs); },
    metrics: (limitMs) => fetched('/metrics', limitMs),
    close: () => agent.destroy(),
  };
}

/** @param {import('node:http').IncomingMessage} answer */
async function* read(answer) {
  const { statusCode: status = 0 } = answer;
  if (status !== 200) {
    const text = (await answer.setEncoding('utf8').toArray()).join('');
    if (status === 401 || status === 403) throw new StoreUnavailable(`InfluxDB refuses the read token (HTTP ${status})`);
    throw new StoreUnavailable(`InfluxDB answered HTTP ${status}: ${text.slice(0, 200)}`, status < 500);
  }
  for await (const piece of decodeMultiStream(answer)) {
    const { results, error } = /** @type {any} */ (piece ?? {});
    if (!Array.isArray(results) && !error) throw new StoreUnavailable('InfluxDB answered something else than MessagePack');
    const result = results?.[0] ?? {};
    const fault = error ?? result.error;
    if (fault) throw new StoreUnavailable(`InfluxDB: ${fault}`, true);
    /** @type {any[]} */
    const found = result.series ?? [];
    const series = found.map(({ tags = {}, columns = [], values = [] }) => ({ tags, columns, rows: values }));
    yield { series, partial: result.partial === true };
  }
}

/** A bound time is text: as a number it would be nanoseconds, which are no safe integer. @param {number} ms */
const time = (ms) => new Date(ms).toISOString();

/** @param {number} fromMs @param {number} toMs exclusive */
const between = (fromMs, toMs) => ({ from: time(fromMs), to: time(toMs) });

/** The condition for what `between` binds. */
const BETWEEN = 'time >= $from AND time < $to';

/** InfluxQL takes no bound LIMIT. @param {number} count */
const atMost = (count) => (Number.isSafeInteger(count) && count < Number.MAX_SAFE_INTEGER ? ` LIMIT ${count}` : '');

module.exports = { createInflux, StoreUnavailable, time, between, BETWEEN, atMost };
