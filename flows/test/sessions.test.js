'use strict';

const assert = require('node:assert/strict');
const { EventEmitter } = require('node:events');
const { test } = require('node:test');
const { createSessions } = require('../lib/sessions');

const ACCOUNTS = { adminUser: 'admin', adminPassword: 'word', viewerUser: 'viewer', viewerPassword: 'look' };
const REQUEST = { headers: {}, socket: { remoteAddress: '192.0.2.7' } };
const HOUR_MS = 3600_000;

/** Logs in and gives what a later request of that browser looks like. */
function logIn(sessions, role) {
  const request = { session: null, headers: {} };
  sessions.start(request, role);
  return { session: request.session, headers: {} };
}

test('two accounts, and nothing between them', async () => {
  const { check } = createSessions(ACCOUNTS);
  assert.equal((await check(REQUEST, 'admin', 'word')).role, 'admin');
  assert.equal((await check(REQUEST, 'viewer', 'look')).role, 'viewer');
  for (const [user, password] of [['admin', 'look'], ['viewer', 'word'], ['', ''], ['viewer', '']]) {
    assert.equal((await check(REQUEST, user, password)).role, null, `${user} ${password}`);
  }
});

test('without a viewer account nobody is one', async () => {
  const { check } = createSessions({ adminUser: 'admin', adminPassword: 'word' });
  assert.equal((await check(REQUEST, '', '')).role, null);
});

test('an admin stays in for half a day, a viewer for thirty', () => {
  let now = 0;
  const sessions = createSessions(ACCOUNTS, () => now);
  const [admin, viewer] = [logIn(sessions, 'admin'), logIn(sessions, 'viewer')];
  const roles = () => [sessions.sessionOf(admin)?.role, sessions.sessionOf(viewer)?.role];
  assert.deepEqual(roles(), ['admin', 'viewer']);
  now = 12 * HOUR_MS;
  assert.deepEqual(roles(), [undefined, 'viewer']);
  now = 30 * 24 * HOUR_MS;
  assert.deepEqual(roles(), [undefined, undefined]);
});

test('a session of an older version, which names no role, is none', () => {
  const { sessionOf } = createSessions(ACCOUNTS, () => 0);
  assert.equal(sessionOf({ session: { id: 'x', until: 9 } }), null);
});

test('a socket ends with its session', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  const sessions = createSessions(ACCOUNTS, () => now);
  const browser = logIn(sessions, 'admin');
  const socket = Object.assign(new EventEmitter(), { request: { headers: {} }, disconnect: () => socket.emit('disconnect') });
  let open = true;
  socket.on('disconnect', () => { open = false; });
  const cookie = cookieOf(sessions, browser.session);
  socket.request.headers.cookie = cookie;
  assert.equal(await new Promise((resolve) => { sessions.guardSocket(socket, resolve); }), undefined);
  assert.deepEqual(socket.data.login, { role: 'admin', user: 'admin' });
  now = 13 * HOUR_MS;
  t.mock.timers.tick(60_000);
  assert.equal(open, false);
});

/** The cookie header that a browser would send back. */
function cookieOf(sessions, session) {
  const headers = new Map();
  const response = { getHeader: (name) => headers.get(name), setHeader: (name, value) => headers.set(name, value), writeHead() {} };
  const request = { headers: {}, connection: {} };
  sessions.readCookie(request, response, () => { request.session = session; });
  response.writeHead(200);
  return headers.get('Set-Cookie').map((one) => one.split(';')[0]).join('; ');
}
