'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createBuilding } = require('../../lib/building');
const { createCoverage, FINAL_AFTER_MS } = require('../../lib/past/coverage');
const { createDescription } = require('../../lib/http/v1/description');
const { createSessions } = require('../../lib/access');
const { Site } = require('../../lib/site');
const { BEACONS, smallBuilding } = require('../support/building');
const { guards } = require('../support/guards');
const { serve } = require('../support/hacs-tab');
const { receive } = require('../support/receive');

// Nothing by halves: every route that says what was is asked, whichever there are in the description.

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const STARTED = NOW - 3 * HOUR;
const WINDOW = { start: NOW / 1000 - 6 * 3600, end: NOW / 1000 - 4 * 3600 };

/** Every operation whose answer says up to when it is complete, as a path, with person 0 and room a where one is needed. */
const PATHS = Object.entries(createDescription('1').paths).flatMap(([path, { get }]) => {
  const { $ref: ref } = get?.responses?.[200]?.content?.['application/json']?.schema ?? {};
  const schema = createDescription('1').components.schemas[ref?.split('/').at(-1)];
  return schema?.properties?.complete_until_ms ? [path.replace('{staff_id}', '0').replace('{room}', 'a')] : [];
});
/** What is about one person alone waits for their backlog; what is about everybody says up to when it is complete. */
const OF_ONE = ['/api/v1/staff/0/locations', '/api/v1/staff/0/stays', '/api/v1/staff/0/contacts'];

/** The routes over an empty database. @param gaps everybody's on disk @param change of the coverage @param ended not stored yet */
async function routes(t, { gaps = [], change = () => {}, ended = [] } = {}) {
  const coverage = createCoverage({ startedMs: STARTED, newestStored: async () => null, newestPublished: () => 0, sleep: async () => {},
    record: { load: () => ({ gaps: { '': [...gaps, [STARTED, null]] }, requests: {}, live: true }), save: async () => {} } });
  const { fromMs } = coverage.beforeStart();
  coverage.locateBeforeStart(fromMs);
  coverage.published({ fromMs, toMs: STARTED, staff: null }, STARTED);
  coverage.caughtUp(STARTED);
  for (let ms = STARTED; ms <= NOW; ms += 10_000) await coverage.tick(ms, ms);
  change(coverage);
  const site = new Site(createBuilding(smallBuilding()), STARTED);
  receive(site, 'sda/v1/phone/0/readings', Buffer.from(JSON.stringify({ ts: NOW, readings: [{ beacon: BEACONS.a, rssi: -30 }] })), NOW);
  site.memory.recentStays.add(ended, NOW);
  const nothing = Object.assign((async function* none() {})(), { then: undefined });
  const store = new Proxy({ locations: async function* none() {}, everyStay: () => nothing },
    { get: (own, name) => own[name] ?? (async () => []) });
  const url = await serve(t, {
    site, store, clock: () => NOW, trusted: () => true, apiKey: 'key', dashboardPath: '/', ...guards(), buildingFile: '/nowhere',
    health: () => ({}), log: () => {},
    sessions: createSessions({ adminUser: 'admin', adminPassword: 'word' }),
    refuseIncomplete: coverage.refuseIncomplete, refuseIncompleteStays: coverage.refuseIncompleteStays,
    completeUntil: coverage.completeUntil,
  });
  return async (path, query) => {
    const answer = await fetch(`${url}${path}?${new URLSearchParams(query)}`);
    return { status: answer.status, retryS: Number(answer.headers.get('retry-after')), body: await answer.json() };
  };
}

const OLD = (staff) => ['/extractbeacon', { staff_id: staff, start_time: WINDOW.start, end_time: WINDOW.end }];
const withinWindow = NOW - 5 * HOUR;

test('there are nine such routes', () => assert.ok(PATHS.length === 9 && OF_ONE.every((path) => PATHS.includes(path)), PATHS.join(' ')));

test('where all is located every route answers, and says that it is complete', async (t) => {
  const ask = await routes(t);
  for (const path of PATHS) {
    const { status, body } = await ask(path, WINDOW);
    assert.deepEqual([path, status, body.complete_until_ms], [path, 200, WINDOW.end * 1000]);
    assert.equal((await ask(path, { start: WINDOW.start })).body.complete_until_ms, NOW, `${path}: up to now`);
  }
  for (const staff of ['0', '0,1', '*']) assert.equal((await ask(...OLD(staff))).status, 200);
});

test('what everybody lacks is 503 on every route, with a time to wait', async (t) => {
  const ask = await routes(t, { gaps: [[withinWindow, withinWindow + 1000]] });
  for (const [path, query] of [...PATHS.map((one) => [one, WINDOW]), OLD('0'), OLD('0,1'), OLD('*')]) {
    const { status, retryS, body } = await ask(path, query);
    assert.deepEqual([path, status, retryS > 0], [path, 503, true]);
    assert.match(body.error, /is being located again/);
  }
  for (const path of PATHS) assert.equal((await ask(path, { start: WINDOW.end })).status, 200, 'another time');
});

test('a backlog of one person is 503 for them, and for all others an answer that says up to when it is complete', async (t) => {
  const ask = await routes(t, { change: (coverage) => coverage.late('0', withinWindow, NOW) });
  for (const path of PATHS) {
    const { status, retryS, body } = await ask(path, WINDOW);
    if (OF_ONE.includes(path)) assert.deepEqual([path, status, retryS > 0], [path, 503, true], JSON.stringify(body));
    else if (path === '/api/v1/events') assert.equal(status, 200);
    else assert.deepEqual([path, status, body.complete_until_ms], [path, 200, withinWindow - FINAL_AFTER_MS]);
  }
  assert.equal((await ask('/api/v1/stays', { ...WINDOW, staff_id: '0,1' })).status, 503);
  assert.equal((await ask('/api/v1/stays', { ...WINDOW, staff_id: '1' })).status, 200);
  for (const [staff, status] of [['0', 503], ['0,1', 503], ['*', 503], ['1', 200]]) assert.equal((await ask(...OLD(staff))).status, status, staff);
});

test('a stay that ended just now is in every answer about stays before the database has it', async (t) => {
  const stay = (staff) => ({ ts: withinWindow, staff_id: staff, level: 'L1', room: 'a', enter_ms: withinWindow, leave_ms: withinWindow + HOUR,
    duration_s: 3600 });
  const ask = await routes(t, { ended: [stay('0'), stay('1')] });
  const found = {};
  for (const path of PATHS) {
    const { body } = await ask(path, WINDOW);
    const patrols = body.patrols?.filter(({ last_ms: ms }) => ms !== null);
    const rows = body.stays ?? body.visits ?? body.contacts ?? patrols ?? body.rooms ?? body.staff;
    if (rows) found[path.replace('/api/v1/', '')] = rows.length;
  }
  assert.deepEqual(found, { 'staff/0/stays': 1, stays: 2, 'staff/0/contacts': 1, 'rooms/a/visits': 2, patrols: 1, 'rankings/rooms': 1,
    'rankings/staff': 2 });
});
