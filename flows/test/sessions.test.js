'use strict';

const assert = require('node:assert/strict');
const { EventEmitter, once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const express = require('express');
const { createSessions } = require('../lib/access');

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

/** Sessions that outlive restarts: each call is one. */
function restarting(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sessions-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const rig = { file: path.join(folder, 'user', 'sessions.json'), warnings: [], now: 0 };
  rig.start = () => createSessions(ACCOUNTS, () => rig.now, { file: rig.file, warn: (text) => rig.warnings.push(text) });
  return rig;
}

test('who has logged out stays so after a restart, all others stay in', async (t) => {
  const rig = restarting(t);
  const first = rig.start();
  const [stays, leaves] = [{ headers: {} }, { headers: {} }];
  await first.start(stays, 'viewer');
  await first.start(leaves, 'viewer');
  const cookies = [stays, leaves].map(({ session }) => ({ session: { ...session } }));
  await first.end(leaves);
  assert.equal(fs.statSync(rig.file).mode & 0o777, 0o600);
  const roles = () => cookies.map((cookie) => rig.start().sessionOf(cookie)?.role);
  assert.deepEqual(roles(), ['viewer', undefined]);
  rig.now = 29 * 24 * HOUR_MS;
  assert.deepEqual(roles(), ['viewer', undefined]);
  assert.deepEqual(rig.warnings, []);
});

test('a file of sessions that is damaged or lost logs everybody out, and is begun anew', async (t) => {
  const rig = restarting(t);
  for (const damage of ['{"v":1', 'null', '[]', '{"sessions":[null,{"id":1}]}']) {
    const request = { headers: {} };
    await rig.start().start(request, 'admin');
    assert.equal(rig.start().sessionOf(request).role, 'admin');
    fs.writeFileSync(rig.file, damage);
    assert.equal(rig.start().sessionOf(request), null, damage);
  }
  assert.ok(rig.warnings.every((text) => /starts empty/.test(text)));
});

test('a log-out that cannot be written is warned of, and holds as long as the process', async (t) => {
  const rig = restarting(t);
  fs.mkdirSync(path.dirname(rig.file));
  fs.mkdirSync(`${rig.file}.new`); // what is written beside it, before it is renamed
  const sessions = rig.start();
  const request = { headers: {} };
  await sessions.start(request, 'admin');
  const cookie = { session: { ...request.session } };
  assert.equal(sessions.sessionOf(cookie).role, 'admin');
  await sessions.end(request);
  assert.equal(sessions.sessionOf(cookie), null);
  assert.equal(rig.warnings.length, 1);
  assert.match(rig.warnings[0], /sessions\.json cannot be written/);
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

test('two installations on one host have cookies of their own, which outlive restarts', async (t) => {
  const [one, other] = [restarting(t), restarting(t)];
  /** What a browser has after it has logged in there. */
  const cookiesOf = async (rig) => {
    const app = express();
    const sessions = rig.start();
    app.get('/', sessions.readCookie, (request, response) => sessions.start(request, 'admin').then(() => response.end()));
    const server = app.listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
    return answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
  };
  const jar = [...await cookiesOf(one), ...await cookiesOf(other)];
  assert.equal(new Set(jar.map((cookie) => cookie.split('=')[0])).size, 4, 'two each, one signs the other');
  const request = () => ({ headers: { cookie: jar.join('; ') } });
  for (const rig of [one, other]) assert.equal(rig.start().loggedIn(request())?.role, 'admin', 'after a restart, beside the other');
});
