'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { test } = require('node:test');
const express = require('express');
const { RIGHTS, callerOf, createAccess, createSessions, lookUpOf } = require('../lib/access');
const { createKeyRing, makeKey } = require('../lib/access/keys');
const { createLimits } = require('../lib/access/limits');
const { createRouter } = require('../lib/http');
const { guards } = require('./support/guards');

const KEY = 'key-of-the-test';
const sessions = createSessions({ adminUser: 'admin', adminPassword: 'word', viewerUser: 'viewer', viewerPassword: 'look' });
const context = { apiKey: KEY, trusted: () => true, clock: () => 0, sessions, ...guards(), dashboardPath: '/dashboard/floor', health: () => ({}), log: () => {} };

/** Every route below a router, with what stands first on its way. */
function* routesOf({ stack }, path = '') {
  for (const { route, handle } of stack) {
    if (route) for (const one of [route.path].flat()) yield { path: path + one, first: route.stack[0].handle };
    else if (handle.stack) yield* routesOf(handle, path);
  }
}

test('every route declares the right it needs, and what is open is known', () => {
  const routes = [...routesOf(createRouter(context))];
  assert.ok(routes.length > 8);
  for (const { path, first } of routes) assert.ok(first.needs !== undefined, `${path} has no guard: begin it with requireRight(right) or openToAll`);
  const open = new Set(routes.filter(({ first }) => first.needs === 'open').map(({ path }) => path));
  assert.deepEqual([...open].sort(), ['/', '/api/docs', '/api/docs/page.css', '/api/docs/page.js', '/api/docs/swagger-ui-bundle.js',
    '/api/docs/swagger-ui.css', '/api/v1/openapi.json', '/health', '/login', '/logout']);
});

test('a right that there is not is refused at start', () => {
  assert.throws(() => createAccess(context).requireRight('histroy'), /no right "histroy"/);
});

/** A server of one route a guard, and how it answers. */
async function guarded(t, given = {}) {
  const { requireRight } = createAccess({ ...context, ...given });
  const app = express();
  const sayWho = (_request, response) => response.json({ ...callerOf(response), rights: [...callerOf(response).rights] });
  for (const right of [...RIGHTS, 'any']) app.get(`/${right}`, requireRight(right), sayWho);
  app.get('/change', requireRight('presence', { changes: true }), sayWho);
  app.get('/either', requireRight(['presence', 'admin']), sayWho);
  app.use((error, _request, response, _next) => response.status(error.status ?? 500).json({ error: error.message }));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return async (path, headers = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, { headers });
    return { status: response.status, body: await response.json() };
  };
}

test('trust reaches history and presence, never admin', async (t) => {
  const call = await guarded(t);
  for (const path of ['/history', '/presence', '/any', '/either']) {
    const { status, body } = await call(path);
    assert.equal(status, 200, path);
    assert.deepEqual(body, { name: '127.0.0.1', kind: 'trusted', keyId: null, address: '127.0.0.1', rights: ['history', 'presence'] });
  }
  const { status, body } = await call('/admin');
  assert.equal(status, 401);
  assert.match(body.error, /a key is needed.*right "admin"/);
  assert.equal((await call('/admin', { 'x-api-key': KEY })).body.name, 'SDA_API_KEY');
});

test('the key of .env has every right from anywhere, a stranger none', async (t) => {
  const call = await guarded(t, { trusted: () => false });
  for (const right of [...RIGHTS, 'any', 'either']) {
    assert.equal((await call(`/${right}`, { 'x-api-key': KEY })).status, 200);
    assert.equal((await call(`/${right}`)).status, 401);
  }
});

/** The cookie of who has logged in as that. */
async function cookieOf(t, role) {
  const login = express().use(sessions.readCookie, (request, response) => { sessions.start(request, role); response.end(); }).listen(0, '127.0.0.1');
  await once(login, 'listening');
  t.after(() => login.close());
  const cookies = (await fetch(`http://127.0.0.1:${login.address().port}/`)).headers.getSetCookie();
  return cookies.map((one) => one.split(';')[0]).join('; ');
}

test('a viewer asks for everything that shows people, and changes nothing, not even from a trusted address', async (t) => {
  const cookie = await cookieOf(t, 'viewer');
  const call = await guarded(t);
  for (const path of ['/history', '/presence', '/any']) assert.equal((await call(path, { cookie })).body.name, 'login:viewer');
  for (const path of ['/admin', '/change']) {
    const { status, body } = await call(path, { cookie });
    assert.equal(status, 403);
    assert.match(body.error, /a viewer may look/);
  }
  assert.equal((await call('/change')).status, 200);
  assert.equal((await call('/change', { cookie: await cookieOf(t, 'admin') })).status, 200);
});

test('the login of our pages is as good as a key, but not for a page of another site', async (t) => {
  const cookie = await cookieOf(t, 'admin');
  const call = await guarded(t, { trusted: () => false });
  assert.equal((await call('/admin', { cookie })).body.name, 'login:admin');
  assert.equal((await call('/admin', { cookie: cookie.replace(/.$/, 'x') })).status, 401);
  assert.equal((await call('/admin', { cookie, origin: 'http://evil.example' })).status, 401);
  assert.equal((await call('/admin', { cookie, 'sec-fetch-site': 'cross-site' })).status, 401);
});

test('a socket whose cookie is forged is refused, and nothing breaks', async () => {
  const request = { headers: { cookie: 'sda_session=eyJpZCI6IngifQ==; sda_session.sig=forged' }, socket: { remoteAddress: '127.0.0.1' } };
  const refused = await new Promise((resolve) => { sessions.guardSocket({ request }, resolve); });
  assert.match(refused.message, /login is needed/);
});

test('a named key opens what its rights say, from anywhere, until it expires', async (t) => {
  const keys = createKeyRing();
  const { record, key } = makeKey([], { name: 'hacs', rights: ['history'], expiresMs: 1000 }, 0);
  keys.set([record]);
  let now = 0;
  const call = await guarded(t, { keys, trusted: () => false, clock: () => now });
  const send = { authorization: `Bearer ${key}` };
  assert.deepEqual((await call('/history', send)).body, { name: 'hacs', kind: 'key', keyId: record.id, address: '127.0.0.1', rights: ['history'] });
  for (const path of ['/presence', '/admin', '/either']) {
    const { status, body } = await call(path, send);
    assert.equal(status, 403, path);
    assert.match(body.error, /^hacs does not have the right "(presence|admin|presence" or "admin)"$/);
  }
  now = 1000;
  for (let i = 0; i < 12; i += 1) { // and that is no guess, which would make it wait
    const { status, body } = await call('/history', send);
    assert.equal(status, 401);
    assert.match(body.error, /the key "hacs" expired at 1970-01-01T00:00:01/);
  }
  keys.set([]);
  assert.match((await call('/history', send)).body.error, /the key is wrong/);
});

test('who is looked up is written by the guard of history; what an operation forgets to say counts as everybody', async (t) => {
  const written = [];
  const logged = [];
  const audit = { lookedUp: (who, ...rest) => written.push([who.name, ...rest]) };
  const { requireRight } = createAccess({ ...context, audit, clock: () => 5000, log: (text) => logged.push(text) });
  const app = express();
  app.get('/said/:staff_id', requireRight('history'), (request, response) => {
    lookUpOf(response)(request.params.staff_id, 1000, 2000);
    response.end();
  });
  app.get('/forgotten', requireRight('history'), (_request, response) => response.end());
  app.get('/refused', requireRight('history'), (_request, response) => response.status(400).end());
  app.get('/presence', requireRight('presence'), (_request, response) => response.end(String(lookUpOf(response))));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  for (const path of ['/said/7', '/forgotten', '/refused', '/presence']) {
    await (await fetch(`http://127.0.0.1:${server.address().port}${path}`)).text();
  }
  assert.deepEqual(written, [['127.0.0.1', '/said/{staff_id}', '7', 1000, 2000], ['127.0.0.1', '/forgotten', '*', 0, 5000]]);
  assert.match(logged[0], /^\/forgotten has answered without saying/);
});

test('who asks too often waits, each by himself', async (t) => {
  const keys = createKeyRing();
  const made = ['a', 'b'].map((name) => makeKey([], { name, rights: ['history'], expiresMs: null, ratePerS: name === 'a' ? 1 : undefined }, 0));
  keys.set(made.map(({ record }) => record));
  const limits = createLimits({ ratePerS: 2, trustedRatePerS: 3 });
  const call = await guarded(t, { keys, limits });
  const outcome = async (headers) => {
    const statuses = [];
    for (let i = 0; i < 35; i += 1) statuses.push((await call('/history', headers)).status);
    return [statuses.indexOf(429), statuses.filter((status) => status === 200).length];
  };
  assert.deepEqual(await outcome({ 'x-api-key': made[0].key }), [10, 10]);
  assert.deepEqual(await outcome({ 'x-api-key': made[1].key }), [20, 20]);
  assert.deepEqual(await outcome({}), [30, 30]);
  assert.equal(limits.refused(), 25 + 15 + 5);
  assert.match((await call('/history', { 'x-api-key': made[0].key })).body.error, /too many requests of a/);
});

test('only a key with the right "forward" names the caller whose question it passes on', async (t) => {
  const keys = createKeyRing();
  const made = [['entry', ['history', 'forward']], ['hacs', ['history']]].map(([name, rights]) => makeKey([], { name, rights, expiresMs: null }, 0));
  keys.set(made.map(({ record }) => record));
  const [entry, hacs] = made.map(({ key }) => key);
  const call = await guarded(t, { keys });
  const ask = (key, name) => call('/history', { ...(key ? { 'x-api-key': key } : {}), 'x-on-behalf-of': name });
  assert.deepEqual((await ask(entry, 'hacs')).body.onBehalfOf, 'hacs');
  assert.deepEqual((await ask(entry, '::1')).body.onBehalfOf, '::1');
  assert.equal((await call('/history', { 'x-api-key': entry })).body.onBehalfOf, undefined);
  for (const name of ['', 'a/b', 'a b', 'x'.repeat(65)]) assert.equal((await ask(entry, name)).status, 400, name);
  for (const key of [hacs, null]) {
    const { status, body } = await ask(key, 'ceo');
    assert.equal(status, 403);
    assert.match(body.error, /does not have the right "forward", which X-On-Behalf-Of needs/);
  }
  assert.equal((await ask('sda_00000000_wrong', 'hacs')).status, 401);
});
