'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createAlertList, START_MS } = require('../lib/alerts/alert-list');
const { KINDS } = require('../lib/alerts/kinds');
const { HEARTBEAT_MS, createOutlets, createProbe, createReadBack, createRestarts, inTurns } = require('../lib/health/heartbeat');

const T = 1_800_000_000_000;
const SAYS_WITHIN_MS = 10_000;
const EVALUATE_MS = 2000;
const BUCKETS = ['readings', 'locations', 'health'];
const EMPTY = { waiting_lines: 0, oldest_ms: null, fault: '' };

/**
 * The flows' health beside a spool and an InfluxDB that a test makes half dead: all that is polled is polled each second, and alerts
 * are evaluated every other one.
 */
function house({ restarting = false } = {}) {
  const rig = { nowMs: T, outlets: {}, messages: EMPTY, answers: true, query: async () => rig.nowMs - 500, stored: 0, passing: () => true };
  let answeredMs = T;
  const status = () => {
    rig.stored += 100;
    return { stored: { readings: rig.stored }, fault: '', queues: { messages: rig.messages, writes: EMPTY },
      outlets: Object.fromEntries(BUCKETS.map((name) => [name, rig.outlets[name]?.(rig.nowMs) ?? EMPTY])) };
  };
  let seen = status();
  const silentMs = () => rig.nowMs - answeredMs;
  const spool = { status: () => (silentMs() <= 20_000 ? seen : null), waitedMs: () => 0, silentMs };
  const probe = createProbe({ newestHeartbeat: () => rig.query() }, T, { spool: () => spool, isRestarting: () => restarting });
  const list = createAlertList(KINDS, T - START_MS);
  const facts = () => ({ building: { beacons: new Map(), gateways: new Map(), tagOwner: new Map(), rooms: new Map() },
    gateways: null, beacons: null, refusals: { latest: () => [], unmeasured: () => [], of: () => null },
    takeovers: { list: () => [] }, presences: [], connected: true, watchedMs: T, ingest: probe.ingest(rig.nowMs),
    live: { status: 'up' }, clock: { status: 'up' }, losses: { status: 'up' }, certificates: [] });

  async function second() {
    rig.nowMs += 1000;
    if (rig.answers) [seen, answeredMs] = [status(), rig.nowMs];
    if ((rig.nowMs - T) % HEARTBEAT_MS === 0) {
      probe.sent(rig.nowMs);
      probe.tick(rig.nowMs);
    }
    await probe.poll(() => rig.nowMs);
    probe.look(rig.nowMs);
    if ((rig.nowMs - T) % EVALUATE_MS === 0) list.evaluate(facts(), rig.nowMs);
  }

  return { rig, probe,
    pass: async (ms) => { for (let passed = 0; passed < ms; passed += 1000) await second(); },
    part: () => probe.ingest(rig.nowMs),
    alerts: () => list.list().filter(({ ended_ms: ended }) => ended === null).map(({ id, text }) => `${id}: ${text}`) };
}

/** An outlet that has taken nothing since it was asked first. */
const stuck = (fault) => {
  let sinceMs = null;
  return (nowMs) => {
    sinceMs ??= nowMs;
    return { waiting_lines: 2143, oldest_ms: sinceMs, fault };
  };
};

/** Every way in which a part may be half dead, and what is said of it within ten seconds. */
const HALF_DEAD = [
  ...BUCKETS.flatMap((bucket) => [
    [`${bucket}: 500`, ({ rig }) => { rig.outlets[bucket] = stuck('InfluxDB answers 500: engine'); }, /InfluxDB does not get .* \(InfluxDB answers 500: engine; 2143 lines wait\)/],
    [`${bucket}: refused`, ({ rig }) => { rig.outlets[bucket] = stuck('InfluxDB answers 401'); }, /answers 401/],
    [`${bucket}: frozen`, ({ rig }) => { rig.outlets[bucket] = stuck('InfluxDB has not answered for 3 s'); }, /has not answered/],
    [`${bucket}: not passed on, without a word`, ({ rig }) => { rig.outlets[bucket] = stuck(''); }, /what waits is not passed on/],
    [`${bucket}: slow`, ({ rig }) => {
      rig.outlets[bucket] = (nowMs) => ({ waiting_lines: 9, oldest_ms: nowMs - 4000, fault: 'InfluxDB answers after 4 s' });
    }, /answers after 4 s/],
    [`${bucket}: full disk`, ({ rig }) => { rig.outlets[bucket] = () => ({ ...EMPTY, fault: 'the disk takes nothing more: No space left' }); }, /No space left/],
  ]),
  ['Telegraf: refuses', ({ rig }) => { rig.messages = stuck('Telegraf answers 500')(T); }, /readings are not taken in: Telegraf answers 500/],
  ['Telegraf: frozen', ({ rig }) => { rig.messages = stuck('Telegraf has not answered for 3 s')(T); }, /not taken in: Telegraf has not answered/],
  ['the spool: frozen', ({ rig }) => { rig.answers = false; }, /the spool has not answered for/],
  ['InfluxDB: no answer to questions', ({ rig }) => { rig.query = async () => { throw new Error('InfluxDB did not answer within 800 ms'); }; }, /InfluxDB does not answer/],
  ['InfluxDB: answers old data', ({ rig }) => { const oldMs = rig.nowMs; rig.query = async () => oldMs; }, /no heartbeat of the flows has reached InfluxDB/],
];

for (const [name, break_, says] of HALF_DEAD) {
  test(`health and an alert say within ten seconds: ${name}`, async () => {
    const whole = house();
    await whole.pass(30_000);
    assert.deepEqual([whole.part().status, whole.part().backlog, whole.alerts()], ['up', 'none', []]);
    break_(whole);
    await whole.pass(SAYS_WITHIN_MS);
    assert.equal(whole.part().status, 'degraded');
    assert.match(whole.part().reason, says);
    assert.equal(whole.alerts().length, 1, 'one alert');
    assert.match(whole.alerts()[0], /^ingest_behind:ingest: What comes in is not being stored: /);
  });
}

test('a start has no alert of its own: until the first heartbeat is back, for ten seconds', async () => {
  const whole = house();
  whole.rig.query = async () => null;
  await whole.pass(9000);
  assert.deepEqual([whole.part().status, whole.part().starting, whole.alerts()], ['degraded', true, []]);
  await whole.pass(3000);
  assert.equal(whole.alerts().length, 1);
});

test('what waits stands in health for each outlet, also while all goes well', async () => {
  const whole = house();
  whole.rig.outlets.locations = (nowMs) => ({ waiting_lines: 3, oldest_ms: nowMs - 400, fault: '' });
  await whole.pass(10_000);
  assert.deepEqual([whole.part().status, whole.part().outlets.locations, whole.part().outlets.readings],
    ['up', { waiting_lines: 3, oldest_ms: whole.rig.nowMs - 400 }, { waiting_lines: 0, oldest_ms: null }]);
});

test('a part that is started again within two seconds is no fault, nor is one after a change for fifteen', async () => {
  const whole = house();
  await whole.pass(10_000);
  whole.rig.outlets.readings = stuck('InfluxDB does not answer');
  await whole.pass(2000);
  assert.equal(whole.part().status, 'up');
  whole.rig.outlets.readings = undefined;
  await whole.pass(10_000);
  assert.deepEqual(whole.alerts(), []);
  const changed = house({ restarting: true });
  changed.rig.messages = { waiting_lines: 9, oldest_ms: T, fault: 'Telegraf does not answer' };
  await changed.pass(14_000);
  assert.deepEqual([changed.part().status, changed.alerts()], ['up', []]);
  await changed.pass(3000);
  assert.equal(changed.part().status, 'degraded');
});

test('an outlet that passes on, however much waits, does not stand still', () => {
  const outlets = createOutlets();
  for (let s = 0; s < 60; s += 1) outlets.see({ readings: { waiting_lines: 1e6, oldest_ms: T + s * 500 - 30_000, fault: '' } }, T + s * 1000);
  assert.deepEqual(outlets.standing(T + 59_000), []);
});

test('a building that changed, and a connection that broke, are known for twenty seconds', () => {
  const site = { changedMs: T, isConnected: true, live: { buildingSinceMs: () => site.changedMs }, connected: () => site.isConnected };
  const { look, isRestarting } = createRestarts(site);
  assert.deepEqual([isRestarting(T + 19_999), isRestarting(T + 20_000)], [true, false]);
  site.isConnected = false;
  look(T + 30_000);
  assert.deepEqual([isRestarting(T + 49_999), isRestarting(T + 50_000)], [true, false]);
});

test('one heartbeat that cannot be read back, or never comes, does not end the reading', async () => {
  const rig = { nowMs: T, polls: 0, errors: [], tick: async () => {} };
  const probe = { poll: async () => { rig.polls += 1; }, pending: () => true, readBackMs: () => 0 };
  const read = createReadBack({ probe, site: { broker: { outbox: { proven() {} } } }, coverage: { tick: (...times) => rig.tick(...times) },
    onError: (error) => rig.errors.push(error.message), clock: () => rig.nowMs });
  rig.tick = async () => { throw new Error('once'); };
  await read();
  rig.tick = () => new Promise(() => {});
  void read();
  await new Promise(setImmediate);
  void read();
  assert.deepEqual([rig.polls, rig.errors], [2, ['once']], 'never twice at a time');
  rig.nowMs += 60_000;
  rig.tick = async () => {};
  await read();
  await read();
  assert.deepEqual([rig.polls, rig.errors.length], [4, 2]);
  assert.match(rig.errors[1], /has not ended within 60 s/);
});

test('work that ended too late does not end the turn after it', async () => {
  const ends = [];
  let nowMs = T;
  const work = inTurns(() => new Promise((end) => { ends.push(end); }), () => {}, { clock: () => nowMs });
  const first = work();
  nowMs += 60_000;
  const second = work();
  ends[0]();
  await first;
  void work();
  assert.equal(ends.length, 2);
  ends[1]();
  await second;
});
