'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setTimeout: wait } = require('node:timers/promises');
const { StoreBusy, StoreUnavailable, createStoreGuard } = require('../lib/store');
const { playInflux, rows } = require('./support/influx');

/** Long enough that an answer at once is in time, and a rest not over, on a busy machine. */
const BOUNDS = { firstMs: 1000, idleTimeoutMs: 1000, unboundedFromMs: 10_000,
  asking: 2, waiting: 3, longAsking: 1, longWaiting: 1, failures: 3, restMs: 1000 };
const ask = (guard, limitMs) => guard.query('locations', 'SELECT 1', {}, limitMs);
const outcome = (promise) => promise.then(() => 'answered', (error) => error.constructor.name);
const probe = (guard) => outcome(guard.probe((influx) => influx.query('health', 'SELECT 1', {}, BOUNDS.firstMs)));

/** A database with a mood: `rig.mood` answers each question. */
async function database(t, bounds = {}) {
  const rig = { asked: 0, mood: (response) => response.end(rows([[1]])) };
  const influx = await playInflux(t, (request, response) => {
    if (request.url !== '/ping') rig.asked += 1;
    rig.mood(response, request);
  });
  rig.guard = createStoreGuard(influx, { ...BOUNDS, ...bounds });
  return rig;
}
const frozen = () => {};
const well = (response) => response.end(rows([[1]]));

test('who asks too much waits, and who waits too long is asked to try again later', async (t) => {
  const rig = await database(t);
  const held = [];
  rig.mood = (response) => held.push(response);
  const asked = Array.from({ length: 6 }, () => outcome(ask(rig.guard)));
  assert.equal(await asked[5], 'StoreBusy', 'two ask, three wait, the sixth is too many');
  assert.deepEqual([rig.guard.counters().asking, rig.guard.counters().waiting], [2, 3]);
  while (held.length < 2) await wait(1);
  assert.equal(rig.asked, 2);
  rig.mood = well;
  held.forEach((response) => well(response));
  assert.deepEqual(await Promise.all(asked.slice(0, 5)), Array(5).fill('answered'));
  assert.deepEqual([rig.guard.counters().asking, rig.guard.counters().waiting, rig.guard.counters().busy], [0, 0, 1]);
});

test('nobody waits longer than a caller does, and from the first failures on nobody waits at all', async (t) => {
  const rig = await database(t);
  rig.mood = frozen;
  let beganMs = performance.now();
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => outcome(ask(rig.guard))));
  assert.ok(performance.now() - beganMs < 2 * BOUNDS.firstMs);
  assert.deepEqual(outcomes.slice(0, 2), ['StoreUnavailable', 'StoreUnavailable']);
  assert.ok(outcomes.slice(2).every((one) => one === 'StoreBusy' || one === 'StoreUnavailable'), `whose time ended first: ${outcomes}`);
  assert.equal(await outcome(ask(rig.guard)), 'StoreUnavailable');
  beganMs = performance.now();
  const before = rig.asked;
  for (let i = 0; i < 100; i += 1) await assert.rejects(ask(rig.guard), /did not answer within/);
  assert.ok(performance.now() - beganMs < BOUNDS.firstMs);
  assert.equal(rig.asked, before);
  assert.equal(rig.guard.counters().open, 1);
});

test('only the heartbeat finds out that the database is back', async (t) => {
  const rig = await database(t);
  rig.mood = (response) => response.socket.destroy();
  for (let i = 0; i < 3; i += 1) assert.equal(await outcome(ask(rig.guard)), 'StoreUnavailable');
  rig.mood = well;
  assert.equal(await probe(rig.guard), 'StoreUnavailable', 'it rests first');
  await wait(BOUNDS.restMs + 20);
  assert.equal(await outcome(ask(rig.guard)), 'StoreUnavailable', 'a caller is no guinea pig');
  rig.mood = frozen;
  const trial = probe(rig.guard);
  assert.equal(await outcome(ask(rig.guard)), 'StoreUnavailable', 'nor does one wait for the outcome');
  assert.equal(await trial, 'StoreUnavailable');
  rig.mood = well;
  await wait(BOUNDS.restMs + 20);
  assert.equal(await probe(rig.guard), 'answered');
  assert.equal(await outcome(ask(rig.guard)), 'answered');
});

test('what the database answers with an error is not its absence', async (t) => {
  const rig = await database(t);
  rig.mood = (response) => response.writeHead(400).end('bad');
  for (let i = 0; i < 9; i += 1) await assert.rejects(ask(rig.guard), { answered: true });
  assert.equal(rig.asked, 9);
});

test('a question that may take its time gets it from a database that is there, and not from one that is away', async (t) => {
  const rig = await database(t);
  rig.mood = (response, request) => (request.url === '/ping' ? response.writeHead(204).end() : setTimeout(() => well(response), BOUNDS.firstMs * 1.2));
  assert.equal(await outcome(ask(rig.guard, 5000)), 'answered');
  rig.mood = frozen;
  const beganMs = performance.now();
  assert.equal(await outcome(ask(rig.guard, 5000)), 'StoreUnavailable');
  assert.ok(performance.now() - beganMs < 2 * BOUNDS.firstMs);
  assert.equal(rig.guard.counters().asking, 0);
});

test('what takes a database that is there too long does not make it count as away', async (t) => {
  const rig = await database(t, { failures: 1 });
  rig.mood = (response, request) => { if (request.url === '/ping') response.writeHead(204).end(); };
  assert.equal(await outcome(rig.guard.pieces('locations', 'SELECT 1', {}, { long: true }).next()), 'StoreBusy');
  assert.equal(await outcome(ask(rig.guard, 1.2 * BOUNDS.firstMs)), 'StoreBusy');
  rig.mood = well;
  assert.equal(await outcome(ask(rig.guard)), 'answered');
});

test('a long answer holds its place until it is taken, whatever becomes of it', async (t) => {
  const rig = await database(t);
  rig.mood = (response) => response.end(Buffer.concat([rows([[1]], true), rows([[2]])]));
  const long = () => rig.guard.pieces('locations', 'SELECT 1', {}, { long: true });
  assert.equal((await Array.fromAsync(long())).length, 2);
  const one = long();
  await one.next();
  assert.equal(rig.guard.counters().asking, 1);
  const second = outcome(long().next());
  assert.equal(await outcome(long().next()), 'StoreBusy', 'one reads, one waits');
  assert.equal(await outcome(ask(rig.guard)), 'answered', 'short ones do not wait for it');
  assert.equal(await second, 'StoreBusy', 'it waited long enough');
  await one.return();
  assert.equal(rig.guard.counters().asking, 0);
  rig.mood = (response) => { response.write(rows([[1]], true)); setTimeout(() => response.socket.destroy(), 20); };
  await assert.rejects(Array.fromAsync(long()), (error) => error instanceof StoreUnavailable && !(error instanceof StoreBusy));
  assert.equal(rig.guard.counters().asking, 0);
});

test('work in the background is not bounded', async (t) => {
  const rig = await database(t);
  rig.mood = (response) => setTimeout(() => well(response), BOUNDS.firstMs * 1.2);
  assert.equal(await outcome(ask(rig.guard, BOUNDS.unboundedFromMs)), 'answered');
  assert.equal((await Array.fromAsync(rig.guard.pieces('readings', 'SELECT 1', {}, { firstMs: BOUNDS.unboundedFromMs }))).length, 1);
  assert.equal(rig.guard.counters().asked, 0);
});
