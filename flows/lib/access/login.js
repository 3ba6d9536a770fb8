// @ts-check
'use strict';

const express = require('express');
const { openToAll } = require('./guard');

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

/**
 * The login page, and logout.
 * @param {ReturnType<typeof import('./sessions').createSessions>} sessions
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

module.exports = { createLogin };
