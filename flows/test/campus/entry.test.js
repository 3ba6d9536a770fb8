'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { makeKey, writeKeys } = require('../../lib/access/keys/ring');
const { createCampus } = require('../../lib/campus');
const { until } = require('../support/stack');

// The entry over HTTP, with sites that answer what a test says.
const silent = { info: () => {}, warn: () => {}, error: () => {} };
const SITE_KEY = 'key-of-the-entry';

/** What a site that is well says of itself. */
const WELL = { '/health': { body: { status: 'up', parts: {} } }, '/api/v1/me': { body: { rights: ['history', 'presence', 'forward'] } } };

/** A site: answers by path; a function gets the request and its body, and answers itself. */
async function site(t, name, answers = {}) {
  const asked = [];
  const server = http.createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('');
    const { pathname, search } = new URL(request.url, 'http://site');
    if (!(pathname in WELL)) asked.push({ path: pathname + search, body: body && JSON.parse(body), headers: request.headers });
    const answer = answers[pathname] ?? WELL[pathname];
    if (typeof answer === 'function') {
      answer(response, { search, body });
      return;
    }
    const { status = 200, headers = {}, body: data } = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(typeof data === 'string' ? data : JSON.stringify(data));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); server.closeAllConnections(); });
  return { config: { name, url: `http://127.0.0.1:${server.address().port}`, ca: null, key: SITE_KEY }, asked, answers, server };
}

/** The entry of these sites. */
async function entry(t, sites, more = {}) {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'sda-campus-'));
  t.after(() => fs.rmSync(dataDir, { recursive: true }));
  const { record, key } = makeKey([], { name: 'hacs', rights: ['history', 'presence'], expiresMs: null }, Date.now());
  fs.writeFileSync(path.join(dataDir, 'keys.json'), writeKeys([record]), { mode: 0o600 });
  const campus = createCampus({ bind: '127.0.0.1', port: 0, https: null, dataDir, hostNames: [], trustedNets: [], trustedProxies: [], ratePerS: 1000,
    timeoutMs: 20_000, sites: sites.map(({ config }) => config), ...more }, { version: '1', log: silent });
  await campus.start();
  const server = campus.app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); server.closeAllConnections(); campus.close(); });
  return async (route, { headers = {}, ...options } = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}${route}`, { ...options, headers: { 'x-api-key': key, ...headers } });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text.startsWith('{') ? JSON.parse(text) : null };
  };
}

const at = (timestamp, location = 'Lobby') => ({ level: 'L1', location, timestamp });
const history = (completeMs, ...records) => ({ body: { location: records }, headers: { 'x-complete-until-ms': String(completeMs) } });
const POLL = '/extractbeacon?staff_id=3&start_time=100&end_time=200';
const AWAY = { status: 503, headers: { 'retry-after': '7' }, body: { error: 'history is not available: InfluxDB is away', location: [] } };

test('a history of two sites is one, complete as far as both are; the sites learn who asks', async (t) => {
  const north = await site(t, 'north', { '/extractbeacon': history(150_000, at(130, 'A'), at(110, 'A')) });
  const south = await site(t, 'south', { '/extractbeacon': history(170_000, at(130, 'B'), at(120, 'B')) });
  const call = await entry(t, [north, south]);
  const answer = await call(POLL);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body.location.map(({ timestamp, location, site: where }) => [timestamp, location, where]),
    [[130, 'A', 'north'], [120, 'B', 'south'], [110, 'A', 'north']]);
  assert.equal(answer.headers.get('x-complete-until-ms'), '150000');
  const [{ body, headers }] = south.asked;
  assert.deepEqual(body, { staff_id: '3', start_time: 100, end_time: 200 });
  assert.deepEqual([headers['x-api-key'], headers['x-on-behalf-of']], [SITE_KEY, 'hacs']);
});

for (const [what, answer, reason, again, times = {}] of [
  ['says 503', AWAY, /site south: history is not available: InfluxDB is away/, '7'],
  ['is too busy', { status: 429, headers: { 'retry-after': '3' }, body: { error: 'too many requests of campus' } }, /site south: too many/, '3'],
  ['refuses the key', { status: 401, body: { error: 'the key is wrong' } }, /site south refuses the campus entry: the key is wrong/, '30'],
  ['fails', { status: 500, body: 'oops' }, /site south answers HTTP 500/, '5'],
  ['answers something else', { status: 200, body: '<html>' }, /site south ended its answer|something else than records/, '5'],
  ['breaks off', (response) => { response.writeHead(200).write('{"location":[{"level":"L1",'); setImmediate(() => response.destroy()); }, /site south/, '5'],
  ['says nothing', () => {}, /site south does not answer within 1000 ms/, '5', { timeoutMs: 1000 }],
]) {
  test(`no half of an answer where a site ${what}`, async (t) => {
    const north = await site(t, 'north', { '/extractbeacon': history(1, at(130)) });
    const south = await site(t, 'south', { '/extractbeacon': answer });
    const call = await entry(t, [north, south], times);
    const { status, headers, body, text } = await call(POLL);
    assert.equal(status, 503, text);
    assert.match(body.error, reason);
    assert.deepEqual([headers.get('retry-after'), body.location], [again, []]);
    south.answers['/extractbeacon'] = history(1);
    assert.equal((await call(POLL)).status, 200, 'and goes on when it is back');
  });
}

test('an answer too large to be held is broken off with its site, and everything goes on', async (t) => {
  const many = JSON.stringify({ location: Array.from({ length: 30_000 }, (_, i) => at(1_000_000 - i)) }).slice(0, -2);
  const north = await site(t, 'north', { '/extractbeacon': { body: `${many}]}` } });
  const south = await site(t, 'south', { '/extractbeacon': (response) => { response.writeHead(200).write(many, () => response.destroy()); } });
  const call = await entry(t, [north, south]);
  await assert.rejects(call(POLL), 'the connection is closed without an end');
  south.answers['/extractbeacon'] = { body: `${many}]}` };
  assert.equal((await call(POLL)).body.location.length, 30_000);
});

test('bad input has the messages of a site, and disturbs none', async (t) => {
  const sites = [await site(t, 'north'), await site(t, 'south')];
  const call = await entry(t, sites);
  for (const [route, status, error] of [
    ['/extractbeacon?staff_id=0&end_time=1', 400, 'start_time is missing'],
    ['/extractbeacon?staff_id=0&start_time=2&end_time=1', 400, 'start_time is after end_time'],
    ['/extractbeacon?staff_id=a%20b&start_time=1&end_time=2', 400, 'staff_id must be 1 to 64 letters, digits, "_", "." or "-", or the ids of 1000 '
      + 'staff members at most with commas between them, or * for all'],
    ['/newbeacondetect?staff_id=0&beacon_address=x&rssi=-5', 400, 'beacon_address is no beacon id: twelve hex digits, or one of the longer forms'],
    ['/api/v1/staff?limit=0', 400, 'limit must be a whole number from 1 to 10000'],
    ['/api/v1/rooms', 404, 'there is no /api/v1/rooms'],
    ['/elsewhere', 404, 'there is no /elsewhere'],
  ]) assert.deepEqual([(await call(route)).status, (await call(route)).body.error], [status, error]);
  assert.equal((await call('/newbeacondetect', { method: 'HEAD' })).status, 405);
  assert.equal((await call('/extractbeacon', { method: 'PUT' })).status, 405);
  assert.equal((await call(POLL, { headers: { 'x-api-key': 'sda_00000000_wrong' } })).status, 401);
  assert.equal((await call(POLL, { headers: { 'x-api-key': '' } })).status, 401);
  assert.deepEqual(sites.map(({ asked }) => asked.length), [0, 0]);
});

test('a detection goes to the site that has the beacon; where none says so it is 404, where one is away 503', async (t) => {
  const none = { status: 404, body: { error: 'there is no beacon C2A628384B08 in the building file' } };
  const north = await site(t, 'north', { '/newbeacondetect': none });
  const south = await site(t, 'south', { '/newbeacondetect': (response) => response.end('New Beacon Detection Added') });
  const call = await entry(t, [north, south]);
  const detect = () => call('/newbeacondetect', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'user_address=3&beacon_address=C2A628384B08&rssi=-20' });
  assert.deepEqual([(await detect()).status, (await detect()).text], [200, 'New Beacon Detection Added']);
  assert.deepEqual(south.asked[0].body, { staff_id: '3', beacon_address: 'C2A628384B08', rssi: -20 });
  south.answers['/newbeacondetect'] = none;
  const { status, body } = await detect();
  assert.deepEqual([status, body.error], [404, 'there is no beacon C2A628384B08 in the building file of any site']);
  south.server.close();
  south.server.closeAllConnections();
  assert.equal((await detect()).status, 503, 'it may be the one that has the beacon');
});

test('somebody who walks over is at one place; everybody is listed once, page by page', async (t) => {
  const person = (id, ts, more = {}) => ({ staff_id: id, name: null, listed: false, tags: [], level_db: null, level_sd_db: null,
    presence: ts === null ? null : { level: 'L1', room: 'a', since: 1, ts, state: 'present' }, ...more });
  const latest = (timestamp) => ({ body: { data: [{ staff_id: '3', ...at(timestamp), rssi: -60, mac: 'AA' }] } });
  const north = await site(t, 'north', { '/retrieveformonitoring': latest(100), '/api/v1/staff': { body: { staff: [person('1', null), person('3', 5)], next: null } },
    '/api/v1/staff/3': { body: person('3', 5) }, '/api/v1/staff/9': { status: 404, body: { error: 'there is no staff member 9' } } });
  const south = await site(t, 'south', { '/retrieveformonitoring': latest(101), '/api/v1/staff/3': { body: person('3', 9) },
    '/api/v1/staff/9': { status: 404, body: { error: 'there is no staff member 9' } },
    '/api/v1/staff': (response, { search }) => response.end(JSON.stringify(search.includes('cursor=c')
      ? { staff: [person('7', null)], next: null } : { staff: [person('3', 9)], next: 'c' })) });
  const [call, other] = [await entry(t, [north, south]), await entry(t, [north, south])];
  const { body: { data } } = await call('/retrieveformonitoring');
  assert.deepEqual(data.map(({ timestamp, site: where }) => [timestamp, where]), [[101, 'south']]);
  const first = (await call('/api/v1/staff?limit=2')).body;
  assert.deepEqual(first.staff.map(({ staff_id: id, presence }) => [id, presence?.site]), [['1', undefined], ['3', 'south']]);
  const second = (await other(`/api/v1/staff?limit=2&cursor=${first.next}`)).body;
  assert.deepEqual([second.staff.map(({ staff_id: id }) => id), second.next], [['7'], null]);
  assert.equal((await call('/api/v1/staff/3')).body.presence.site, 'south');
  assert.deepEqual((await call('/api/v1/staff/9')).body, { error: 'there is no staff member 9' });
});

test('locations and stays are those of all sites; unknown at one of them is no error', async (t) => {
  const past = (list) => ({ staff_id: '3', start_ms: 0, end_ms: 60_000, complete_until_ms: 50_000, ...list, next: null });
  const stay = { level: 'L1', room: 'a', enter_ms: 1000, leave_ms: 2000, duration_s: 1, ongoing: false };
  const unknown = { status: 404, body: { error: 'there is no staff member 3' } };
  const north = await site(t, 'north', { '/api/v1/staff/3/locations': { body: past({ locations: [{ ts: 1000, level: 'L1', room: 'a', beacon: 'A', rssi: -5 }] }) },
    '/api/v1/staff/3/stays': { body: past({ stays: [stay] }) } });
  const south = await site(t, 'south', { '/api/v1/staff/3/locations': unknown, '/api/v1/staff/3/stays': { body: past({ stays: [{ ...stay, enter_ms: 500 }] }) } });
  const call = await entry(t, [north, south]);
  const window = 'start=1970-01-01T00:00:00Z&end=1970-01-01T00:01:00Z';
  const { body } = await call(`/api/v1/staff/3/locations?${window}`);
  assert.deepEqual(body, { ...past({ locations: [{ ts: 1000, level: 'L1', room: 'a', beacon: 'A', rssi: -5, site: 'north' }] }) });
  assert.match(south.asked[0].path, /start=1970-01-01T00%3A00%3A00.000Z&end=1970-01-01T00%3A01%3A00.000Z&limit=1000$/);
  const { body: { stays } } = await call(`/api/v1/staff/3/stays?${window}`);
  assert.deepEqual(stays.map(({ enter_ms: ms, site: where }) => [ms, where]), [[500, 'south'], [1000, 'north']]);
  north.answers['/api/v1/staff/3/stays'] = AWAY;
  assert.equal((await call(`/api/v1/staff/3/stays?${window}`)).status, 503);
});

test('/health and /metrics say which site is away, and strangers learn no reason', async (t) => {
  const north = await site(t, 'north');
  const south = await site(t, 'south', { '/health': { body: { status: 'degraded', parts: { broker: { status: 'degraded' }, keys: { status: 'up' } } } } });
  const strict = await site(t, 'east', { '/api/v1/me': { body: { rights: ['history'] } } });
  const gone = { config: { name: 'west', url: 'http://127.0.0.1:1', ca: null, key: 'x' } };
  const call = await entry(t, [north, south, strict, gone]);
  const { status, body } = await call('/health');
  assert.deepEqual([status, body.status, body.sites], [200, 'degraded', { north: { status: 'up' },
    south: { status: 'degraded', reason: 'its /health says so: broker' },
    east: { status: 'away', reason: 'does not give the entry\'s key the right presence, forward: make one with --right history --right presence --right forward' },
    west: { status: 'away', reason: 'does not answer: nothing listens at its address' } }]);
  assert.deepEqual((await call('/health', { headers: { 'x-api-key': '' } })).body.sites.west, { status: 'away' });
  const { text } = await call('/metrics');
  assert.match(text, /sda_campus_site_up\{site="west"\} 0/);
  assert.match(text, /sda_campus_site_up\{site="north"\} 1/);
  assert.match(text, /sda_campus_site_failures_total\{site="west"\} 1/);
});

test('a site that does not answer again and again is not waited for, and asked again when it is back', async (t) => {
  const north = await site(t, 'north', { '/retrieveformonitoring': { body: { data: [] } } });
  let isFrozen = false;
  const south = await site(t, 'south');
  const answering = (data) => (response) => { if (!isFrozen) response.end(JSON.stringify(data)); };
  south.answers['/retrieveformonitoring'] = answering({ data: [] });
  for (const [route, { body }] of Object.entries(WELL)) south.answers[route] = answering(body);
  const call = await entry(t, [north, south], { timeoutMs: 500 });
  await until('both answer', async () => (await call('/retrieveformonitoring')).status === 200);
  isFrozen = true;
  const asked = () => south.asked.length;
  for (let before = -1; before !== asked();) { // until it is not asked any more
    before = asked();
    assert.equal((await call('/retrieveformonitoring')).status, 503);
  }
  assert.equal((await call('/retrieveformonitoring')).body.error, 'site south does not answer within 500 ms');
  isFrozen = false;
  await until('it is asked again', async () => (await call('/retrieveformonitoring')).status === 200);
});

test('contacts at several sites count together', async (t) => {
  const meeting = (start, end) => ({ level: 'L1', room: 'a', start_ms: start, end_ms: end, duration_s: (end - start) / 1000 });
  const contact = (id, name, ...meetings) => ({ staff_id: id, name, total_s: 0, longest_s: 0, meetings });
  const answer = (...contacts) => ({ body: { staff_id: '3', start_ms: 0, end_ms: 60_000, complete_until_ms: 60_000, count: contacts.length, contacts } });
  const north = await site(t, 'north', { '/api/v1/staff/3/contacts': answer(contact('7', null, meeting(5000, 9000)), contact('8', 'Ben', meeting(0, 5000))) });
  const south = await site(t, 'south', { '/api/v1/staff/3/contacts': answer(contact('7', 'Ann', meeting(1000, 4000)), contact('9', 'Zoe', meeting(0, 1000))) });
  const call = await entry(t, [north, south]);
  const { body } = await call('/api/v1/staff/3/contacts?start=1970-01-01T00:00:00Z&end=1970-01-01T00:01:00Z&least_s=4&limit=1');
  assert.deepEqual(body, { staff_id: '3', start_ms: 0, end_ms: 60_000, complete_until_ms: 60_000, count: 2, contacts: [{ staff_id: '7', name: 'Ann',
    total_s: 7, longest_s: 4, meetings: [{ ...meeting(1000, 4000), site: 'south' }, { ...meeting(5000, 9000), site: 'north' }] }] });
  assert.match(south.asked[0].path, /end=1970-01-01T00%3A01%3A00.000Z&limit=1000$/, 'what is too short at one site may be enough at both');
  south.answers['/api/v1/staff/3/contacts'] = { body: { ...answer().body, count: 1001 } };
  assert.equal((await call('/api/v1/staff/3/contacts?start=0&end=60')).status, 400, 'no half of the contacts');
});

test('a description of what it answers, and nothing else', async (t) => {
  const call = await entry(t, [await site(t, 'north')]);
  const { body } = await call('/api/v1/openapi.json', { headers: { 'x-api-key': '' } });
  assert.deepEqual(Object.keys(body.paths).sort(), ['/api/v1/staff', '/api/v1/staff/{staff_id}', '/api/v1/staff/{staff_id}/contacts',
    '/api/v1/staff/{staff_id}/locations', '/api/v1/staff/{staff_id}/stays', '/extractbeacon', '/newbeacondetect', '/retrieveformonitoring']);
  assert.ok(body.components.schemas.HacsRecord.required.includes('site'));
});

test('a site that breaks off is no answer at once, whoever else still pauses', async (t) => {
  const north = await site(t, 'north', { '/extractbeacon': (response) => { response.writeHead(200).write('{"location":['); } });
  const south = await site(t, 'south', { '/extractbeacon': (response) => { response.writeHead(200).write('{"loc', () => response.destroy()); } });
  const call = await entry(t, [north, south]);
  const began = performance.now();
  const { status, body } = await call(POLL);
  assert.deepEqual([status, body.error], [503, 'site south broke off in the middle of its answer']);
  assert.ok(performance.now() - began < 5000, 'sooner than the time that a site may pause');
});
