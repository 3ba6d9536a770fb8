'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Readable } = require('node:stream');
const express = require('express');
const { createBuilding } = require('../lib/building');
const { createSessions } = require('../lib/access');
const { errorAnswer } = require('../lib/shared/api-error');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');
const { guards } = require('./support/guards');
const { HACS, serve } = require('./support/hacs-tab');

// What Node-RED's nodes make of a request: gzip, CORS, wires that are missing.
const S = 1_700_000_000;
const ORIGIN = 'https://hacs.example.org';

async function hacs(t, { definitions = HACS, locations = 0, ...others } = {}) {
  const logged = [];
  const site = new Site(createBuilding(smallBuilding()), 0);
  for (let i = 1; i <= locations; i += 1) {
    site.memory.history.add({ ts: (S - i) * 1000, staff_id: '3', level: 'L1', room: 'a', beacon: BEACONS.a, rssi: -60 }, S * 1000);
  }
  const base = await serve(t, { site, clock: () => S * 1000, trusted: () => true, apiKey: 'key', dashboardPath: '/dashboard/floor', ...guards(),
    buildingFile: '/nowhere/building.json', store: {}, sessions: createSessions({ adminUser: 'admin', adminPassword: 'word' }),
    health: () => ({ status: 'up' }), log: (text) => logged.push(text), ...others }, definitions);
  return { logged, call: (path, options) => fetch(base + path, options) };
}
const POLL = `/extractbeacon?staff_id=3&start_time=${S - 100}&end_time=${S}`;
/** An answer of `extractbeacon` with so many records, bytes. */
const bytesOf = (records) => `{"location":[${Array(records).fill(`{"level":"L1","location":"Room A","timestamp":${S}}`).join()}]}`.length;

test('answers are gzipped from 1,000 bytes on, where that is accepted', async (t) => {
  const least = Array.from({ length: 100 }, (_, i) => i).find((records) => bytesOf(records) >= 1000);
  for (const [locations, encoding] of [[least - 1, null], [least, 'gzip']]) {
    const { call } = await hacs(t, { locations });
    const answer = await call(POLL, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(answer.headers.get('content-encoding'), encoding, `${bytesOf(locations)} bytes`);
    assert.equal((await answer.json()).location.length, locations);
    const plain = await call(POLL, { headers: { 'accept-encoding': 'identity' } });
    assert.deepEqual([plain.headers.get('content-encoding'), plain.headers.get('content-length')], [null, String(bytesOf(locations))]);
  }
});

test('a poll that is sent its ETag back is 304, with an audit line all the same', async (t) => {
  const lines = [];
  const { call } = await hacs(t, { locations: 3, audit: { lookedUp: (_who, route) => { lines.push(route); } } });
  const etag = (await call(POLL)).headers.get('etag');
  assert.equal((await call(POLL, { headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' } })).status, 304);
  assert.deepEqual(lines, ['/extractbeacon', '/extractbeacon']);
});

test('pages of configured origins may call, with a key; of others nothing is said', async (t) => {
  const { call } = await hacs(t, { corsOrigins: [ORIGIN] });
  const preflight = (origin) => call(POLL, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-api-key' } });
  const allowed = await preflight(ORIGIN);
  assert.deepEqual([allowed.status, allowed.headers.get('access-control-allow-origin')], [204, ORIGIN]);
  assert.match(allowed.headers.get('access-control-allow-headers'), /X-API-Key/);
  assert.equal((await preflight('https://evil.example')).headers.get('access-control-allow-origin'), null);
  for (const path of [POLL, '/retrieveformonitoring', '/newbeacondetect']) {
    const refused = await call(path, { headers: { origin: ORIGIN } });
    assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [401, ORIGIN], 'its address earns a page no trust');
    const asked = await call(path, { headers: { origin: ORIGIN, 'x-api-key': 'key' } });
    assert.notEqual(asked.status, 401);
    assert.match(asked.headers.get('access-control-expose-headers'), /Retry-After/);
  }
  const none = await (await hacs(t)).call(POLL, { headers: { origin: ORIGIN, 'x-api-key': 'key' } });
  assert.deepEqual([none.status, none.headers.get('access-control-allow-origin')], [200, null]);
});

const without = (id, change) => HACS.map((node) => (node.id === id ? { ...node, ...change } : node));

test('a refusal whose wire is missing is answered by the node itself', async (t) => {
  const { call } = await hacs(t, { definitions: without('extractbeacon-access', { wires: [['extractbeacon-ask']] }) });
  const answer = await call('/extractbeacon', { headers: { 'x-api-key': 'wrong' } });
  assert.equal(answer.status, 401);
  assert.deepEqual(await answer.json(), { error: 'the key is wrong', location: [] });
});

for (const [what, definitions] of [
  ['nobody has checked who asks', without('extractbeacon-get', { wires: [['extractbeacon-ask']] })],
  ['a guard of another right has', without('extractbeacon-access', { right: 'presence' })]]) {
  test(`no history where ${what}: the log says which node is missing`, async (t) => {
    const { call, logged } = await hacs(t, { locations: 1, definitions });
    const answer = await call(POLL);
    assert.equal(answer.status, 500);
    assert.ok(!('timestamp' in await answer.json()));
    assert.match(logged.join(), /wire an sda-access node with the right "history" before this one/);
  });
}

test('what a route of a user\'s own passes on unchecked is checked by the node that asks', async (t) => {
  const { call } = await hacs(t, { definitions: HACS.map((node) => (node.type === 'sda-access' ? { ...node, route: '' } : node)) });
  const detection = new URLSearchParams({ staff_id: 'a/b', beacon_address: BEACONS.a, rssi: '-20' });
  for (const [path, message] of [[`/newbeacondetect?${detection}`, /staff_id must be 1 to 64/], ['/extractbeacon?staff_id=3', /start_time is missing/],
    [`/extractbeacon?staff_id=3&start_time=x&end_time=${S}`, /start_time is not a number/]]) {
    const answer = await call(path);
    assert.equal(answer.status, 400, path);
    assert.match((await answer.json()).error, message);
  }
});

test('a path of a user\'s own with the parameters of a described route: query, form and JSON', async (t) => {
  const { call } = await hacs(t, { locations: 1, definitions: HACS.map((node) => (node.url ? { ...node, url: `/own${node.url}` } : node)) });
  const asked = { staff_id: '3', start_time: String(S - 100), end_time: String(S) };
  for (const options of [{ method: 'POST', body: new URLSearchParams(asked) },
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) }]) {
    const answer = await call('/own/extractbeacon', options);
    assert.equal(answer.status, 200);
    assert.equal((await answer.json()).location.length, 1);
  }
  assert.equal((await call(`/own${POLL}`)).status, 200);
  assert.equal((await call('/own/extractbeacon', { method: 'POST' })).status, 400);
});

test('under pressure the routes are 503 with Retry-After, and no node is asked', async (t) => {
  const lines = [];
  const { call } = await hacs(t, { pressure: { sheds: () => true }, audit: { lookedUp: () => lines.push('asked') } });
  for (const path of [POLL, '/retrieveformonitoring', '/newbeacondetect']) {
    const answer = await call(path);
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
    assert.match((await answer.json()).error, /faster than they can be answered/);
  }
  assert.deepEqual(lines, []);
});

test('the body of a stranger is not read', async (t) => {
  const { call } = await hacs(t, { trusted: () => false });
  const broken = await call('/newbeacondetect', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"staff_id":' });
  assert.equal(broken.status, 401, 'else it would be 400');
});

test('a caller that is gone before its body was read is no fault of ours, and not logged', async () => {
  const request = Object.assign(Readable.from(['{}']), { method: 'POST', baseUrl: '', path: '/extractbeacon', url: '/extractbeacon',
    headers: { 'content-type': 'application/json', 'content-length': '2' } });
  request.destroy();
  const error = await new Promise((resolve) => { express.json()(request, {}, resolve); });
  const logged = [];
  const { status, body } = errorAnswer(error, request, (text) => logged.push(text));
  assert.deepEqual([status, body, logged], [400, { error: 'the request ended before its body was read', location: [] }, []]);
});
