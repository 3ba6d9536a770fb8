// @ts-check
'use strict';

const { createHash, timingSafeEqual } = require('node:crypto');
const { isIP } = require('node:net');
const { ID } = require('../building/ids');
const { ApiError, badRequest } = require('../shared/api-error');
const { DIRECT } = require('./clients');
const { ENV_NAME, RIGHTS, TRUSTED_RIGHTS, VIEWER_RIGHTS } = require('./keys');
const { createAttempts } = require('./limits');

/**
 * Who may call what: each route begins with its guard, which declares the right it needs.
 * @typedef {import('./keys').Right} Right
 * @typedef {Right|readonly Right[]|'any'} Needed a list: one of them is enough; any: whichever right a caller has
 * @typedef {import('express').RequestHandler & {needs: Needed|'open'|'login'}} Guard
 *   login: our pages' alone, no key opens it
 * @typedef {(subjects: string|readonly string[], fromMs: number, toMs: number) => void} LookUp
 * @typedef {Known & {limits: Pick<ReturnType<typeof import('./limits').createLimits>, 'waitS'>,
 *   audit: Pick<import('./audit').Audit, 'lookedUp'>, log: (message: string) => void}} Context
 */

/** @param {Context} context */
function createAccess(context) {
  const { identify } = createCallers(context);

  /**
   * The guard of one route. Behind it `callerOf(response)` says who called. A route with the right `history`, or with `audited`, must
   * call `lookUpOf(response)` to record whose data it reads. If it does not, the audit log records everybody, at all times. The route
   * awaits `auditWritten(response)` before it answers.
   * @param {Needed} needs
   * @param {{changes?: boolean, audited?: boolean}} [options] changes: the operation is more than a question; audited: it looks somebody
   *   up, as each with the right `history` does
   * @returns {Guard}
   * @throws {Error} at start, when there is no such right
   */
  function requireRight(needs, { changes = false, audited = needs === 'history' } = {}) {
    const wanted = needs === 'any' ? RIGHTS : [needs].flat();
    const strange = wanted.find((right) => !RIGHTS.includes(right));
    if (strange) throw new Error(`there is no right "${strange}": use one of ${RIGHTS.join(', ')}`);
    /** @type {import('express').RequestHandler} */
    const guard = (request, response, next) => {
      response.locals.route = routeOf(request);
      const caller = asForwarded(identify(request), request.headers);
      if (caller instanceof ApiError) {
        refuse(caller, response, next);
        return;
      }
      context.limits.waitS(caller).then((waitS) => {
        const refused = waitS > 0 ? new ApiError(429, `too many requests of ${caller.name}`, waitS)
          : changes && caller.readOnly ? new ApiError(403, VIEWER_MAY_NOT) : missing(caller, wanted);
        response.locals.caller = caller;
        if (refused) {
          refuse(refused, response, next);
          return;
        }
        if (audited) attachAudit(caller, response);
        next();
      }).catch(next);
    };
    return Object.assign(guard, { needs });
  }

  /** @param {Caller} caller @param {import('express').Response} response */
  function attachAudit(caller, response) {
    const route = response.locals.route ?? '';
    let said = false;
    /** @type {LookUp} */
    response.locals.lookUp = (subjects, fromMs, toMs) => {
      said = true;
      response.locals.auditWritten = context.audit.lookedUp(caller, route, subjects, fromMs, toMs);
    };
    response.once('finish', () => {
      if (said || response.statusCode >= 400) return;
      context.log(`${route} has answered without saying who was looked up: the audit log says everybody`);
      context.audit.lookedUp(caller, route, '*', 0, context.clock());
    });
  }

  return {
    requireRight,
    /** Who it is, where nobody is refused. @param {import('express').Request} request @returns {Caller|null} */
    known(request) {
      const caller = identify(request);
      return caller instanceof ApiError ? null : caller;
    },
  };
}

const VIEWER_MAY_NOT = 'a viewer may look and change nothing: log in as admin';

/** @param {ApiError} error @param {import('express').Response} response @param {import('express').NextFunction} next */
function refuse(error, response, next) {
  if (error.status === 401) response.set('WWW-Authenticate', 'Bearer');
  next(error);
}

/** @param {Caller} caller @param {readonly Right[]} wanted one of them @returns {ApiError|null} */
function missing({ name, kind, rights, readOnly }, wanted) {
  if (wanted.some((right) => rights.has(right))) return null;
  if (readOnly) return new ApiError(403, VIEWER_MAY_NOT);
  const right = `the right "${wanted.join('" or "')}"`;
  return kind === 'trusted' ? new ApiError(401, `${KEY_NEEDED}, one with ${right}`) : new ApiError(403, `${name} does not have ${right}`);
}

/**
 * The guard of a route that is open to everybody.
 * @type {Guard}
 */
const openToAll = Object.assign(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
  response.locals.route = routeOf(request);
  next();
}), { needs: /** @type {'open'} */ ('open') });

/**
 * A route's name, as the description writes it: never what a caller writes.
 * @param {import('express').Request} request @returns {string|undefined}
 */
function routeOf({ baseUrl, route }) {
  if (!route) return undefined;
  return (baseUrl + route.path).replace(/:(\w+)/g, '{$1}');
}

/**
 * A guard that no key passes, only a login; people are led to it.
 * @param {Pick<ReturnType<typeof import('./sessions').createSessions>, 'guard'>} sessions
 * @returns {Guard}
 */
const requireLogin = (sessions) => Object.assign(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
  response.locals.route = routeOf(request);
  sessions.guard(request, response, next);
}),
  { needs: /** @type {'login'} */ ('login') });

/** Who called, behind a guard. @param {import('express').Response} response @returns {Caller} */
const callerOf = (response) => response.locals.caller;

/** Behind a guard of history: writes down who is looked up. @param {import('express').Response} response @returns {LookUp} */
const lookUpOf = (response) => response.locals.lookUp;

/**
 * To be awaited before an answer: until it is written who was looked up.
 * @param {import('express').Response} response
 * @returns {Promise<void>|undefined}
 */
const auditWritten = (response) => response.locals.auditWritten;

/**
 * Who calls: known by a key, by the login of our own pages, or by an address in a trusted network. A wrong key is refused
 * from anywhere, and after some of them every wrong key from that address has to wait. A right key never does: 256 random bits
 * are not guessed at any pace.
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
 *   sessions: Pick<ReturnType<typeof import('./sessions').createSessions>, 'loggedIn'>}} Known
 */

const KEY_NEEDED = 'a key is needed: send "Authorization: Bearer <key>" or "X-API-Key: <key>"';
const ALL = new Set(RIGHTS);
const OF_TRUST = new Set(TRUSTED_RIGHTS);
const OF_VIEWER = new Set(VIEWER_RIGHTS);

/** @param {Known} context */
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

/**
 * Whose question a caller passes on, as an entry for several sites does for its own callers. The name is a claim: it is written to the
 * audit log behind the name of the key that makes it (`entry/hacs`), never in its place, and limits go on counting the key. Only a key
 * with the right `forward` may make one, so that no other caller fills the log with names.
 */
const HEADER = 'X-On-Behalf-Of';
const NAME = HEADER.toLowerCase();

/**
 * @param {Caller|ApiError} caller
 * @param {import('node:http').IncomingHttpHeaders} headers
 * @returns {Caller|ApiError}
 */
function asForwarded(caller, headers) {
  const claimed = headers[NAME];
  if (claimed === undefined || caller instanceof ApiError) return caller;
  if (caller.kind !== 'key' || !caller.rights.has('forward')) {
    return new ApiError(403, `${caller.name} does not have the right "forward", which ${HEADER} needs`);
  }
  const name = String(claimed);
  if (!ID.test(name) && isIP(name) === 0) return badRequest(`${HEADER} must be the name of a key, or an address`);
  return { ...caller, onBehalfOf: name };
}

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest();

/**
 * Compare two secrets in a time that depends on neither.
 * @param {string} a
 * @param {string} b
 */
const sameSecret = (a, b) => timingSafeEqual(digest(a), digest(b));

/**
 * The key a request carries, or null.
 * @param {{authorization?: string|undefined, 'x-api-key'?: string|string[]|undefined}} headers
 * @returns {string|null}
 */
function presentedKey(headers) {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '');
  if (bearer) return bearer[1] ?? null;
  const key = headers['x-api-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

/**
 * User and password of an HTTP Basic header, or null.
 * @param {string|undefined} authorization
 * @returns {{user: string, password: string}|null}
 */
function basicCredentials(authorization) {
  const basic = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization ?? '');
  if (!basic) return null;
  const text = Buffer.from(/** @type {string} */ (basic[1]), 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

module.exports = {
  createAccess, requireLogin, openToAll, callerOf, lookUpOf, auditWritten, createCallers, ON_BEHALF_OF: HEADER, sameSecret,
  basicCredentials,
};
