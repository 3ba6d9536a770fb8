// @ts-check
'use strict';

const { createAttempts } = require('./attempts');
const { ENV_NAME } = require('./keys/ring');
const { presentedKey, sameSecret } = require('./secrets');
const { RIGHTS, TRUSTED_RIGHTS, VIEWER_RIGHTS } = require('./rights');
const { DIRECT } = require('./clients');
const { ApiError } = require('../shared/api-error');

/**
 * Who calls: known by a key, by the login of our own pages, or by an address in a trusted network. A wrong key is refused
 * from anywhere, and after some of them every wrong key from that address has to wait. A right key never does: 256 random bits
 * are not guessed at any pace.
 * @typedef {import('./rights').Right} Right
 * @typedef {object} Caller
 * @property {string} name of the key, `login:<user>`, or the trusted address
 * @property {'key'|'login'|'trusted'} kind
 * @property {string|null} keyId of a key but that of .env
 * @property {string} address of the caller; of a proxy, where that is not configured
 * @property {ReadonlySet<Right>} rights
 * @property {boolean} [readOnly] may look, and change nothing
 * @property {number} [ratePerS] of its own
 * @property {string} [onBehalfOf] the caller whose question it passes on
 * @typedef {{apiKey: string, trusted: (address: string|undefined) => boolean, clock: () => number,
 *   keys: Pick<import('./keys').Keys, 'find'>,
 *   clientOf?: import('./clients').Clients['clientOf'], hostsOf?: import('./clients').Clients['hostsOf'],
 *   sessions: Pick<ReturnType<typeof import('./sessions').createSessions>, 'loggedIn'>}} Context
 */

const KEY_NEEDED = 'a key is needed: send "Authorization: Bearer <key>" or "X-API-Key: <key>"';
const ALL = new Set(RIGHTS);
const OF_TRUST = new Set(TRUSTED_RIGHTS);
const OF_VIEWER = new Set(VIEWER_RIGHTS);

/** @param {Context} context */
function createCallers({ apiKey, trusted, clock, keys, sessions, clientOf = DIRECT.clientOf, hostsOf = DIRECT.hostsOf }) {
  const attempts = createAttempts();

  /**
   * @param {import('express').Request} request
   * @returns {Caller|ApiError} who it is, or why that is not known
   */
  function identify(request) {
    const client = clientOf(request);
    const key = presentedKey(request.headers);
    if (key === null) return keyless(request, client) ?? new ApiError(401, KEY_NEEDED);
    const nowMs = clock();
    const caller = keyed(key, client.address, nowMs);
    if (caller !== null) return caller;
    const waitS = attempts.waitS(client.address, nowMs);
    if (waitS > 0) return new ApiError(429, 'the key is wrong, as were too many from this address', waitS);
    attempts.failed(client.address, nowMs);
    return new ApiError(401, 'the key is wrong');
  }

  /** @param {string} key @param {string} address @param {number} nowMs @returns {Caller|ApiError|null} null: nobody's */
  function keyed(key, address, nowMs) {
    const record = keys.find(key);
    if (!record) return sameSecret(key, apiKey) ? { name: ENV_NAME, kind: 'key', keyId: null, address, rights: ALL } : null;
    const { id, name, rights, expires_ms: expiresMs, rate_per_s: ratePerS } = record;
    if (expiresMs !== null && expiresMs <= nowMs) { // no guess: whoever has it had it rightly
      return new ApiError(401, `the key "${name}" expired at ${new Date(expiresMs).toISOString()}: ask an admin for a new one`);
    }
    return { name, kind: 'key', keyId: id, address, rights: new Set(rights), ...(ratePerS === undefined ? {} : { ratePerS }) };
  }

  /** @param {import('express').Request} request @param {import('./clients').Client} client @returns {Caller|null} */
  function keyless(request, { address, credible }) {
    if (ofForeignPage(request.headers, hostsOf(request))) return null;
    const login = sessions.loggedIn(request);
    if (login) {
      const readOnly = login.role === 'viewer';
      return { name: `login:${login.user}`, kind: 'login', keyId: null, address, rights: readOnly ? OF_VIEWER : ALL, readOnly };
    }
    return credible && trusted(address) ? { name: address, kind: 'trusted', keyId: null, address, rights: OF_TRUST } : null;
  }

  return { identify };
}

/**
 * Whether another site's page has made a browser send this: the browser's address earns that page no trust.
 * @param {import('node:http').IncomingHttpHeaders} headers @param {readonly string[]} hosts under which the request was made
 */
function ofForeignPage({ origin, 'sec-fetch-site': site }, hosts) {
  if (site === 'cross-site' || site === 'same-site') return true; // says so even where there is no Origin: an image, a link
  if (origin === undefined) return false;
  const own = URL.parse(origin);
  return own === null || !hosts.some((host) => isSameHost(own, URL.parse(`${own.protocol}//${host}`)));
}

/** URLs leave out a port that goes without saying: `name:443` of HTTPS is `name`. @param {URL} one @param {URL|null} other */
const isSameHost = (one, other) => other !== null && one.port === other.port && withoutDot(one.hostname) === withoutDot(other.hostname);

/** @param {string} name */
const withoutDot = (name) => name.replace(/\.$/, '');

module.exports = { createCallers, KEY_NEEDED };
