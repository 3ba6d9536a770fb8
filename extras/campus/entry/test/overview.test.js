'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { makeKey } = require('../../../../flows/lib/access/keys');
const { until } = require('../../../../flows/test/support/stack');
const { AWAY, entry, site } = require('./support/campus');

// The overview page and what it shows: numbers of each site, for a key or a login by one.
const METRICS = ['# HELP sda_staff People by state.', 'sda_staff{state="present"} 7', 'sda_staff{state="stale"} 1', 'sda_staff{state="lost"} 3',
  'sda_gateways{state="online"} 4', 'sda_gateways{state="offline"} 1', 'sda_gateways{state="silent"} 0', 'sda_gateways{state="unknown"} 0', ''].join('\n');
const group = (state, severity, count) => ({ kind: 'gateway_down', state, severity, count });
const KINDS = { body: { groups: [group('open', 'critical', 2), group('open', 'warning', 3), group('ended', 'critical', 9)], open: 5, dropped: 0 } };
const HEALTH = { body: { status: 'up', parts: { building: { status: 'up', name: 'Harbour House', simulated: 0 }, rebuild: { status: 'up', complete_until_ms: 1234 } } } };
const OF_A_SITE = { '/health': HEALTH, '/metrics': { body: METRICS }, '/api/v1/alerts/kinds': KINDS };
const known = ({ as_of_ms: asOf, since_ms: since, ...rest }) => ({ ...rest, isDated: asOf > 0 && since > 0 });
const NORTH = { site: 'north', building: 'Harbour House', simulated: false, status: 'up', reason: null, people: { present: 7, stale: 1 },
  gateways: { online: 4, offline: 1, silent: 0, unknown: 0 }, alerts: { open: 5, critical: 2 }, complete_until_ms: 1234,
  dashboard: 'https://north.example.org/dashboard', isDated: true };

test('the page is open to everybody and holds nothing; the numbers need the right presence', async (t) => {
  const call = await entry(t, [await site(t, 'north', OF_A_SITE)]);
  for (const route of ['/', '/overview.js', '/overview.css', '/colours.css', '/times.js']) {
    const { status, headers } = await call(route, { headers: { 'x-api-key': '' } });
    assert.equal(status, 200, route);
    assert.match(headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/);
  }
  assert.equal((await call('/', { method: 'POST' })).status, 405);
  assert.equal((await call('/api/v1/sites', { headers: { 'x-api-key': '' } })).status, 401);
  assert.equal((await call('/api/v1/sites')).status, 200);
});

test('numbers of each site, shared by all who look; of one that is away what it said last', async (t) => {
  const north = await site(t, 'north', OF_A_SITE);
  const earlier = await site(t, 'earlier', { '/metrics': { body: 'sda_build_info{version="1"} 1\n' }, '/api/v1/alerts/kinds': { body: { groups: [] } } });
  let nowMs = Date.now();
  const call = await entry(t, [north, earlier], { clock: () => nowMs });
  const read = async () => (await call('/api/v1/sites')).body.sites;
  const [first, second] = await read();
  assert.deepEqual(known(first), NORTH);
  assert.deepEqual([second.people, second.gateways, second.complete_until_ms, second.building], [null, null, null, null], 'what it does not say');
  await Promise.all([read(), read()]);
  const asked = () => north.asked.filter(({ path }) => path === '/metrics').length;
  assert.equal(asked(), 1, 'not asked again at once');
  for (const route of ['/health', '/metrics', '/api/v1/alerts/kinds']) north.answers[route] = AWAY;
  const since = nowMs += 5000;
  const away = await until('it counts as away', async () => {
    const [one] = await read();
    return one.status === 'away' && one;
  });
  assert.deepEqual(known(away), { ...NORTH, status: 'away', reason: 'answers HTTP 503: history is not available: InfluxDB is away' });
  assert.deepEqual([away.since_ms, away.as_of_ms], [since, since - 5000]);
});

test('a login by a key opens the overview alone, ends with the key, and is good at every entry of the campus', async (t) => {
  const sites = [await site(t, 'north', { ...OF_A_SITE, '/retrieveformonitoring': { body: { data: [] } } })];
  const [call, other] = [await entry(t, sites), await entry(t, sites)];
  const { status, headers } = await call('/login', { method: 'POST' });
  assert.equal(status, 204);
  const cookies = headers.getSetCookie();
  assert.ok(cookies.length === 2 && cookies.every((one) => /httponly/i.test(one) && /samesite=strict/i.test(one)));
  const cookie = cookies.map((one) => one.split(';')[0]).join('; ');
  const cookied = (more = {}) => ({ headers: { 'x-api-key': '', cookie, ...more } });
  assert.equal((await call('/api/v1/sites', cookied())).status, 200);
  assert.equal((await call('/retrieveformonitoring', cookied())).status, 401, 'people need the key itself');
  assert.equal((await call('/api/v1/sites', cookied({ cookie: cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) }))).status, 401);
  assert.equal((await call('/api/v1/sites', cookied({ origin: 'https://elsewhere.example' }))).status, 401, 'of another page');
  assert.equal((await other('/api/v1/sites', cookied())).status, 401, 'that entry has no such key');
  other.writeKeys(call.records);
  await until('it has', async () => (await other('/api/v1/sites', cookied())).status === 200);
  assert.match((await call('/logout', { method: 'POST', ...cookied() })).headers.getSetCookie()[0], /expires=Thu, 01 Jan 1970/);
  call.writeKeys([]);
  await until('it ends with the key', async () => (await call('/api/v1/sites', cookied())).status === 401);
  assert.equal((await call('/login', { method: 'POST', headers: { 'x-api-key': 'sda_00000000_wrong' } })).status, 401);
});

test('a key without the right presence opens no overview', async (t) => {
  const call = await entry(t, [await site(t, 'north', OF_A_SITE)]);
  const { record, key } = makeKey([], { name: 'past', rights: ['history'], expiresMs: null }, Date.now());
  call.writeKeys([record]);
  await until('the entry knows the key', async () => (await call('/login', { method: 'POST', headers: { 'x-api-key': key } })).status === 403);
});
