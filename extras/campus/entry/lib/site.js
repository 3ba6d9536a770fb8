// @ts-check
'use strict';

const http = require('node:http');
const https = require('node:https');
const { ON_BEHALF_OF } = require('./core');

/**
 * One site, asked over kept-alive HTTP. An answer has a time limit until it begins, and one for each piece after that; the time that
 * its reader takes counts for neither.
 * @typedef {ReturnType<typeof createSite>} Site
 * @typedef {{method: 'GET'|'POST', path: string, body?: object, caller?: string}} Question path: with its query; body: sent as JSON;
 *   caller: on whose behalf
 * @typedef {{status: number, headers: import('node:http').IncomingHttpHeaders, pieces: AsyncGenerator<Buffer, void, void>,
 *   text: () => Promise<string>}} Answer pieces, text: throw SiteUnavailable
 */

/** As long as a site may pause within an answer (its own queries pause 5 s at most). */
const IDLE_TIMEOUT_MS = 10_000;
/** An answer that is read as a whole; more than this is no answer of a site. */
const TEXT_BYTES = 64 * 1024 * 1024;
const CONNECTIONS = 128;

/** A site does not answer, or not to its end. */
class SiteUnavailable extends Error {
  /** @param {string} site @param {string} reason @param {boolean} [ended] nobody waits for it any more: no fault of the site */
  constructor(site, reason, ended = false) {
    super(`site ${site} ${reason}`);
    this.name = 'SiteUnavailable';
    this.site = site;
    this.reason = reason;
    this.ended = ended;
  }
}

/** @param {import('./config').SiteConfig & {timeoutMs: number, idleTimeoutMs?: number}} options */
function createSite({ name, url, ca, key, timeoutMs, idleTimeoutMs = IDLE_TIMEOUT_MS }) {
  const { Agent, request } = url.startsWith('https:') ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ...(ca === null ? {} : { ca }) });

  /**
   * @param {Question} question
   * @param {AbortSignal} [signal] ends it
   * @returns {Promise<Answer>} when it begins
   * @throws {SiteUnavailable}
   */
  async function ask({ method, path, body, caller }, signal) {
    const stop = new AbortController();
    const end = () => stop.abort();
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = { 'x-api-key': key, accept: 'application/json',
      ...(caller === undefined ? {} : { [ON_BEHALF_OF]: caller }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }) };
    const limit = setTimeout(end, timeoutMs);
    try {
      const answer = await send(path, { method, agent, headers, signal: stop.signal }, text);
      const pieces = read(answer, stop, signal, end);
      return { status: answer.statusCode ?? 0, headers: answer.headers, pieces, text: () => whole(pieces) };
    } catch (error) {
      signal?.removeEventListener('abort', end);
      throw named(error, stop.signal.aborted ? `does not answer within ${timeoutMs} ms` : '', signal);
    } finally {
      clearTimeout(limit);
    }
  }

  /**
   * A kept connection may be closed by the site while it is used again: then another one is taken. To ask twice is harmless.
   * @param {string} path @param {import('node:http').RequestOptions} options @param {string} body
   * @returns {Promise<import('node:http').IncomingMessage>}
   */
  function send(path, options, body) {
    return new Promise((resolve, reject) => {
      const call = request(url + path, options, resolve);
      call.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
        if (call.reusedSocket && error.code === 'ECONNRESET') send(path, options, body).then(resolve, reject);
        else reject(error);
      }).end(body);
    });
  }

  /**
   * @param {import('node:http').IncomingMessage} answer @param {AbortController} stop
   * @param {AbortSignal|undefined} signal of the one who asks @param {() => void} end that listens to it
   */
  async function* read(answer, stop, signal, end) {
    let limit = setTimeout(() => stop.abort(), idleTimeoutMs);
    let isWhole = false;
    try {
      for await (const piece of answer) {
        clearTimeout(limit);
        yield /** @type {Buffer} */ (piece);
        limit = setTimeout(() => stop.abort(), idleTimeoutMs);
      }
      isWhole = true;
    } catch (error) {
      const late = stop.signal.aborted ? `does not go on with its answer within ${idleTimeoutMs} ms` : 'broke off in the middle of its answer';
      throw named(error, late, signal);
    } finally {
      clearTimeout(limit);
      signal?.removeEventListener('abort', end);
      if (!isWhole) answer.destroy(); // its reader wants no more, or cannot get it
    }
  }

  /** @param {AsyncIterable<Buffer>} pieces */
  async function whole(pieces) {
    const all = [];
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > TEXT_BYTES) throw new SiteUnavailable(name, `answers with more than ${TEXT_BYTES} bytes`);
      all.push(piece);
    }
    return Buffer.concat(all).toString('utf8');
  }

  /** @param {unknown} error @param {string} late @param {AbortSignal} [signal] @returns {Error} */
  function named(error, late, signal) {
    if (error instanceof SiteUnavailable) return error;
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    return new SiteUnavailable(name, late || `does not answer: ${WORDS[code ?? ''] ?? (code || message)}`, signal?.aborted);
  }

  return { name, ask, close: () => agent.destroy() };
}

/** What people want to read in place of the system's names. @type {Record<string, string>} */
const WORDS = {
  ECONNREFUSED: 'nothing listens at its address', ECONNRESET: 'it broke the connection off', ENOTFOUND: 'its name is not known',
  EHOSTUNREACH: 'its address is not reached', ENETUNREACH: 'its address is not reached', EAI_AGAIN: 'its name could not be looked up',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is of an unknown authority (ca_file)',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority (ca_file)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an unknown authority (ca_file)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name than that in url',
  CERT_HAS_EXPIRED: 'its certificate has ended',
};

module.exports = { createSite, SiteUnavailable };
