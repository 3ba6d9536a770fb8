// @ts-check
'use strict';

const { randomBytes, randomUUID, scryptSync } = require('node:crypto');
const { setTimeout: sleep } = require('node:timers/promises');
const cookieSession = require('cookie-session');
const express = require('express');
const { createStateFile } = require('../shared/state-file');
const { DIRECT } = require('./clients');
const { basicCredentials, openToAll, sameSecret } = require('./guard');
const { createAttempts } = require('./limits');

/**
 * An admin works a day: nobody logs in twice in one, and a forgotten browser is out by the next. A viewer, who can change
 * nothing, may be a screen on a wall.
 */
const SESSION_MS = Object.freeze({ admin: 12 * 3600 * 1000, viewer: 30 * 24 * 3600 * 1000 });

/** A timer cannot wait for thirty days. */
const POLL_MS = 60_000;
/** With the name of the installation: a browser sends cookies of a host to all its ports. */
const COOKIE = 'sda_session_';
const INSTALLATION = /^[0-9a-f]{8}$/;
/** More than this are a program that logs in each time. */
const SESSIONS = 10_000;
/** An answer that takes no cookie: a wrong signature has one set, which must not throw where there is no answer. */
const NOWHERE = /** @type {any} */ ({ getHeader: () => undefined, setHeader: () => {} });

/**
 * The logins: a signed cookie that scripts cannot read and other sites cannot send, `Secure` over HTTPS.
 * Its secret comes from the passwords, so a new password throws everybody out. Which sessions there are is kept in a file: a
 * restart keeps everybody in but those who have logged out, and a file that is lost throws everybody out.
 * @typedef {'admin'|'viewer'} Role a viewer may see everything and change nothing
 * @typedef {{id: string, until: number, role: Role}} Session
 * @param {{adminUser: string, adminPassword: string, viewerUser?: string, viewerPassword?: string}} accounts
 * @param {() => number} [clock]
 * @param {{clientOf?: import('./clients').Clients['clientOf'], attempts?: ReturnType<typeof createAttempts>, file?: string|null,
 *   warn?: (text: string) => void}} [deps] file: of the sessions; null: they end with the process
 */
function createSessions({ adminUser, adminPassword, viewerUser = '', viewerPassword = '' }, clock = Date.now,
  { clientOf = DIRECT.clientOf, attempts = createAttempts(), file = null, warn = console.warn } = {}) {
  const secret = scryptSync(JSON.stringify([adminPassword, viewerPassword]), 'sda-locator session cookie', 32).toString('hex');
  const stateFile = createStateFile(file, warn);
  const kept = stateFile.read();
  const installation = INSTALLATION.test(kept?.installation) ? kept.installation : randomBytes(4).toString('hex');
  const cookie = COOKIE + installation;
  const readCookie = cookieSession({ name: cookie, keys: [secret], maxAge: SESSION_MS.viewer, httpOnly: true, sameSite: 'lax' });
  /** @type {Map<string, number>} sessions that there are → end of their life, epoch ms; the oldest first */
  const live = new Map(recordsOf(kept));
  /** @type {Map<string, Set<{disconnect: (close: boolean) => void}>>} open dashboard sockets by session */
  const sockets = new Map();
  /** @type {NodeJS.Timeout|undefined} */
  let again;

  /** @param {any} request whose cookie was read @returns {Session|null} */
  function sessionOf(request) {
    const { id, until, role } = request.session ?? {};
    if (typeof id !== 'string' || typeof until !== 'number' || until <= clock() || !live.has(id)) return null;
    return role === 'admin' || role === 'viewer' ? { id, until, role } : null;
  }

  /**
   * Passwords are what people choose, and can be guessed: from an address with many wrong ones each check waits in line.
   * @param {import('node:http').IncomingMessage} request
   * @param {string} user
   * @param {string} password
   * @returns {Promise<{role: Role|null, waitS: number, checked: boolean}>} null: neither of them; waitS: for how long checks from there
   *   wait in line; checked: false, too many wait
   */
  async function check(request, user, password) {
    const { address } = clientOf(request);
    const waitMs = attempts.delayMs(address, clock());
    const waitS = attempts.waitS(address, clock());
    if (waitMs === null) return { role: null, waitS, checked: false };
    if (waitMs > 0) await sleep(waitMs);
    const admin = [sameSecret(user, adminUser), sameSecret(password, adminPassword)].every(Boolean);
    const viewer = [viewerUser !== '', sameSecret(user, viewerUser), sameSecret(password, viewerPassword)].every(Boolean);
    const role = admin ? 'admin' : viewer ? 'viewer' : null;
    if (!role) attempts.failed(address, clock());
    return { role, waitS, checked: true };
  }

  /** @param {Role} role */
  const userOf = (role) => (role === 'admin' ? adminUser : viewerUser);

  /** Who sends the request, by cookie or by Basic credentials. @param {any} request @returns {Promise<Role|null>} */
  async function roleOf(request) {
    const session = sessionOf(request);
    if (session) return session.role;
    const basic = basicCredentials(request.headers.authorization);
    return basic && (await check(request, basic.user, basic.password)).role;
  }

  /**
   * Whose login a request carries, where no answer takes a cookie back.
   * @param {any} request
   * @returns {{user: string, role: Role}|null}
   */
  function loggedIn(request) {
    if (!request.headers.cookie?.includes(cookie)) return null;
    /** @type {Session|null} */
    let session = null;
    readCookie(request, NOWHERE, () => { session = sessionOf(request); });
    const { role } = /** @type {Session} */ (/** @type {unknown} */ (session) ?? {});
    return role ? { role, user: userOf(role) } : null;
  }

  /** @param {any} request @param {Role} role @returns {Promise<void>} when it outlives a restart */
  async function start(request, role) {
    const session = { id: randomUUID(), until: clock() + SESSION_MS[role], role };
    request.session = session;
    for (const [id, until] of live) if (until <= clock()) live.delete(id);
    live.set(session.id, session.until);
    if (live.size > SESSIONS) {
      const [oldest = ''] = live.keys();
      live.delete(oldest);
      disconnect(oldest);
      warn(`there are more than ${SESSIONS} logins: the oldest was logged out`);
    }
    await save();
  }

  /** @param {any} request @returns {Promise<void>} when it stays ended after a restart */
  async function end(request) {
    const session = sessionOf(request);
    request.session = null;
    if (!session) return;
    live.delete(session.id);
    disconnect(session.id);
    await save();
  }

  /** Writes the sessions; a failed write is tried again. */
  async function save() {
    clearTimeout(again);
    if (await stateFile.write({ v: 1, installation, sessions: [...live].map(([id, until]) => ({ id, until_ms: until })) })) return;
    again = setTimeout(save, POLL_MS);
    again.unref();
  }

  /** @param {string} id */
  function disconnect(id) {
    for (const socket of sockets.get(id) ?? []) socket.disconnect(true);
  }

  /**
   * Express middleware for pages: people are led to the login, programs get 401.
   * @type {import('express').RequestHandler}
   */
  function guard(request, response, next) {
    readCookie(request, response, () => {
      roleOf(request).then((role) => {
        if (role) next();
        else if (request.method === 'GET' && request.accepts(['json', 'html']) === 'html') {
          response.redirect(302, `/login?next=${encodeURIComponent(request.originalUrl)}`);
        } else response.status(401).json({ error: 'a login is needed' });
      }).catch(next);
    });
  }

  /**
   * socket.io middleware: without login a socket gets nothing, and it ends with its session.
   * @param {any} socket
   * @param {(error?: Error) => void} next
   */
  function guardSocket(socket, next) {
    readCookie(socket.request, NOWHERE, () => {
      roleOf(socket.request).then((role) => {
        if (!role) {
          next(new Error('a login is needed'));
          return;
        }
        socket.data = { ...socket.data, login: { role, user: userOf(role) } };
        const session = sessionOf(socket.request);
        if (session) hold(socket, session);
        next();
      }).catch(next);
    });
  }

  /** @param {any} socket @param {Session} session */
  function hold(socket, { id, until }) {
    const open = sockets.get(id) ?? new Set();
    sockets.set(id, open.add(socket));
    const timer = setInterval(() => { if (until <= clock()) socket.disconnect(true); }, POLL_MS);
    timer.unref();
    socket.on('disconnect', () => {
      clearInterval(timer);
      open.delete(socket);
      if (open.size === 0) sockets.delete(id);
    });
  }

  return { readCookie, check, start, end, sessionOf, loggedIn, guard, guardSocket };
}

/** @param {any} state of the file @returns {[string, number][]} */
const recordsOf = (state) => (Array.isArray(state?.sessions) ? state.sessions : [])
  .flatMap((/** @type {any} */ one) => (typeof one?.id === 'string' && typeof one.until_ms === 'number' ? [[one.id, one.until_ms]] : []));

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

/**
 * The login page, and logout.
 * @param {ReturnType<typeof createSessions>} sessions
 * @param {string} home where a login leads unless it was asked for elsewhere
 */
function createLogin(sessions, home) {
  const router = express.Router();
  const form = express.urlencoded({ limit: 4096, extended: false });
  /** @param {unknown} value @returns {string} a path of ours: never another host's */
  const goal = (value) => (typeof value === 'string' && /^\/(?![/\\])[\x21-\x7e]*$/.test(value) ? value : home);

  router.get('/login', openToAll, sessions.readCookie, (request, response) => {
    if (sessions.sessionOf(request)) response.redirect(302, goal(request.query.next));
    else page(response, 200, goal(request.query.next));
  });

  router.post('/login', openToAll, sessions.readCookie, form, (request, response, failed) => {
    const { user, password, next } = request.body ?? {};
    sessions.check(request, String(user ?? ''), String(password ?? '')).then(async ({ role, waitS, checked }) => {
      if (role) {
        await sessions.start(request, role);
        response.redirect(303, goal(next));
        return;
      }
      if (waitS > 0) response.set('Retry-After', String(waitS));
      page(response, waitS > 0 ? 429 : 401, goal(next), checked ? 'Name or password is wrong.'
        : `Too many attempts from your address. Try again in ${Math.ceil(waitS / 60)} minutes.`);
    }).catch(failed);
  });

  router.post('/logout', openToAll, sessions.readCookie, (request, response, failed) => {
    sessions.end(request).then(() => response.redirect(303, '/login')).catch(failed);
  });
  return router;
}

/** @param {import('express').Response} response @param {number} status @param {string} next @param {string} [fault] */
function page(response, status, next, fault = '') {
  response.status(status).set(HEADERS).type('html').send(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>SDA Locator: log in</title><style>
:root { color-scheme: light dark; --card: #ffffff; --page: #eef2f4; --text: #12262d; --quiet: #51656d; --line: #c3ced3; --act: #0b6477; --fault: #a3202a; }
@media (prefers-color-scheme: dark) { :root { --card: #17252b; --page: #0d171b; --text: #e4edf0; --quiet: #a3b5bc; --line: #3a4d55; --act: #3aa3b8; --fault: #ff9a9f; } }
* { box-sizing: border-box } body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
form { width: min(22rem, 100%); background: var(--card); padding: 2rem; border-radius: 12px; box-shadow: 0 1px 3px #0003, 0 8px 24px #0001 }
h1 { margin: 0; font-size: 1.35rem } p { margin: .25rem 0 1.25rem; color: var(--quiet) } p[role=alert] { color: var(--fault); margin: 0 0 1rem }
label { display: block; margin: 0 0 1rem; font-weight: 600 } input { display: block; width: 100%; margin-top: .25rem; padding: .6rem .75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 8px }
button { width: 100%; padding: .7rem; font: inherit; font-weight: 600; color: #fff; background: var(--act); border: 0; border-radius: 8px; cursor: pointer }
@media (prefers-color-scheme: dark) { button { color: #06161a } } input:focus-visible, button:focus-visible { outline: 3px solid var(--act); outline-offset: 2px }
</style></head><body><form method="post" action="/login">
<h1>SDA Locator</h1><p>Who is where, live</p>${fault && `<p role="alert">${escape(fault)}</p>`}
<label>Name <input name="user" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<input type="hidden" name="next" value="${escape(next)}"><button>Log in</button>
</form></body></html>`);
}

/** @param {string} value */
const escape = (value) => value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

module.exports = { createSessions, createLogin };
