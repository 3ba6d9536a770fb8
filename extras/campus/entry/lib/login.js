// @ts-check
'use strict';

const { createHash, scryptSync } = require('node:crypto');
const cookieSession = require('cookie-session');

/**
 * Logins of the overview page, by a key of the entry. The cookie names the key and is signed with a secret that every entry of a campus
 * has; it ends with the key. It opens the overview alone: whoever asks for people sends the key itself.
 * @typedef {ReturnType<typeof createLogins>} Logins
 */

/** What the page reads. */
const OVERVIEW = '/api/v1/sites';
const RIGHT = /** @type {const} */ ('presence');
/** With the name of the campus: a browser sends cookies of a host to all its ports. */
const COOKIE = 'sda_campus_';
/** It may be a screen on a wall, as a viewer's login at a site. */
const SESSION_MS = 30 * 24 * 3_600_000;
/** An answer that takes no cookie back. */
const NOWHERE = /** @type {any} */ ({ getHeader: () => undefined, setHeader: () => {} });

/** @param {{secret: string, keys: Pick<import('./core').Keys, 'records'>, clock: () => number}} deps */
function createLogins({ secret, keys, clock }) {
  const signedWith = scryptSync(secret, 'sda-locator campus cookie', 32).toString('hex');
  const cookie = COOKIE + createHash('sha256').update(signedWith).digest('hex').slice(0, 8);
  const readCookie = cookieSession({ name: cookie, keys: [signedWith], maxAge: SESSION_MS, httpOnly: true, sameSite: 'strict' });

  return {
    /** Middleware before `begin` and `end`. */
    readCookie,

    /** Log a caller in; who needs no key needs no cookie either. @param {any} request @param {import('./core').Caller} caller */
    begin(request, { kind, keyId }) {
      if (kind === 'key') request.session = { key: keyId, until: clock() + SESSION_MS };
    },

    /** @param {any} request */
    end(request) { request.session = null; },

    /**
     * Whose login a request carries.
     * @param {any} request
     * @returns {{user: string, role: 'viewer'}|null} user: the key's name
     */
    loggedIn(request) {
      if (request.path !== OVERVIEW || !request.headers.cookie?.includes(cookie)) return null;
      readCookie(request, NOWHERE, () => {});
      const { key, until } = request.session ?? {};
      const record = keys.records().find(({ id }) => id === key);
      const nowMs = clock();
      if (!record || !(until > nowMs) || !record.rights.includes(RIGHT) || (record.expires_ms ?? Infinity) <= nowMs) return null;
      return { user: record.name, role: 'viewer' };
    },
  };
}

module.exports = { createLogins, OVERVIEW, RIGHT };
