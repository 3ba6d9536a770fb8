'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { AWAY, entry, site, WELL } = require('./support/campus');
const { until } = require('../../../../flows/test/support/stack');

// The entry over HTTP, with sites that answer what a test says.
const at = (timestamp, location = 'Lobby') => ({ level: 'L1', location, timestamp });
const history = (completeMs, ...records) => ({ body: { location: records }, headers: { 'x-complete-until-ms': String(completeMs) } });
const POLL = '/extractbeacon?staff_id=3&start_time=100&end_time=200';

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
  assert.deepEqual([headers['x-api-key'], headers['x-on-behalf-of']], ['key-of-the-entry', 'hacs']);
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
    ['/api/v1/levels', 404, 'there is no /api/v1/levels'],
    ['/api/v1/rooms?site=west', 400, 'site must be one of north, south'],
    ['/api/v1/events?type=party', 400, /^type must be one of enter, leave, /],
    ['/elsewhere', 404, 'there is no /elsewhere'],
  ]) {
    const answer = await call(route);
    assert.equal(answer.status, status);
    if (error instanceof RegExp) assert.match(answer.body.error, error);
    else assert.equal(answer.body.error, error);
  }
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
  const sure = { ts: 2000, level: 'L1', room: 'a', probability: 0.9, probably: false, runner_up: 'b', corrected: false };
  const doubtful = { ...sure, ts: 3000, probability: 0.5, probably: true };
  north.answers['/api/v1/staff/3/locations'] = { body: past({ locations: [sure, doubtful] }) };
  assert.deepEqual((await call(`/api/v1/staff/3/locations?${window}&doubtful=1`)).body.locations, [{ ...doubtful, site: 'north' }]);
  assert.match(south.asked[0].path, /start=1970-01-01T00%3A00%3A00.000Z&end=1970-01-01T00%3A01%3A00.000Z&limit=1000$/);
  const { body: { stays } } = await call(`/api/v1/staff/3/stays?${window}`);
  assert.deepEqual(stays.map(({ enter_ms: ms, site: where }) => [ms, where]), [[500, 'south'], [1000, 'north']]);
  north.answers['/api/v1/staff/3/stays'] = AWAY;
  assert.equal((await call(`/api/v1/staff/3/stays?${window}`)).status, 503);
});

const PAST = { start_ms: 0, end_ms: 60_000, complete_until_ms: 60_000 };
const WINDOW = 'start=1970-01-01T00:00:00Z&end=1970-01-01T00:01:00Z';

test('events of all sites, newest first; a page goes on at any entry, and asks for what follows alone', async (t) => {
  const event = (ts, subject) => ({ ts, type: 'enter', subject, staff_id: subject, level: 'L1', room: 'a' });
  const listing = (...events) => (response, { search }) => {
    const end = Date.parse(new URLSearchParams(search).get('end'));
    const complete = Math.min(end, 50_000);
    response.end(JSON.stringify({ ...PAST, complete_until_ms: complete, events: events.filter(({ ts }) => ts < end), next: null }));
  };
  const north = await site(t, 'north', { '/api/v1/events': listing(event(9000, '3'), event(5000, '3')) });
  const south = await site(t, 'south', { '/api/v1/events': listing(event(7000, '1'), event(5000, '1')) });
  const [call, other] = [await entry(t, [north, south]), await entry(t, [north, south])];
  const first = (await call(`/api/v1/events?type=enter&limit=2&${WINDOW}`)).body;
  assert.deepEqual({ ...first, next: null }, { ...PAST, complete_until_ms: 50_000, next: null,
    events: [{ ...event(9000, '3'), site: 'north' }, { ...event(7000, '1'), site: 'south' }] });
  assert.match(south.asked[0].path, /\?type=enter&start=1970-01-01T00%3A00%3A00.000Z&end=1970-01-01T00%3A01%3A00.000Z&limit=3$/);
  const second = (await other(`/api/v1/events?type=enter&limit=2&cursor=${first.next}`)).body;
  assert.deepEqual(second.events.map(({ ts, site: where }) => [ts, where]), [[5000, 'south'], [5000, 'north']], 'of one moment by subject');
  assert.deepEqual([second.next, second.complete_until_ms], [null, 50_000], 'what the page before read is no more complete than it was');
  assert.match(south.asked[1].path, /end=1970-01-01T00%3A00%3A07.001Z&limit=4$/);
  assert.equal((await call(`/api/v1/events?type=leave&cursor=${first.next}`)).status, 400, 'a cursor of another question');
  south.answers['/api/v1/events'] = AWAY;
  const { status, headers } = await call(`/api/v1/events?${WINDOW}`);
  assert.deepEqual([status, headers.get('retry-after')], [503, '7'], 'no half of the events');
  const ofNorth = (await call(`/api/v1/events?site=north&${WINDOW}`)).body.events;
  assert.deepEqual(ofNorth.map(({ ts }) => ts), [9000, 5000], 'of one site the others need not answer');
  south.answers['/api/v1/events'] = { status: 404, body: { error: 'there is no /api/v1/events' } };
  assert.equal((await call(`/api/v1/events?${WINDOW}`)).status, 503, 'a site that does not know the question');
});

test('stays of several people at all sites, by the time of entering, then by person and site', async (t) => {
  const stay = (id, enter) => ({ staff_id: id, level: 'L1', room: 'a', enter_ms: enter, leave_ms: enter + 5, duration_s: 0.005, ongoing: false });
  const answer = (...stays) => ({ body: { ...PAST, stays, next: null } });
  const north = await site(t, 'north', { '/api/v1/stays': answer(stay('3', 10), stay('2', 20)) });
  const south = await site(t, 'south', { '/api/v1/stays': answer(stay('3', 5), stay('3', 10)) });
  const call = await entry(t, [north, south]);
  const { body } = await call(`/api/v1/stays?staff_id=2,3&level=L1&${WINDOW}`);
  assert.deepEqual(body, { ...PAST, next: null, stays: [{ ...stay('3', 5), site: 'south' }, { ...stay('3', 10), site: 'north' },
    { ...stay('3', 10), site: 'south' }, { ...stay('2', 20), site: 'north' }] });
  assert.match(north.asked[0].path, /\?staff_id=2%2C3&level=L1&start=/);
});

test('rooms of all sites; one of them by its id, and by its site where several have that id', async (t) => {
  const room = (id, level = 'L1') => ({ level, room: id, name: id, limit: null, count: 0, crowded: false, people: [] });
  const rooms = (...list) => ({ body: { rooms: list, next: null } });
  const detail = (id) => ({ body: { ...room(id), listed: true, polygon: null } });
  const unknown = (id) => ({ status: 404, body: { error: `there is no room ${id}` } });
  const visit = (ms) => ({ staff_id: '3', enter_ms: ms, leave_ms: ms, duration_s: 0, ongoing: false, in_window_s: 0 });
  const visits = (response, { search }) => response.end(JSON.stringify({ room: 'a', name: 'a', ...PAST,
    ...(search.includes('cursor=theirs') ? { visits: [visit(1)], next: null } : { visits: [visit(2)], next: 'theirs' }) }));
  const north = await site(t, 'north', { '/api/v1/rooms': rooms(room('a'), room('lobby')), '/api/v1/rooms/a': detail('a'), '/api/v1/rooms/lobby': detail('lobby'),
    '/api/v1/rooms/z': unknown('z'), '/api/v1/rooms/a/visits': visits });
  const south = await site(t, 'south', { '/api/v1/rooms': rooms(room('b', 'L2'), room('lobby')), '/api/v1/rooms/a': unknown('a'), '/api/v1/rooms/lobby': detail('lobby'),
    '/api/v1/rooms/z': unknown('z'), '/api/v1/rooms/a/visits': unknown('a') });
  const call = await entry(t, [north, south]);
  const named = (list) => list.map(({ room: id, site: where }) => `${id} ${where}`);
  const first = (await call('/api/v1/rooms?limit=3')).body;
  assert.deepEqual(named(first.rooms), ['a north', 'b south', 'lobby north']);
  assert.deepEqual(named((await call(`/api/v1/rooms?limit=3&cursor=${first.next}`)).body.rooms), ['lobby south']);
  assert.deepEqual(named((await call('/api/v1/rooms?level=L2')).body.rooms), ['b south']);
  assert.deepEqual((await call('/api/v1/rooms/a')).body, { ...room('a'), listed: true, polygon: null, site: 'north' });
  const { status, body } = await call('/api/v1/rooms/lobby');
  assert.deepEqual([status, body.error], [400, 'there is a room lobby at several sites: add site=north or site=south']);
  assert.equal((await call('/api/v1/rooms/lobby?site=south')).body.site, 'south');
  assert.deepEqual((await call('/api/v1/rooms/z')).body, { error: 'there is no room z' });

  const page = (await call(`/api/v1/rooms/a/visits?limit=1&${WINDOW}`)).body;
  assert.deepEqual({ ...page, next: null }, { room: 'a', name: 'a', ...PAST, visits: [visit(2)], next: null, site: 'north' });
  const asked = south.asked.length;
  const rest = (await call(`/api/v1/rooms/a/visits?limit=1&cursor=${page.next}`)).body;
  assert.deepEqual([rest.visits, rest.next, south.asked.length - asked], [[visit(1)], null, 0], 'the site that has it goes on by itself');
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
  assert.deepEqual(Object.keys(body.paths).sort(), ['/api/v1/events', '/api/v1/rooms', '/api/v1/rooms/{room}',
    '/api/v1/rooms/{room}/visits', '/api/v1/sites', '/api/v1/staff', '/api/v1/staff/{staff_id}', '/api/v1/staff/{staff_id}/contacts',
    '/api/v1/staff/{staff_id}/locations', '/api/v1/staff/{staff_id}/stays', '/api/v1/stays', '/extractbeacon', '/newbeacondetect', '/retrieveformonitoring']);
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
