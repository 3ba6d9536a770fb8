'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { StoreUnavailable, createStore, createStoreGuard, unionIfBothUp, unionOfStores } = require('../lib/store');
const { countMissingHours, createReplicas } = require('../lib/store/replicas');
const { playInflux, piece, rows } = require('./support/influx');

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const PAST = [[NOW - 2 * HOUR_MS, 720], [NOW - HOUR_MS, 720]];

/** A database that answers with its number, its newest heartbeat and its hours; `one.mood` changes that. */
async function database(t, number) {
  const one = { asked: 0, heartbeatMs: NOW, hours: PAST, mood: null, pieces: [rows([[number]])] };
  const influx = await playInflux(t, (request, response, form) => {
    if (one.mood) return one.mood(response, request);
    const statement = form.get('q') ?? '';
    if (statement.includes('count(')) return response.end(rows(one.hours));
    if (statement.includes('flows_health')) return response.end(rows(one.heartbeatMs ? [[one.heartbeatMs]] : []));
    one.asked += 1;
    one.pieces.forEach((each) => response.write(each));
    return response.end();
  });
  const guard = createStoreGuard(influx, { failures: 100, firstMs: 2000 });
  return Object.assign(one, { member: { guard, newestHeartbeat: createStore(guard).newestHeartbeat } });
}
const gone = (response) => response.socket.destroy();
const refusing = (response) => response.writeHead(400).end('bad');

/** Two of them, read as one, both asked for their heartbeats once. */
async function pair(t) {
  const [first, second] = [await database(t, 1), await database(t, 2)];
  const rig = { first, second, nowMs: NOW, kept: null, log: [] };
  const stateFile = { read: () => rig.kept, write: (value) => { rig.kept = value; } };
  rig.replicas = createReplicas([first.member, second.member], { clock: () => rig.nowMs, stateFile, log: (text) => rig.log.push(text) });
  rig.tick = () => rig.replicas.newestHeartbeat(NOW - 60_000).catch((error) => error);
  /** Until both were asked and compared, and `holds`. */
  rig.until = async (holds) => {
    const endMs = performance.now() + 20_000;
    while (!holds()) {
      assert.ok(performance.now() < endMs, JSON.stringify(rig.replicas.part()));
      await rig.tick();
      await new Promise(setImmediate);
    }
  };
  rig.read = async () => (await rig.replicas.query('locations', 'SELECT 1'))[0].rows[0][0];
  await rig.until(() => rig.kept !== null);
  return rig;
}

test('a question goes to one database, and at once to the other when that one is gone', async (t) => {
  const rig = await pair(t);
  assert.equal(await rig.read(), 1);
  assert.equal(rig.second.asked, 0);
  rig.first.mood = gone;
  assert.deepEqual(await Promise.all([rig.read(), rig.read(), rig.read()]), [2, 2, 2]);
  assert.equal(rig.replicas.switches(), 1);
  assert.match(rig.log.join(), /reads from store 2/);
  assert.equal(rig.replicas.part().status, 'degraded');
  rig.first.mood = null;
  await rig.until(() => rig.replicas.part().status === 'up');
  assert.equal(await rig.read(), 2, 'nothing was wrong with this one');
  rig.second.mood = gone;
  assert.equal(await rig.read(), 1);
});

test('an answer that was asked for before a failure does not call it up again', async (t) => {
  const rig = await pair(t);
  let answer;
  rig.first.mood = (response, request) => {
    if (answer) return gone(response);
    answer = () => response.end(rows([[NOW + 5000]]));
    return request.resume();
  };
  const looked = rig.tick();
  while (!answer) await new Promise(setImmediate);
  assert.equal(await rig.read(), 2);
  answer();
  await looked;
  assert.equal(rig.replicas.part().status, 'degraded');
  rig.first.mood = null;
  await rig.until(() => rig.replicas.part().status === 'up');
});

test('with both gone a question fails as with one database', async (t) => {
  const rig = await pair(t);
  rig.first.mood = rig.second.mood = gone;
  await assert.rejects(rig.read(), StoreUnavailable);
  await assert.rejects(rig.replicas.newestHeartbeat(0), StoreUnavailable);
});

test('what one database refuses the other is not asked', async (t) => {
  const rig = await pair(t);
  rig.first.mood = refusing;
  await assert.rejects(rig.read(), { answered: true });
  assert.equal(rig.replicas.current(), 0);
});

test('the one whose heartbeats stop is left, though it answers', async (t) => {
  const rig = await pair(t);
  rig.second.heartbeatMs = NOW + 10_000;
  await rig.until(() => rig.replicas.current() === 1);
  assert.equal(await rig.replicas.newestHeartbeat(NOW), NOW + 10_000);
});

test('a long answer starts again from the other database before its first piece, and never in the middle', async (t) => {
  const rig = await pair(t);
  const all = async () => {
    const found = [];
    for await (const series of rig.replicas.pieces('locations', 'SELECT 1', {})) found.push(...series.flatMap((one) => one.rows));
    return found;
  };
  rig.first.mood = gone;
  assert.deepEqual(await all(), [[2]]);
  rig.first.mood = null;
  await rig.until(() => rig.replicas.stateOf(0).status === 'up');
  const half = piece([{ name: 'x', columns: ['time'], values: [[7]] }], true);
  rig.second.mood = (response) => { response.write(half); setTimeout(() => response.socket.destroy(), 50); };
  await assert.rejects(all(), StoreUnavailable);
  assert.equal(rig.replicas.current(), 0, 'whoever asks again gets it from the other one');
});

test('one that came back without its past is not read from until it has it, also over a restart', async (t) => {
  const rig = await pair(t);
  rig.second.mood = gone;
  await rig.until(() => rig.replicas.stateOf(1).reason);
  Object.assign(rig.second, { mood: null, hours: [], heartbeatMs: NOW + 5000 });
  await rig.until(() => rig.replicas.stateOf(1).lacking_hours === 2);
  assert.match(rig.replicas.part().remedy, /store-fill FROM=1 TO=2/);
  rig.first.mood = gone;
  await assert.rejects(rig.read(), StoreUnavailable);
  assert.deepEqual(rig.kept.lacking, [0, 2]);
  rig.first.mood = null;
  rig.second.hours = PAST;
  rig.nowMs += 60_000;
  await rig.until(() => rig.replicas.stateOf(1).status === 'up' && rig.replicas.stateOf(0).status === 'up');
  assert.deepEqual(rig.kept.lacking, [0, 0]);
});

test('an hour with a heartbeat or two less is whole', () => {
  assert.equal(countMissingHours(new Map(PAST), new Map(PAST)), 0);
  assert.equal(countMissingHours(new Map([[PAST[0][0], 718], [PAST[1][0], 720]]), new Map(PAST)), 0);
  assert.equal(countMissingHours(new Map([[PAST[0][0], 700]]), new Map(PAST)), 2);
  assert.equal(countMissingHours(new Map(PAST), new Map()), 0);
});

test('what either database has is found, once; one that is away, behind or lacks something is not asked', async () => {
  const states = ['up', 'up'];
  const replicas = { current: () => 0, stateOf: (index) => ({ status: states[index] }) };
  const [a, b, c] = [1, 2, 3].map((ms) => ({ staff_id: '7', enter_ms: ms }));
  const questions = [async () => [a, b], async () => [{ ...b }, c]];
  assert.deepEqual(await unionOfStores(replicas, questions), [a, b, c]);
  states[1] = 'degraded';
  assert.deepEqual(await unionOfStores(replicas, [questions[0], () => assert.fail('asked')]), [a, b]);
  states[0] = 'degraded';
  assert.deepEqual(await unionOfStores(replicas, questions), [a, b], 'the one that is read from is asked in any case');
  await assert.rejects(unionOfStores(replicas, [async () => { throw new StoreUnavailable('away'); }]), StoreUnavailable);
});

test('who is stored at all is read from both, and from none while one is away or lacks something', async () => {
  const states = ['up', 'up'];
  const replicas = { current: () => 0, stateOf: (index) => ({ status: states[index], reason: 'lacks 3 hours' }) };
  const questions = [async () => ['0', '1'], async () => ['1', '2']];
  assert.deepEqual(await unionIfBothUp(replicas, questions), ['0', '1', '2']);
  states[1] = 'degraded';
  await assert.rejects(unionIfBothUp(replicas, questions), new StoreUnavailable('store 2: lacks 3 hours'));
});
