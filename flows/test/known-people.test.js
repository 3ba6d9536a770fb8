'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createBuilding } = require('../lib/building');
const { createCoverage } = require('../lib/past/coverage');
const { createKnownPeople, createKnownSeed } = require('../lib/past/known-people');
const { Site } = require('../lib/site');
const { createStore, StoreUnavailable } = require('../lib/store');
const { smallBuilding } = require('./support/building');
const { World, random, walks } = require('./support/world');
const { piece, playInflux } = require('./support/influx');

// Who has a past here: nobody is in an answer who is not among them, and who follows them knows all of them.
const T = 1_700_000_000_000;
const MIN = 60_000;
const DAY = 24 * 60 * MIN;

const step = fc.oneof(
  fc.record({ note: fc.integer({ min: 0, max: 30 }).map(String) }),
  fc.record({ seed: fc.array(fc.integer({ min: 0, max: 30 }).map(String), { maxLength: 10 }) }),
  fc.record({ follow: fc.integer({ min: 0, max: 2 }) }));

test('who follows them knows all of them, and nobody is taken out but with another epoch', () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    let [epochs, days] = [0, 0];
    const people = createKnownPeople(() => String(epochs += 1));
    const followers = [0, 1, 2].map(() => ({ version: undefined, staff: new Set() }));
    for (const { note, seed, follow } of steps) {
      if (note !== undefined) people.note(note);
      if (seed) people.seed(seed, days += DAY / 2);
      if (follow === undefined) continue;
      const one = followers[follow];
      const { version, whole, staff } = people.since(one.version);
      assert.equal(whole, one.version?.split('.')[0] !== version.split('.')[0], 'of the same epoch what came since alone');
      assert.ok(whole || staff.every((id) => !one.staff.has(id)), 'nobody twice');
      Object.assign(one, { version, staff: new Set([...(whole ? [] : one.staff), ...staff]) });
      assert.deepEqual([...one.staff].sort(), people.since().staff.sort());
    }
  }), { numRuns: 300 });
});

test('who is stored no more is forgotten a day or two after they were noted last, in a new epoch', () => {
  let epochs = 0;
  const people = createKnownPeople(() => String(epochs += 1));
  people.note('new');
  people.seed(['old', 'gone'], T);
  people.note('back');
  const at = () => [people.since().version, people.since().staff.sort().join()];
  assert.deepEqual(at(), ['1.4', 'back,gone,new,old']);
  for (const ms of [1000, 2000, DAY]) people.seed(['old', 'gone'], T + ms); // as after deploys
  assert.deepEqual(at(), ['1.4', 'back,gone,new,old'], 'noted within a day: it may be on its way into the database');
  people.seed(['old', 'back'], T + 2 * DAY);
  assert.deepEqual(at(), ['2.2', 'back,old']);
});

test('somebody new ends the wait at once, somebody known does not', async () => {
  const people = createKnownPeople();
  people.note('0');
  const { version } = people.since();
  await people.newer('0.1', 60_000); // another version
  const waited = people.newer(version, 60_000).then(() => people.since(version).staff);
  people.note('0');
  people.note('1');
  assert.deepEqual(await waited, ['1']);
  await people.newer(people.since().version, 1);
});

test('each way in notes them first: located, corrected, a stay, published by a flow, and what is to be located later', () => {
  const site = new Site(createBuilding(smallBuilding()), T);
  const coverage = createCoverage({ startedMs: T, newestStored: async () => null, newestPublished: () => 0, sleep: async () => {},
    knownPeople: site.memory.knownPeople });
  const location = (id, ts) => ({ ts, staff_id: id, level: 'L1', room: 'a', beacon: 'B', rssi: -50 });
  site.memory.history.add(location('located', T), T);
  site.memory.history.correct(location('corrected', T - DAY), T);
  site.memory.recentStays.add([{ ts: T, staff_id: 'stay', level: 'L1', room: 'a', enter_ms: T, leave_ms: T, duration_s: 0 }], T);
  site.broker.results.publish('locations', [location('of a flow', T)], T);
  site.broker.results.publish('events', [{ type: 'enter', ts: T, staff_id: 'event' }], T);
  coverage.late('late', T - MIN, T);
  coverage.late('too late', T - 8 * DAY, T);
  assert.deepEqual(site.memory.knownPeople.since().staff, ['located', 'corrected', 'stay', 'of a flow', 'late']);
  assert.deepEqual(coverage.pending(), ['late']);
});

/** People who come and go at their own times; one of them sends all of it late. */
function visitors(seed) {
  const next = random(seed);
  const times = Array.from({ length: 8 }, () => {
    const fromMs = T + Math.floor(next() * 10 * MIN);
    return { fromMs, toMs: fromMs + MIN + Math.floor(next() * 3 * MIN) };
  });
  const lateMs = T + 9 * MIN;
  const sent = walks(seed, { people: times.length, fromMs: T, toMs: T + 13 * MIN })
    .filter(({ receiver, ms }) => ms >= times[receiver].fromMs && ms < times[receiver].toMs)
    .map((one) => (one.receiver === '7' && one.ms < lateMs ? { ...one, atMs: lateMs + (one.ms - T) / 100 } : one));
  return sent.sort((a, b) => a.atMs - b.atMs);
}

for (let seed = 1; seed <= 6; seed += 1) {
  test(`kills, late batches and outages, world ${seed}: nobody can be in an answer who is not among them`, async () => {
    const next = random(seed + 100);
    const world = new World(visitors(seed), T, smallBuilding());
    const outageMs = T + Math.floor((3 + next() * 5) * MIN);
    const isOut = (ms) => ms >= outageMs && ms < outageMs + 2 * MIN;
    world.ingestIsUp = () => !isOut(world.now);
    world.away = () => seed % 2 === 0 && isOut(world.now);
    /** When each was published first; and who is stored, as far as ingest was up. @type {Map<string, number>} */
    const published = new Map();
    const visible = new Set();
    const take = world.take.bind(world);
    world.take = (message) => {
      const known = new Set(world.site.memory.knownPeople.since().staff);
      const { locations = [], stays = [] } = JSON.parse(message.payload);
      for (const { staff_id: id } of [...locations, ...stays]) {
        assert.ok(known.has(id), `${id} is published`);
        if (!published.has(id)) published.set(id, world.now);
      }
      take(message);
    };
    const staffIds = async () => {
      if (world.away()) throw new StoreUnavailable('InfluxDB is away');
      return [...visible];
    };
    let seeded;
    const begin = (options) => {
      world.start(options);
      seeded = createKnownSeed({ people: world.site.memory.knownPeople, store: { staffIds }, coverage: world.coverage,
        clock: () => world.now });
    };
    let [said, refused] = [0, 0];
    const look = async () => {
      if (world.ingestIsUp()) for (const [id, ms] of published) if (ms <= world.now - 300) visible.add(id);
      await seeded.tick();
      const answer = await seeded.since().catch((error) => error);
      if (answer instanceof StoreUnavailable) {
        refused += 1;
        return;
      }
      said += 1;
      assert.ok(answer.known_until_ms <= world.now);
      const { memory: { history, recentStays }, live } = world.site;
      const remembered = [...recentStays.list(() => true), ...live.openStays(), ...live.presences()].map(({ staff_id: id }) => id);
      for (const id of [...published.keys(), ...history.staffIds(), ...remembered]) assert.ok(answer.staff.includes(id), `${id} at ${world.now - T}`);
    };
    begin();
    const kills = Array.from({ length: 3 }, (_, i) => ({ atMs: T + (2 + i * 3) * MIN + Math.floor(next() * MIN),
      awayMs: 2000 + next() * 50_000, session: next() < 0.5 }));
    while (world.now < T + 14 * MIN) {
      const [kill] = kills;
      if (kill && world.now >= kill.atMs) {
        kills.shift();
        world.kill();
        world.pass(kill.awayMs);
        begin(kill);
      }
      await world.until(() => true);
      const untilMs = world.now + 500;
      await world.until(() => world.now >= untilMs);
      await look();
    }
    assert.ok(said > 100 && refused > 10, `${said} ${refused}`);
    assert.ok(published.size >= 7, `${published.size}`);
  });
}

test('while a time of everybody is to be located, or InfluxDB is away, it cannot be said', async () => {
  let [undecided, isSettled, isAway] = ['the time to now is being located', false, true];
  let nowMs = T;
  const people = createKnownPeople();
  const store = { staffIds: async () => {
    if (isAway) throw new StoreUnavailable('InfluxDB is away');
    return ['0'];
  } };
  const coverage = { undecided: () => undecided, isSettled: () => isSettled, pending: () => ['late'], completeUntil: (_from, to) => to - 1 };
  const seed = createKnownSeed({ people, store, coverage, clock: () => nowMs });
  const says = () => seed.since().then(({ staff, known_until_ms: ms }) => [staff.sort().join(), ms - nowMs], ({ message }) => message);
  await seed.tick();
  assert.match(await says(), /not known yet: the time to now is being located$/);
  [undecided, isSettled] = ['', true];
  assert.match(await says(), /it was not read from InfluxDB yet$/);
  await seed.tick();
  assert.match(await says(), /InfluxDB is away$/);
  isAway = false;
  await seed.tick();
  assert.match(await says(), /InfluxDB is away$/, 'not asked again at once');
  nowMs += 5000;
  await seed.tick();
  assert.deepEqual(await says(), ['0,late', -1]);
  undecided = 'the time from 1 to 2 is being located';
  assert.match(await says(), /the time from 1 to 2/, 'what was lost meanwhile');
});

test('everybody of whom a location or stay is stored is read in one question', async (t) => {
  const asked = [];
  const influx = await playInflux(t, (_request, response, form) => {
    asked.push(form.get('q'));
    const of = (name, ...ids) => ({ name, columns: ['key', 'value'], values: ids.map((id) => ['staff_id', id]) });
    response.end(piece([of('location', '0', '003'), of('stay', '0', 'x')]));
  });
  assert.deepEqual(await createStore(influx).staffIds(), ['0', '003', 'x']);
  assert.deepEqual(asked, ['SHOW TAG VALUES FROM "location", "stay" WITH KEY = "staff_id"']);
});
