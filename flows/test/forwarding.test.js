'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const cookieSession = require('cookie-session');
const express = require('express');
const { createCallers } = require('../lib/access/guard');
const { createClients, createHosts } = require('../lib/access');

const PROXY = '127.0.0.1';
const CDN = '203.0.113.9';
const { isAnswered } = createHosts(['sda.example.org']);
const clients = createClients({ trustedProxies: [PROXY, CDN, '2001:db8:cd::/48'], isAnswered });
const request = (headers, remoteAddress = PROXY) => ({ headers, socket: { remoteAddress } });

/** Whose call it is: what real proxies send, several hops included. */
const CALLERS = [
  // X-Forwarded-For
  [{ 'x-forwarded-for': '192.0.2.7' }, '192.0.2.7'],
  [{ 'x-forwarded-for': '192.0.2.7:4711' }, '192.0.2.7'], // Azure's gateway
  [{ 'x-forwarded-for': '2001:db8::7' }, '2001:db8::7'],
  [{ 'x-forwarded-for': '[2001:db8::7]' }, '2001:db8::7'],
  [{ 'x-forwarded-for': '[2001:db8::7]:4711' }, '2001:db8::7'],
  [{ 'x-forwarded-for': '"[2001:db8::7]:4711"' }, '2001:db8::7'],
  [{ 'x-forwarded-for': '::ffff:192.0.2.7' }, '192.0.2.7'],
  [{ 'x-forwarded-for': `198.51.100.1, 192.0.2.7:4711,${CDN}:80` }, '192.0.2.7'],
  [{ 'x-forwarded-for': '198.51.100.1,[2001:db8::7]:1 , [2001:db8:cd::1]:443' }, '2001:db8::7'],
  // Forwarded
  [{ forwarded: 'for=192.0.2.7' }, '192.0.2.7'],
  [{ forwarded: 'For="192.0.2.7:4711"' }, '192.0.2.7'],
  [{ forwarded: 'for="[2001:db8::7]"' }, '2001:db8::7'],
  [{ forwarded: 'For="[2001:DB8:0::0:7]:4711"', 'x-forwarded-for': '2001:0db8::7' }, '2001:db8::7'],
  [{ forwarded: 'for="[2001:db8::7]:_port"' }, '2001:db8::7'],
  [{ forwarded: 'by=203.0.113.43;for=192.0.2.7;host="sda.example.org:443";proto=https' }, '192.0.2.7'],
  [{ forwarded: 'proto=https; by="_a,b;c=d"; for="\\192.0.2.7"' }, '192.0.2.7'],
  [{ forwarded: `for=198.51.100.1, for="192.0.2.7:1";proto=http , for="${CDN}:443"` }, '192.0.2.7'],
  [{ forwarded: 'for="[2001:db8::7]", for="[2001:db8:cd::1]:443";by=_hidden' }, '2001:db8::7'],
  // X-Real-IP, and several forms that say the same
  [{ 'x-real-ip': '192.0.2.7' }, '192.0.2.7'],
  [{ 'x-real-ip': CDN, 'x-forwarded-for': '192.0.2.7' }, '192.0.2.7'],
  [{ 'x-real-ip': '192.0.2.7', 'x-forwarded-for': '192.0.2.7', forwarded: 'for="192.0.2.7:1"' }, '192.0.2.7'],
];

test('the caller is read from every form of header that a configured proxy sends', () => {
  for (const [headers, address] of CALLERS) {
    assert.deepEqual(clients.clientOf(request(headers)), { address, credible: true }, JSON.stringify(headers));
  }
});

test('the same headers of anybody else say nothing, and take the trust of the address', () => {
  for (const [headers] of CALLERS) {
    assert.deepEqual(clients.clientOf(request(headers, '198.51.100.200')), { address: '198.51.100.200', credible: false });
  }
});

test('a caller that is hidden, unreadable, or a proxy earns no trust', () => {
  const none = [{ 'x-forwarded-for': '' }, { 'x-forwarded-for': 'unknown' }, { 'x-forwarded-for': 'localhost' }, { 'x-forwarded-for': '[192.0.2.7]' },
    { 'x-forwarded-for': '192.0.2.7, _secret' }, { 'x-forwarded-for': '2001:db8::7:4711:99999' }, { 'x-forwarded-for': '127.1' },
    { forwarded: 'for=unknown' }, { forwarded: 'for=_gazonk' }, { forwarded: 'for=2001:db8::7' }, { forwarded: 'for="192.0.2.7' },
    { forwarded: 'proto=https' }, { forwarded: '' }, { forwarded: 'for=192.0.2.7, for=_hidden' }, { 'x-real-ip': 'somebody' },
    { via: '1.1 proxy' }, { 'x-forwarded-proto': 'https' }, { 'true-client-ip': '192.0.2.7' }, { 'cf-connecting-ip': '192.0.2.7' }];
  for (const headers of none) {
    assert.deepEqual(clients.clientOf(request(headers)), { address: PROXY, credible: false }, JSON.stringify(headers));
  }
  assert.deepEqual(clients.clientOf(request({ 'x-forwarded-for': '127.0.0.1' })), { address: '127.0.0.1', credible: false });
});

test('two forms that name two callers: one was written by the caller, so there is no trust', () => {
  for (const other of [{ forwarded: 'for=198.51.100.7' }, { 'x-real-ip': '198.51.100.7' }, { forwarded: 'nonsense' }]) {
    assert.deepEqual(clients.clientOf(request({ 'x-forwarded-for': '192.0.2.7', ...other })), { address: '192.0.2.7', credible: false });
  }
  assert.deepEqual(clients.clientOf(request({ forwarded: 'for=192.0.2.7', 'x-real-ip': '198.51.100.7' })), { address: '192.0.2.7', credible: false });
});

const PROTOCOLS = [
  [{ 'x-forwarded-proto': 'https' }, true], [{ 'x-forwarded-proto': 'HTTPS' }, true], [{ 'x-forwarded-proto': 'wss' }, true],
  [{ 'x-forwarded-proto': 'https, http' }, true], [{ 'x-forwarded-proto': 'http,https' }, false], [{ 'x-forwarded-proto': 'ftp' }, false],
  [{ forwarded: 'for=192.0.2.7;proto=https' }, true], [{ forwarded: 'for=192.0.2.7;Proto="https", for=203.0.113.9;proto=http' }, true],
  [{ forwarded: 'for=192.0.2.7;proto=http' }, false], [{ 'x-forwarded-scheme': 'https' }, true], [{ 'x-forwarded-ssl': 'on' }, true],
  [{ 'x-forwarded-ssl': 'off' }, false], [{ 'front-end-https': 'On' }, true], [{ 'x-url-scheme': 'https' }, true], [{}, false],
];

test('the cookie of a login is Secure whichever way a proxy says that the caller uses HTTPS', async (t) => {
  const app = express();
  app.set('trust proxy', clients.isProxy);
  app.use(clients.readProtocol, cookieSession({ name: 'in', keys: ['x'] }), (asked, response) => {
    asked.session.here = true;
    response.end();
  });
  const server = app.listen(0, PROXY);
  t.after(() => server.close());
  await new Promise((resolve) => { server.once('listening', resolve); });
  for (const [headers, secure] of PROTOCOLS) {
    const answer = await fetch(`http://${PROXY}:${server.address().port}/`, { headers });
    assert.equal(answer.headers.getSetCookie().every((cookie) => /; secure/i.test(cookie)), secure, JSON.stringify(headers));
  }
});

test('names of a proxy count where they are answered here, and with the port that it reports', () => {
  const host = '127.0.0.1:1880';
  const names = (headers, peer) => clients.hostsOf(request({ host, ...headers }, peer)).slice(1);
  assert.deepEqual(names({ 'x-forwarded-host': 'sda.example.org' }), ['sda.example.org']);
  assert.deepEqual(names({ 'x-forwarded-host': 'sda.example.org:8443, inner.example' }), ['sda.example.org:8443']);
  assert.deepEqual(names({ forwarded: 'for=192.0.2.7;host="sda.example.org:443"' }), ['sda.example.org:443']);
  assert.deepEqual(names({ 'x-forwarded-host': 'sda.example.org', 'x-forwarded-port': '8443' }),
    ['sda.example.org', '127.0.0.1:8443', 'sda.example.org:8443']);
  assert.deepEqual(names({ 'x-forwarded-host': 'evil.example' }), []);
  assert.deepEqual(names({ 'x-forwarded-host': 'sda.example.org' }, '192.0.2.7'), [], 'of no proxy');
});

/** Origin of the page, Host of the request, headers of the proxy; whether the page is our own. */
const PAGES = [
  ['https://sda.example.org', 'sda.example.org', {}, true],
  ['https://sda.example.org', 'sda.example.org:443', {}, true],
  ['http://sda.example.org', 'sda.example.org:80', {}, true],
  ['https://sda.example.org:8443', 'sda.example.org:8443', {}, true],
  ['https://sda.example.org', 'SDA.example.org.', {}, true],
  ['https://sda.example.org.', 'sda.example.org:443', {}, true],
  ['https://[2001:db8::7]', '[2001:db8::7]:443', {}, true],
  ['https://[2001:db8::7]:8443', '[2001:DB8:0::7]:8443', {}, true],
  ['http://localhost:1880', 'localhost:1880', {}, true],
  ['https://sda.example.org', '127.0.0.1:1880', { 'x-forwarded-host': 'sda.example.org' }, true],
  ['https://sda.example.org', '127.0.0.1:1880', { 'x-forwarded-host': 'sda.example.org:443' }, true],
  ['https://sda.example.org', '127.0.0.1:1880', { forwarded: 'for=192.0.2.7;host="sda.example.org:443"' }, true],
  ['https://sda.example.org:8443', 'sda.example.org', { 'x-forwarded-port': '8443' }, true],
  ['https://sda.example.org', 'sda.example.org:8443', {}, false],
  ['https://sda.example.org:8443', 'sda.example.org', {}, false],
  ['http://sda.example.org', 'sda.example.org:443', {}, false],
  ['https://evil.example', 'sda.example.org:443', {}, false],
  ['https://evil.example', '127.0.0.1:1880', { 'x-forwarded-host': 'evil.example' }, false],
  ['https://sda.example.org.evil.example', 'sda.example.org', {}, false],
  ['null', 'sda.example.org', {}, false],
  ['https://sda.example.org', undefined, {}, false],
];

test('a page of our own origin needs no key, whichever port and form of its name the proxy passes on', () => {
  const { identify } = createCallers({ apiKey: 'k', trusted: () => false, clock: () => 0, keys: { find: () => null },
    sessions: { loggedIn: () => ({ user: 'admin', role: 'admin' }) }, ...clients });
  for (const [origin, host, headers, own] of PAGES) {
    const caller = identify(request({ origin, host, ...headers }));
    assert.equal(caller.kind === 'login', own, JSON.stringify([origin, host, headers]));
  }
});
