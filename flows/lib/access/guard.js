// @ts-check
'use strict';

const { RIGHTS } = require('./rights');
const { createCallers, KEY_NEEDED } = require('./callers');
const { asForwarded } = require('./forwarded');
const { ApiError } = require('../shared/api-error');

/**
 * Who may call what: each route begins with its guard, which declares the right it needs.
 * @typedef {import('./callers').Caller} Caller
 * @typedef {import('./rights').Right} Right
 * @typedef {Right|readonly Right[]|'any'} Needed a list: one of them is enough; any: whichever right a caller has
 * @typedef {import('express').RequestHandler & {needs: Needed|'open'|'login'}} Guard
 *   login: our pages' alone, no key opens it
 * @typedef {(subjects: string|readonly string[], fromMs: number, toMs: number) => void} LookUp
 * @typedef {import('./callers').Context & {limits: Pick<ReturnType<typeof import('./limits').createLimits>, 'waitS'>,
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

/** @type {Map<string, string>} as Express and as the description write it */
const NAMES = new Map();

/** A route's name, as it is declared: never what a caller writes. @param {import('express').Request} request @returns {string|undefined} */
function routeOf({ baseUrl, route }) {
  if (!route) return undefined;
  const path = baseUrl + route.path;
  const name = NAMES.get(path) ?? path.replace(/:(\w+)/g, '{$1}');
  NAMES.set(path, name);
  return name;
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

module.exports = { createAccess, requireLogin, openToAll, callerOf, lookUpOf, auditWritten };
