'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createAttempts, createClients, createSessions } = require('../lib/access');
const { createBuilding } = require('../lib/building');
const { StoreUnavailable } = require('../lib/store');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');
const { guards } = require('./support/guards');
const { serve } = require('./support/hacs-tab');
const { receive } = require('./support/receive');

const S = 1_700_000_000;
const KEY = 'key-of-the-test';
const TOUCH = -30; // dBm: held to a beacon, which decides at once

/** The routes over a real site at a given time; the broker and the database are played. */
async function api(t, { trusted = () => true, store = {}, startedMs = 0, ...others } = {}) {
  const rig = { now: S * 1000, brokerUp: true, sent: [], asked: [] };
  rig.site = new Site(createBuilding(smallBuilding()), startedMs);
  rig.site.broker.outbox.attach({ connected: () => rig.brokerUp, send: (message) => {
    rig.sent.push(message);
    setImmediate(() => rig.site.broker.outbox.acknowledge(message.sda_id, rig.now));
  } });
  const asked = (name, fallback) => async (...args) => {
    rig.asked.push([name, ...args]);
    return (store[name] ?? fallback)(...args);
  };
  async function* locations(...args) {
    yield* await asked('locations', () => [])(...args);
  }
  const base = await serve(t, {
    site: rig.site, clock: () => rig.now, trusted, apiKey: KEY, dashboardPath: '/dashboard/floor', ...guards(), buildingFile: '/nowhere/building.json',
    store: { ...store, locations, latest: asked('latest', () => []) },
    sessions: createSessions({ adminUser: 'admin', adminPassword: 'word' }), health: () => ({ status: 'up' }), log: () => {}, ...others,
  });
  rig.call = async (path, options) => {
    const response = await fetch(base + path, { redirect: 'manual', ...options });
    const text = await response.text();
    return { status: response.status, headers: response.headers, url: response.url, text, get body() { return JSON.parse(text); } };
  };
  rig.hear = (staff, ts, rssi, room = 'a') => receive(rig.site, `sda/v1/phone/${staff}/readings`,
    Buffer.from(JSON.stringify({ ts, readings: [{ beacon: BEACONS[room], rssi }] })), rig.now);
  return rig;
}
const form = (data) => ({ method: 'POST', body: new URLSearchParams(data) });
const json = (data) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: typeof data === 'string' ? data : JSON.stringify(data) });
const get = (path, data) => `${path}?${new URLSearchParams(data)}`;

test('nobody gets the past before it is written that he asked', async (t) => {
  const order = [];
  const audit = { async lookedUp(_who, route) {
    await new Promise((resolve) => { setTimeout(resolve, 20); });
    order.push(`written ${route}`);
  } };
  const rig = await api(t, { audit, store: { events: async () => [] } });
  for (const path of ['/extractbeacon?staff_id=3&start_time=0&end_time=1', '/api/v1/events?subject=3&start=0&end=1']) {
    assert.equal((await rig.call(path)).status, 200);
    order.push('answered');
  }
  assert.deepEqual(order, ['written /extractbeacon', 'answered', 'written /api/v1/events', 'answered']);
});

test('/extractbeacon: newest first, both ends inclusive, by whole seconds, by every way of asking', async (t) => {
  const rig = await api(t);
  for (const [s, room] of [[-60, 'a'], [-50.001, 'a'], [-40, 'b'], [-30.2, 'c']]) rig.hear('3', (S + s) * 1000, TOUCH, room);
  const expected = { location: [
    { level: 'L1', location: 'Room B', timestamp: S - 40 }, { level: 'L1', location: 'Room A', timestamp: S - 51 },
    { level: 'L1', location: 'Room A', timestamp: S - 60 }] };
  const window = { staff_id: '3', start_time: S - 60, end_time: S - 40 };
  for (const answer of [await rig.call(get('/extractbeacon', window)), await rig.call('/extractbeacon', form(window)),
    await rig.call('/extractbeacon', json({ ...window, staff_id: 3 })), await rig.call(get('/extractbeacon', window), { method: 'POST' }),
    await rig.call(`/extractbeacon?staff_id=3`, json({ start_time: S - 60.9 + 0.9, end_time: `${S - 40}` }))]) {
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type'), /^application\/json/);
    assert.deepEqual(answer.body, expected);
  }
  const narrow = await rig.call(get('/extractbeacon', { ...window, start_time: S - 59.5, end_time: S - 41 }));
  assert.deepEqual(narrow.body.location.map(({ timestamp }) => timestamp), [S - 51]);
  assert.deepEqual((await rig.call(get('/extractbeacon', { ...window, staff_id: 'nobody' }))).body, { location: [] });
  assert.deepEqual(rig.asked.map(([, staff]) => staff), [], 'a recent window needs no database');
});

const bad = {
  'staff_id is missing': { staff_id: '' },
  'staff_id must be 1 to 64': { staff_id: 'a b' },
  'start_time is missing': { start_time: '' },
  'start_time is not a number': { start_time: 'now' },
  'end_time is not a number': { end_time: 'Infinity' },
  'start_time is not a number.': { start_time: 'NaN' },
  'start_time is not a number:': { start_time: '0x10' },
  'start_time looks like milliseconds': { start_time: S * 1000 },
  'end_time looks like milliseconds': { end_time: S * 1000 },
  'start_time must not be negative': { start_time: -1 },
  'start_time is after end_time': { start_time: S, end_time: S - 1 },
};
for (const [message, change] of Object.entries(bad)) {
  test(`400: ${message} (${JSON.stringify(change)})`, async (t) => {
    const { call } = await api(t);
    const answer = await call(get('/extractbeacon', { staff_id: '0', start_time: S - 1, end_time: S, ...change }));
    assert.equal(answer.status, 400);
    assert.ok(answer.body.error.startsWith(message.replace(/[.:]$/, '')), answer.text);
    assert.deepEqual(answer.body.location, []);
  });
}

test('400: repeated, of the wrong type, no object, no JSON, of a type nobody reads, too large', async (t) => {
  const { call } = await api(t);
  const window = { start_time: S - 1, end_time: S };
  const cases = [
    [get('/extractbeacon', [['staff_id', '0'], ['staff_id', '1'], ...Object.entries(window)]), {}, 400, /staff_id must be given once/],
    [get('/extractbeacon', { ...window, staff_id: '0' }), json({ staff_id: 1 }), 400, /staff_id must be given once/],
    ['/extractbeacon', json({ ...window, staff_id: ['0'] }), 400, /staff_id must be given once/],
    ['/extractbeacon', json({ ...window, staff_id: 1.5 }), 400, /staff_id must be/],
    ['/extractbeacon', json({ ...window, staff_id: { $gt: '' } }), 400, /staff_id must be/],
    ['/extractbeacon', json({ staff_id: 1, start_time: true, end_time: S }), 400, /start_time is not a number/],
    ['/extractbeacon', json('{"staff_id":'), 400, /not valid JSON/],
    ['/extractbeacon', json([1]), 400, /must be a JSON object/],
    ['/extractbeacon', json('7'), 400, /must be a JSON object/],
    ['/extractbeacon', { method: 'POST', body: 'x', headers: { 'content-type': 'text/csv' } }, 400, /text\/csv is not read/],
    ['/extractbeacon', json({ x: 'y'.repeat(20_000) }), 413, /larger than/],
    ['/extractbeacon', { method: 'DELETE' }, 405, /DELETE/],
  ];
  for (const [path, options, status, message] of cases) {
    const answer = await call(path, options);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.body.error, message);
    assert.deepEqual(answer.body.location, []);
  }
});

test('older history comes from the database, once, and only what memory lacks', async (t) => {
  const place = (room) => ({ level: 'L1', room });
  const stored = [{ staffId: '0', ms: [(S - 10) * 1000, (S - 20) * 1000], places: [place('gone'), place('a')] }];
  const rig = await api(t, { startedMs: (S - 5) * 1000, store: { locations: () => stored } });
  rig.hear('0', (S - 10) * 1000, -60, 'b'); // a backlog of the time before the start
  rig.hear('0', (S - 3) * 1000, -60, 'b');
  const answer = await rig.call(get('/extractbeacon', { staff_id: '0', start_time: S - 100, end_time: S }));
  assert.deepEqual(answer.body.location.map((record) => [record.location, record.timestamp - S]), [['Room B', -3], ['Room B', -10], ['Room A', -20]]);
  assert.deepEqual(rig.asked, [['locations', ['0'], (S - 100) * 1000, (S - 5) * 1000 - 1, 94.999]]);
});

test('503 with Retry-After for what only the database knows, memory is answered all the same', async (t) => {
  const away = () => { throw new StoreUnavailable('InfluxDB sleeps'); };
  const rig = await api(t, { startedMs: (S - 100) * 1000, store: { locations: away, latest: away } });
  rig.hear('0', (S - 3) * 1000, -60);
  assert.equal((await rig.call(get('/extractbeacon', { staff_id: '0', start_time: S - 100, end_time: S }))).body.location.length, 1);
  for (const path of [get('/extractbeacon', { staff_id: '0', start_time: S - 101, end_time: S }), '/retrieveformonitoring']) {
    const answer = await rig.call(path);
    assert.equal(answer.status, 503);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
    assert.match(answer.body.error, /InfluxDB sleeps/);
  }
  rig.now += 3600 * 1000;
  assert.equal((await rig.call('/retrieveformonitoring')).status, 200, 'by now memory knows everybody of the quarter of an hour');
});

test('/newbeacondetect: each is a point of its own, in whatever millisecond it comes', async (t) => {
  const rig = await api(t);
  const ask = (staff, room) => rig.call(get('/newbeacondetect', { staff_id: staff, beacon_address: BEACONS[room], rssi: -60 }));
  for (const [staff, room] of [['5', 'a'], ['5', 'a'], ['5', 'b'], ['6', 'a'], ['5', 'a']]) await ask(staff, room);
  const times = rig.sent.map(({ topic, payload }) => [topic.split('/')[3], JSON.parse(payload).ts - rig.now]);
  assert.deepEqual(times, [['5', 0], ['5', 1], ['5', 0], ['6', 0], ['5', 2]]);
  rig.sent.length = 0;
  rig.now += 10;
  await ask('5', 'a');
  assert.equal(JSON.parse(rig.sent[0].payload).ts, rig.now);
});

test('/retrieveformonitoring: the latest of each, newest first, room by name', async (t) => {
  const old = { ts: (S - 600) * 1000, staff_id: '7', level: 'L9', room: 'torn-down', beacon: 'B', rssi: -70 };
  const rig = await api(t, { startedMs: (S - 30) * 1000, store: { latest: () => [old, { ...old, staff_id: '0' }] } });
  rig.hear('1', (S - 4) * 1000, -60, 'a');
  rig.hear('0', (S - 3) * 1000, -60, 'a');
  rig.hear('1', (S - 2) * 1000, TOUCH, 'b');
  assert.deepEqual((await rig.call('/retrieveformonitoring', { method: 'POST' })).body, { data: [
    { staff_id: '1', level: 'L1', location: 'Room B', timestamp: S - 2, rssi: TOUCH, mac: BEACONS.b },
    { staff_id: '0', level: 'L1', location: 'Room A', timestamp: S - 3, rssi: -60, mac: BEACONS.a },
    { staff_id: '7', level: 'L9', location: 'torn-down', timestamp: S - 600, rssi: -70, mac: 'B' }] });
});

test('/retrieveformonitoring asks the database about the time before the start alone, once for all, and seldom again once it is located', async (t) => {
  const startedMs = (S - 30) * 1000;
  let sleeps = false;
  const old = () => {
    if (sleeps) throw new StoreUnavailable('InfluxDB sleeps');
    return [{ ts: (S - 600) * 1000, staff_id: '7', level: 'L1', room: 'a', beacon: 'B', rssi: -70 }];
  };
  let settledMs = startedMs - 1;
  const rig = await api(t, { startedMs, store: { latest: old }, settledMs: () => settledMs });
  const people = async () => (await rig.call('/retrieveformonitoring')).body.data.map(({ staff_id: id }) => id);
  assert.deepEqual(await Promise.all([people(), people(), people()]), [['7'], ['7'], ['7']]);
  assert.deepEqual(rig.asked, [['latest', (S - 900) * 1000, startedMs]]);
  rig.now += 4000;
  await people();
  assert.equal(rig.asked.length, 1);
  rig.now += 2000;
  sleeps = true;
  assert.deepEqual([await people(), await people()], [['7'], ['7']], 'who was there before the start is known by now');
  assert.equal(rig.asked.length, 2);
  [sleeps, settledMs] = [false, startedMs];
  rig.now += 6000;
  await people();
  assert.equal(rig.asked.length, 3);
  rig.now += 50_000;
  await people();
  assert.equal(rig.asked.length, 3, 'all of it was located when it was asked');
  rig.now += 11_000;
  await people();
  assert.equal(rig.asked.length, 4, 'late readings may have changed it');
  rig.now += 300_000;
  assert.deepEqual(await people(), [], 'a quarter of an hour ago by now');
});

test('/retrieveformonitoring: a database that takes long makes nobody wait, and its answer is there when it comes', async (t) => {
  const { promise, resolve } = Promise.withResolvers();
  const rig = await api(t, { startedMs: (S - 30) * 1000, store: { latest: () => promise } });
  const answer = await rig.call('/retrieveformonitoring');
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
  resolve([]);
  assert.equal((await rig.call('/retrieveformonitoring')).status, 200);
  assert.equal(rig.asked.length, 1);
});

test('/newbeacondetect answers what is no measurement as before; the flows count it and locate nobody', async (t) => {
  const rig = await api(t);
  for (const rssi of [0, -127, 20, 1, -0.4]) {
    const answer = await rig.call(get('/newbeacondetect', { staff_id: '5', beacon_address: BEACONS.a, rssi }));
    assert.deepEqual([answer.status, answer.text], [200, 'New Beacon Detection Added'], String(rssi));
    rig.now += 1;
  }
  const sent = rig.sent.filter(({ topic }) => topic === 'sda/v1/phone/5/readings');
  assert.equal(sent.length, 5);
  for (const { topic, payload } of sent) receive(rig.site, topic, Buffer.from(payload), rig.now);
  assert.deepEqual(rig.site.live.refusals.byReason(), { rssi_unknown: 5 });
  assert.deepEqual([rig.site.live.refusals.unmeasured()[0].count, rig.site.live.presences()], [5, []]);
  for (const rssi of [21, 127, -128]) {
    const { status } = await rig.call(get('/newbeacondetect', { staff_id: '5', beacon_address: BEACONS.a, rssi }));
    assert.equal(status, 400, String(rssi));
  }
});

test('/newbeacondetect publishes a phone batch and answers once the broker has it', async (t) => {
  const rig = await api(t);
  for (const [path, options] of [
    [get('/newbeacondetect', { user_address: '5', beacon_address: 'c2:a6:28:38:4b:08', rssi: '-20' }), {}],
    ['/newbeacondetect', json({ staff_id: 5, beacon_address: BEACONS.a, rssi: -20.2 })],
    ['/newbeacondetect', form({ staff_id: '5', beacon_address: 'c2-a6-28-38-4b-08', rssi: '-20' })]]) {
    const answer = await rig.call(path, options);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, 'New Beacon Detection Added');
    const { topic, payload, retain } = rig.sent.pop();
    assert.equal(topic, 'sda/v1/phone/5/readings');
    assert.equal(retain, false);
    assert.deepEqual(JSON.parse(payload), { v: 1, ts: rig.now, readings: [{ beacon: BEACONS.a, rssi: -20 }] });
    rig.now += 1;
  }
  const good = { staff_id: '5', beacon_address: BEACONS.a, rssi: '-20' };
  for (const [change, status, message] of [
    [{ staff_id: '' }, 400, /staff_id/], [{ beacon_address: '' }, 400, /beacon_address is missing/], [{ beacon_address: 'xyz' }, 400, /beacon_address/],
    [{ rssi: '' }, 400, /rssi is missing/], [{ rssi: 'loud' }, 400, /rssi is not a number/], [{ rssi: '-128' }, 400, /rssi must be from/],
    [{ beacon_address: '000000000001' }, 404, /no beacon 000000000001/]]) {
    const answer = await rig.call(get('/newbeacondetect', { ...good, ...change }));
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.body.error, message);
  }
  const nobody = await rig.call(get('/newbeacondetect', { beacon_address: BEACONS.a, rssi: '-20' }));
  assert.equal(nobody.status, 400);
  assert.match(nobody.body.error, /staff_id is missing/);
  rig.brokerUp = false;
  const answer = await rig.call(get('/newbeacondetect', good));
  assert.equal(answer.status, 503);
  assert.ok(answer.headers.has('retry-after'));
  assert.equal(rig.sent.length, 0);
});

test('/newbeacondetect makes only so many people that the building file does not list', async (t) => {
  const rig = await api(t);
  const detect = (staff) => rig.call(get('/newbeacondetect', { staff_id: staff, beacon_address: BEACONS.a, rssi: '-20' }));
  for (let i = 0; i < 1000; i += 1) assert.equal((await detect(`new-${i}`)).status, 200);
  const { status, body } = await detect('one-more');
  assert.equal(status, 403);
  assert.match(body.error, /1000 people .* add "one-more" to its staff/);
  for (const known of ['new-0', 'new-999', '0']) assert.equal((await detect(known)).status, 200, known);
  assert.equal(rig.sent.filter(({ topic }) => topic.endsWith('/readings')).length, 1003);
});

test('a key is needed from outside the trusted networks, and a wrong one is refused everywhere', async (t) => {
  const outside = await api(t, { trusted: () => false });
  const path = get('/extractbeacon', { staff_id: '0', start_time: S - 1, end_time: S });
  const status = async (rig, headers, where = path) => (await rig.call(where, { headers })).status;
  const { status: none, body, headers } = await outside.call(path);
  assert.equal(none, 401);
  assert.deepEqual(body.location, []);
  assert.match(body.error, /X-API-Key/);
  assert.equal(headers.get('www-authenticate'), 'Bearer');
  assert.equal(await status(outside, { authorization: `Bearer ${KEY}` }), 200);
  assert.equal(await status(outside, { 'x-api-key': KEY }), 200);
  for (const wrong of [{ 'x-api-key': 'x' }, { authorization: 'Bearer x' }, { authorization: `Basic ${KEY}` }, { 'x-forwarded-for': '127.0.0.1' }]) {
    assert.equal(await status(outside, wrong), 401);
  }
  for (const route of ['/newbeacondetect', '/retrieveformonitoring', '/api/v1/staff']) assert.equal(await status(outside, {}, route), 401);
  assert.equal(await status(outside, {}, '/health'), 200);
  assert.equal(await status(await api(t), { 'x-api-key': 'x' }), 401);
});

test('the rest: /health, /monitoring, / and what there is not', async (t) => {
  const { call } = await api(t);
  assert.deepEqual((await call('/health')).body, { status: 'up' });
  assert.equal((await call('/')).headers.get('location'), '/dashboard/floor');
  const { status: asked, headers } = await call('/monitoring', { headers: { accept: 'text/html' } });
  assert.deepEqual([asked, headers.get('location')], [302, '/login?next=%2Fmonitoring']);
  const { status, body } = await call('/api/v1/nothing?x=1');
  assert.equal(status, 404);
  assert.deepEqual(body, { error: 'there is no /api/v1/nothing' });
});

test('login, logout, and no open redirect', async (t) => {
  const { call } = await api(t);
  const login = (data) => call('/login', form(data));
  const page = await call('/login?next=/dashboard/floor%22%3E');
  assert.equal(page.status, 200);
  assert.ok(!page.text.includes('floor">'));
  assert.equal((await login({ user: 'admin', password: 'no' })).status, 401);
  const { status, headers } = await login({ user: 'admin', password: 'word', next: '/dashboard/x' });
  assert.equal(status, 303);
  assert.equal(headers.get('location'), '/dashboard/x');
  const cookies = headers.getSetCookie();
  assert.ok(cookies.length > 0 && cookies.every((cookie) => /httponly/i.test(cookie) && /samesite=lax/i.test(cookie)), cookies.join());
  for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '', 'x']) {
    assert.equal((await login({ user: 'admin', password: 'word', next })).headers.get('location'), '/dashboard/floor');
  }
  const cookie = cookies.map((one) => one.split(';')[0]).join('; ');
  assert.equal((await call('/login', { headers: { cookie } })).status, 302);
  assert.equal((await call('/logout', { method: 'POST', headers: { cookie } })).headers.get('location'), '/login');
  assert.equal((await call('/login', { headers: { cookie } })).status, 200, 'the old cookie is worth nothing after a logout');
});

test('guessing passwords is bounded, and a right one is never refused for wrong ones from the same address', async (t) => {
  const paceMs = 100;
  const sessions = createSessions({ adminUser: 'admin', adminPassword: 'word' }, Date.now, { attempts: createAttempts({ paceMs, waiting: 4 }) });
  const { call } = await api(t, { sessions });
  const attempt = (password) => call('/login', form({ user: 'admin', password }));
  const statuses = [];
  for (let i = 0; i < 12; i += 1) statuses.push((await attempt(String(i))).status);
  assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429]);
  assert.equal((await attempt('word')).status, 303);

  const beganMs = performance.now();
  const guesses = Promise.all(Array.from({ length: 3 }, (_, i) => attempt(`guess ${i}`)));
  assert.equal((await attempt('word')).status, 303, 'it only waits for its turn');
  assert.ok((await guesses).every(({ status, headers }) => status === 429 && Number(headers.get('retry-after')) > 0));
  assert.ok(performance.now() - beganMs >= 2 * paceMs, 'each guess takes its turn');

  const floodMs = performance.now();
  const flood = await Promise.all(Array.from({ length: 20 }, (_, i) => attempt(`flood ${i}`)));
  const turns = Math.ceil((performance.now() - floodMs) / paceMs); // a busy machine takes longer to send them
  assert.ok(flood.filter(({ text }) => text.includes('is wrong')).length <= Math.max(6, 5 + turns), 'the others are not looked at');
  assert.ok(flood.every(({ status }) => status === 429));
});

test('a login does not make up for guesses at another one', async (t) => {
  const accounts = { adminUser: 'admin', adminPassword: 'word', viewerUser: 'viewer', viewerPassword: 'look' };
  const { call } = await api(t, { sessions: createSessions(accounts, Date.now, { attempts: createAttempts({ paceMs: 1 }) }) });
  const statuses = [];
  for (let i = 0; i < 11; i += 1) {
    statuses.push((await call('/login', form({ user: 'admin', password: String(i) }))).status);
    assert.equal((await call('/login', form({ user: 'viewer', password: 'look' }))).status, 303);
  }
  assert.deepEqual(statuses, [...Array(10).fill(401), 429]);
});

test('Basic credentials that are right are good whatever others guess', async (t) => {
  const sessions = createSessions({ adminUser: 'admin', adminPassword: 'word' }, Date.now, { attempts: createAttempts({ paceMs: 1 }) });
  const { call } = await api(t, { sessions });
  const basic = (password) => call('/pages/plans/L9', { headers: { authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}` } });
  for (let i = 0; i < 12; i += 1) assert.equal((await basic(String(i))).status, 401);
  assert.equal((await basic('word')).status, 404, 'let in; there is no such plan');
});

test('a wrong method is 405 with what is possible, a HEAD detects nothing', async (t) => {
  const rig = await api(t);
  const detection = get('/newbeacondetect', { staff_id: '5', beacon_address: BEACONS.a, rssi: '-20' });
  for (const [path, method, allow] of [
    [detection, 'HEAD', 'GET, POST'], [detection, 'PUT', 'GET, POST'], ['/extractbeacon', 'DELETE', 'GET, HEAD, POST'],
    ['/health', 'POST', 'GET, HEAD'], ['/', 'POST', 'GET, HEAD'], ['/login', 'PUT', 'GET, HEAD, POST'],
    ['/logout', 'GET', 'POST'], ['/health', 'OPTIONS', 'GET, HEAD'], ['/api/v1/rebuild', 'DELETE', 'GET, HEAD, POST']]) {
    const answer = await rig.call(path, { method, headers: { 'x-api-key': KEY } });
    assert.equal(answer.status, 405, `${method} ${path}`);
    assert.equal(answer.headers.get('allow'), allow);
    assert.match(answer.headers.get('content-type'), /^application\/json/);
    if (method !== 'HEAD') assert.match(answer.body.error, new RegExp(`^${method} is not possible here`));
  }
  assert.equal(rig.sent.length, 0);
  for (const path of ['/health', '/retrieveformonitoring']) assert.equal((await rig.call(path, { method: 'HEAD' })).status, 200);
});

test('what there is not is 404 in JSON', async (t) => {
  const { call } = await api(t);
  for (const [path, method] of [['/nothing', 'GET'], ['/extractbeacon/x', 'GET'], ['/health/x', 'POST'], ['/monitoring/x', 'GET'], ['/login/x', 'PUT'],
    ['/dashboards', 'GET'], ['/dashboard/floor', 'GET'], ['/%ZZ', 'GET'], ['/<script>', 'GET'], ['/api/v2', 'GET']]) {
    const answer = await call(path, { method });
    assert.equal(answer.status, 404, path);
    assert.match(answer.headers.get('content-type'), /^application\/json/);
    assert.match(answer.body.error, /^there is no \//);
  }
});

test('no trust for what a foreign page has a browser send, unless it knows the key', async (t) => {
  const rig = await api(t);
  const detection = (headers) => rig.call('/newbeacondetect', { ...form({ staff_id: '5', beacon_address: BEACONS.a, rssi: '-20' }), headers });
  const { origin } = new URL((await rig.call('/health')).url);
  for (const headers of [{ origin: 'http://evil.example' }, { origin: 'null' }, { origin: 'http://127.0.0.1:1' }, { origin: `${origin}.evil.example` },
    { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
    assert.equal((await detection(headers)).status, 401, JSON.stringify(headers));
    assert.equal((await detection({ ...headers, 'x-api-key': KEY })).status, 200);
  }
  assert.equal(rig.sent.length, 6);
  for (const headers of [{}, { origin }, { origin, 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }]) {
    assert.equal((await detection(headers)).status, 200, JSON.stringify(headers));
  }
});

test('after ten wrong keys wrong ones have to wait; a right one is never refused for them, nor who sends none', async (t) => {
  const rig = await api(t);
  const status = async (headers) => (await rig.call('/retrieveformonitoring', { headers })).status;
  const guesses = [];
  for (let i = 0; i < 12; i += 1) guesses.push(await status({ 'x-api-key': String(i) }));
  assert.deepEqual(guesses, [...Array(10).fill(401), 429, 429]);
  assert.equal(await status({ authorization: `Bearer ${KEY}` }), 200);
  const { status: wrong, headers, body } = await rig.call('/extractbeacon', { headers: { authorization: 'Bearer 13' } });
  assert.equal(wrong, 429, 'a right one in between does not make up for wrong ones');
  assert.ok(Number(headers.get('retry-after')) > 0);
  assert.deepEqual(body.location, []);
  assert.equal(await status({}), 200);
  rig.now += 5 * 60_000;
  assert.equal(await status({ 'x-api-key': '14' }), 401);
});

test('a forwarded request has no trust of the proxy that sends it', async (t) => {
  const rig = await api(t);
  for (const headers of [{ 'x-forwarded-for': '192.0.2.1' }, { 'x-forwarded-for': '127.0.0.1' }, { forwarded: 'for=127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' }, { via: '1.1 proxy' }, { 'x-forwarded-proto': 'https' }]) {
    assert.equal((await rig.call('/retrieveformonitoring', { headers })).status, 401, JSON.stringify(headers));
    assert.equal((await rig.call('/retrieveformonitoring', { headers: { ...headers, 'x-api-key': KEY } })).status, 200);
  }
});

test('behind a configured proxy callers are distinguished by X-Forwarded-For, and none has the trust of loopback', async (t) => {
  const { clientOf } = createClients({ trustedProxies: ['127.0.0.1'] });
  const rig = await api(t, { clientOf, trusted: (address) => address === '192.0.2.1' || address.startsWith('127.') });
  const call = (forwarded, headers = {}) => rig.call('/api/v1/me', { headers: { ...headers, 'x-forwarded-for': forwarded } });
  assert.equal((await call('192.0.2.1')).body.name, '192.0.2.1');
  assert.equal((await rig.call('/api/v1/me')).body.name, '127.0.0.1', 'nothing was forwarded');
  for (const forwarded of ['198.51.100.7', '127.0.0.1', '192.0.2.1, 198.51.100.7', '127.0.0.1, 198.51.100.7', '192.0.2.1, 127.0.0.2', 'unknown', '']) {
    assert.equal((await call(forwarded)).status, 401, forwarded);
  }
  for (let i = 0; i < 10; i += 1) await call('198.51.100.7', { 'x-api-key': String(i) });
  assert.equal((await call('198.51.100.7', { 'x-api-key': 'x' })).status, 429);
  assert.equal((await call('198.51.100.8', { 'x-api-key': 'x' })).status, 401, 'who has guessed nothing');
  assert.equal((await call('192.0.2.1, 198.51.100.7', { 'x-api-key': 'x' })).status, 429, 'what a caller writes itself does not count');
});

test("how sure a room is changes no byte of HACS's answers", async (t) => {
  const said = {};
  for (const sureness of [{ probability: null, runner_up: null }, { probability: 0.41, runner_up: 'b' }, { probability: 1, runner_up: null, corrected: true }]) {
    const rig = await api(t);
    const one = { ts: (S - 5) * 1000, staff_id: '3', level: 'L1', room: 'a', beacon: BEACONS.a, rssi: -60, ...sureness };
    rig.site.memory.history.add(one, rig.now);
    for (const path of ['/extractbeacon?staff_id=3', '/extractbeacon?staff_id=3,4', '/extractbeacon?staff_id=*', '/retrieveformonitoring']) {
      const { text } = await rig.call(`${path}${path.includes('?') ? '&' : '?'}start_time=${S - 10}&end_time=${S}`);
      assert.equal(text, said[path] ??= text);
      assert.match(text, /"level":"L1"/);
    }
  }
  const at = `"level":"L1","location":"Room A","timestamp":${S - 5}`;
  assert.equal(said['/extractbeacon?staff_id=3'], `{"location":[{${at}}]}`);
  assert.equal(said['/extractbeacon?staff_id=*'], `{"location":[{"staff_id":"3",${at}}]}`);
  assert.equal(said['/retrieveformonitoring'], `{"data":[{"staff_id":"3",${at},"rssi":-60,"mac":"${BEACONS.a}"}]}`);
});

test('/api/v1 says how sure each room is: of presences, of people in rooms, and of locations old and new', async (t) => {
  const placed = { level: 'L1', room: 'a', beacon: BEACONS.a, rssi: -60 };
  const old = { ...placed, ts: (S - 900) * 1000, probability: null, runner_up: null };
  const asked = [];
  const rig = await api(t, { store: { placesOf: async (...args) => {
    asked.push(args.at(-1));
    return args.at(-1) ? [] : [old];
  } } });
  const recent = [{ probability: 0.41, runner_up: 'b' }, { probability: 0.98, runner_up: 'b', corrected: true }, { probability: 1, runner_up: null }];
  recent.forEach((one, n) => rig.site.memory.history.add({ ...placed, staff_id: '3', ts: (S - 9 + n) * 1000, ...one }, rig.now));
  const path = get('/api/v1/staff/3/locations', { start: S - 1000, end: S });
  const { body: { locations } } = await rig.call(path);
  assert.deepEqual(locations.map(({ probability, probably, runner_up: other, corrected }) => [probability, probably, other, corrected]),
    [[null, false, null, null], [0.41, true, 'b', false], [0.98, false, null, true], [1, false, null, false]]);
  const doubtful = (await rig.call(`${path}&doubtful=1`)).body.locations;
  assert.deepEqual(doubtful, locations.slice(1, 3));
  assert.equal((await rig.call(`${path}&doubtful=maybe`)).status, 400);
  assert.deepEqual(asked, [false, true]);
  rig.hear('5', (S - 2) * 1000, TOUCH, 'b');
  rig.hear('5', (S - 1) * 1000, TOUCH, 'b');
  const { presence } = (await rig.call('/api/v1/staff/5')).body;
  assert.deepEqual(Object.keys(presence), ['level', 'room', 'probability', 'probably', 'runner_up', 'since', 'ts', 'state']);
  assert.ok(presence.probability >= 0.7 && presence.probably === false, JSON.stringify(presence));
  const { people: [here] } = (await rig.call('/api/v1/rooms/b')).body;
  assert.deepEqual([here.probability, here.probably, here.runner_up], [presence.probability, false, presence.runner_up]);
});
