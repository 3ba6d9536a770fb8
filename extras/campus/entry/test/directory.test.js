'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createKnownPeople } = require('../../../../flows/lib/past/known-people');
const { createKnowledge, FRESH_MS } = require('../lib/knowledge');
const fc = require('../../../../flows/test/support/fast-check');
const { AWAY, entry, site } = require('./support/campus');
const { until } = require('../../../../flows/test/support/stack');

// Which sites a question about people goes to: those that know them, and each of which that is not known just now.
const KNOWN = '/api/v1/people/known';
const SITES = [0, 1, 2];
const PEOPLE = ['0', '1', '2', '3'];

/** Sites in virtual time, each with when people came there first, and an entry that follows them over lines that delay and lose. */
function rig() {
  let epochs = 0;
  const newEpoch = () => String(epochs += 1);
  const sites = SITES.map(() => ({ came: new Map(), people: createKnownPeople(newEpoch), isSaying: true, isLost: false,
    knowledge: createKnowledge(), asked: null, said: null }));
  const rigged = { nowMs: 0, sites, newEpoch };
  /** The next thing of three, at times of their own: the entry asks, the site answers, the entry has the answer or gives it up. */
  rigged.exchange = (one) => {
    const { asked, said, isLost } = one;
    if (asked === null) one.asked = { ms: rigged.nowMs, version: one.knowledge.version() ?? undefined };
    else if (isLost || (said === null && !one.isSaying)) {
      one.knowledge.doubt();
      Object.assign(one, { asked: null, said: null });
    } else if (said === null) one.said = JSON.stringify({ ...one.people.since(asked.version), known_until_ms: rigged.nowMs });
    else {
      assert.ok(one.knowledge.take(JSON.parse(said), asked.ms));
      Object.assign(one, { asked: null, said: null });
    }
  };
  rigged.isAsked = (one, ids) => !one.knowledge.isFresh(rigged.nowMs) || one.knowledge.hasAnyOf(ids);
  return rigged;
}

const whichSite = fc.constantFrom(...SITES);
const event = fc.oneof(
  fc.record({ arrive: fc.constantFrom(...PEOPLE), at: whichSite }),
  { weight: 6, arbitrary: fc.record({ exchange: fc.constant(true), at: whichSite }) },
  fc.record({ kill: fc.constant(true), at: whichSite }),
  fc.record({ seed: fc.constant(true), at: whichSite }),
  fc.record({ lose: fc.boolean(), at: whichSite }),
  fc.record({ pass: fc.integer({ min: 1, max: 900 }) }),
  { weight: 2, arbitrary: fc.record({ ask: fc.uniqueArray(fc.constantFrom(...PEOPLE), { minLength: 1, maxLength: 2 }) }) });

test('whatever happens: an answer is that of all sites, each as it was two seconds ago or later', () => {
  let spared = 0;
  fc.assert(fc.property(fc.array(event, { minLength: 20, maxLength: 150 }), (events) => {
    const world = rig();
    for (const { arrive, exchange, kill, seed, lose, pass, ask, at } of events) {
      const one = world.sites[at];
      if (arrive !== undefined) {
        if (!one.came.has(arrive)) one.came.set(arrive, world.nowMs);
        one.people.note(arrive);
      }
      if (exchange) world.exchange(one);
      if (kill) Object.assign(one, { people: createKnownPeople(world.newEpoch), isSaying: false }); // an answer may be on its way
      if (seed) {
        one.people.seed(one.came.keys(), world.nowMs);
        one.isSaying = true;
      }
      if (lose !== undefined) one.isLost = lose;
      if (pass) world.nowMs += pass;
      for (const each of ask ? world.sites : []) {
        if (world.isAsked(each, ask)) continue;
        spared += 1;
        const since = ask.map((id) => each.came.get(id) ?? Infinity);
        assert.ok(since.every((ms) => ms > world.nowMs - FRESH_MS), 'who came before that is known');
        assert.ok(since.every((ms) => ms >= each.knowledge.untilMs()), 'and the answer says up to when it is complete');
      }
    }
    for (const one of world.sites.filter(({ isLost }) => !isLost)) { // an exchange that begins after all of it leaves nothing out
      one.people.seed(one.came.keys(), world.nowMs);
      Object.assign(one, { asked: null, said: null, isSaying: true });
      for (let i = 0; i < 3; i += 1) world.exchange(one);
      for (const id of PEOPLE) assert.equal(world.isAsked(one, [id]), one.came.has(id), 'exactly those who have something');
    }
  }), { numRuns: 500 });
  assert.ok(spared > 200, `${spared}`);
});

test('what is no answer, or goes on from one that was never heard, is not taken', () => {
  const knowledge = createKnowledge();
  const answer = { version: '1.1', whole: true, staff: ['0'], known_until_ms: 5 };
  for (const bad of [null, {}, { ...answer, staff: 'x' }, { ...answer, version: 1 }, { ...answer, whole: false }, { ...answer, known_until_ms: null }]) {
    assert.equal(knowledge.take(bad, 0), false);
  }
  assert.deepEqual([knowledge.isFresh(0), knowledge.count()], [false, null]);
  assert.ok(knowledge.take(answer, 0));
  assert.deepEqual([knowledge.isFresh(FRESH_MS - 1), knowledge.isFresh(FRESH_MS), knowledge.hasAnyOf(['1']), knowledge.hasAnyOf(['1', '0'])],
    [true, false, false, true]);
  knowledge.doubt();
  assert.equal(knowledge.isFresh(0), false);
});

/** What a site says: who has a past there, as its real list does; `people` is that list. */
function knowing(...ids) {
  const people = createKnownPeople();
  people.seed(ids, 0);
  const answer = async (response, { search }) => {
    const query = new URLSearchParams(search);
    const after = query.get('after') ?? undefined;
    if (after !== undefined) await people.newer(after, Number(query.get('wait_ms')));
    response.end(JSON.stringify({ ...people.since(after), known_until_ms: 150_000 }));
  };
  return { people, answer };
}

const at = (timestamp) => ({ level: 'L1', location: 'Lobby', timestamp });
const history = (completeMs, ...records) => ({ body: { location: records }, headers: { 'x-complete-until-ms': String(completeMs) } });
const poll = (staff) => `/extractbeacon?staff_id=${staff}&start_time=100&end_time=200`;

/** Two sites that say who has a past there, and their entry, once it knows that; `questions`: how often each was asked else. */
async function campus(t, north, south, more = {}) {
  const [first, second] = [knowing(...north), knowing(...south)];
  const sites = await Promise.all([['north', first, 180_000], ['south', second, 170_000]].map(([name, { answer }, ms], i) =>
    site(t, name, { '/extractbeacon': history(ms, at(110 + i)), [KNOWN]: answer })));
  const call = await entry(t, sites, more);
  const figure = async (name, of) => {
    const line = new RegExp(`^sda_campus_site_${name}\\{site="${of}"\\} (\\d+)$`, 'm').exec((await call('/metrics')).text);
    return Number(line?.[1] ?? NaN);
  };
  const followed = (of) => until(`${of} is followed`, async () => await figure('followed', of) === 1);
  for (const one of sites) await followed(one.config.name);
  const questions = () => sites.map(({ asked }) => asked.filter(({ path }) => path !== KNOWN).length);
  return { call, sites, figure, followed, questions, north: first.people, south: second.people };
}

test('a history is asked of the sites that know somebody; who walks over is asked of both at once', async (t) => {
  const { call, figure, questions, south } = await campus(t, ['1', 'both'], ['both', '2']);
  const first = await call(poll('1'));
  assert.deepEqual(first.body.location.map(({ site: where }) => where), ['north']);
  assert.equal(first.headers.get('x-complete-until-ms'), '150000', 'as far as the other one is known to have nothing');
  assert.deepEqual(questions(), [1, 0]);
  assert.equal(await figure('spared_total', 'south'), 1);
  assert.equal(await figure('people', 'south'), 2);
  assert.equal((await call(poll('1,2'))).status, 200);
  assert.deepEqual(questions(), [2, 1], 'several people: whoever knows one of them');
  const both = await call(poll('both'));
  assert.deepEqual([both.body.location.map(({ site: where }) => where), both.headers.get('x-complete-until-ms')], [['south', 'north'], '170000']);
  assert.equal((await call('/extractbeacon?staff_id=*&start_time=100&end_time=200')).status, 200);
  assert.deepEqual(questions(), [4, 3], 'everybody: all sites');
  south.note('1');
  await until('south is asked, too', async () => (await call(poll('1'))).body.location.length === 2);
});

test('of nobody known one site is asked, which writes the look-up down', async (t) => {
  const { call, questions } = await campus(t, ['1'], ['2']);
  const { status, headers } = await call(poll('stranger'));
  assert.deepEqual([status, headers.get('x-complete-until-ms'), questions()], [200, '150000', [1, 0]]);
  const past = await call('/extractbeacon?staff_id=stranger&start_time=100&end_time=120');
  assert.equal(past.headers.get('x-complete-until-ms'), '180000', 'a time that is over is complete as the site that was asked says');
  const ahead = await call('/extractbeacon?staff_id=stranger&start_time=160&end_time=200');
  assert.equal(ahead.headers.get('x-complete-until-ms'), '160000', 'never before the time that was asked for');
});

for (const [what, answer] of [['says 503', AWAY], ['has no such route', { status: 404, body: {} }], ['says something else', { body: { staff: [] } }],
  ['breaks off', (response) => { response.writeHead(200).write('{"version"', () => response.destroy()); }]]) {
  test(`a site that ${what} to who has a past there is asked about everybody`, async (t) => {
    const { call, sites, figure, questions } = await campus(t, ['1'], ['2']);
    sites[1].answers[KNOWN] = answer;
    await until('that is noticed', async () => await figure('followed', 'south') === 0);
    assert.equal((await call(poll('1'))).body.location.length, 2);
    assert.deepEqual(questions(), [1, 1]);
    sites[1].answers['/extractbeacon'] = AWAY;
    assert.equal((await call(poll('1'))).status, 503, 'nothing by halves');
  });
}

test('a site that is away is 503 for everybody as soon as what it said is old, also for who was never there', async (t) => {
  const { call, sites, figure } = await campus(t, ['1'], ['2'], { timeoutMs: 1000 });
  for (const route of [KNOWN, '/extractbeacon']) sites[1].answers[route] = () => {}; // it says nothing any more
  await until('that is old', async () => await figure('followed', 'south') === 0);
  const { status, body } = await call(poll('1'));
  assert.deepEqual([status, body.error], [503, 'site south does not answer within 1000 ms']);
});

const WINDOW = 'start=1970-01-01T00:01:40Z&end=1970-01-01T00:03:20Z';
const past = (list) => ({ body: { staff_id: '1', start_ms: 100_000, end_ms: 200_000, complete_until_ms: 200_000, ...list, next: null } });

test('locations, stays and contacts are asked of who knows them; of who has no past all sites, since one may list them', async (t) => {
  const { call, sites: [north, south], questions } = await campus(t, ['1'], ['2']);
  const stay = { level: 'L1', room: 'a', enter_ms: 110_000, leave_ms: 120_000, duration_s: 10, ongoing: false };
  const unknown = (id) => ({ status: 404, body: { error: `there is no staff member ${id}` } });
  Object.assign(north.answers, { '/api/v1/staff/1/locations': past({ locations: [{ ts: 110_000, level: 'L1', room: 'a', beacon: 'A', rssi: -5 }] }),
    '/api/v1/staff/1/stays': past({ stays: [stay] }), '/api/v1/staff/1/contacts': past({ count: 0, contacts: [] }),
    '/api/v1/stays': past({ stays: [stay] }),
    '/api/v1/staff/listed/locations': unknown('listed'), '/api/v1/staff/none/stays': unknown('none') });
  Object.assign(south.answers, { '/api/v1/staff/listed/locations': past({ locations: [] }), '/api/v1/staff/none/stays': unknown('none') });
  for (const [path, list] of [['staff/1/locations', 'locations'], ['staff/1/stays', 'stays'], ['staff/1/contacts', 'contacts'], ['stays', 'stays']]) {
    const { status, body } = await call(`/api/v1/${path}?${WINDOW}${path === 'stays' ? '&staff_id=1' : ''}`);
    assert.deepEqual([path, status, body[list].length, body.complete_until_ms], [path, 200, list === 'contacts' ? 0 : 1, 150_000]);
  }
  assert.deepEqual(questions(), [4, 0]);
  assert.deepEqual((await call(`/api/v1/staff/listed/locations?${WINDOW}`)).body.locations, []);
  assert.equal((await call(`/api/v1/staff/none/stays?${WINDOW}`)).status, 404);
  assert.deepEqual(questions(), [6, 2]);
});

test('an entry begins to follow by itself what is updated or started later', async (t) => {
  const { answer } = knowing('2');
  const north = await site(t, 'north', { '/extractbeacon': history(1, at(110)), [KNOWN]: AWAY });
  const call = await entry(t, [north]);
  north.answers[KNOWN] = answer;
  await until('it is followed', async () => /sda_campus_site_followed\{site="north"\} 1/.test((await call('/metrics')).text));
});
