'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createBacklog, createProbe, withBacklog } = require('../lib/health/heartbeat');
const { createSpool } = require('../lib/health/other-figures');

const T = 1_800_000_000_000;

/** Of the spool's status, with what is special of messages. */
const queues = (messages) => {
  const empty = { waiting_lines: 0, oldest_ms: null, fault: '' };
  return { messages: { ...empty, ...messages }, writes: empty };
};
const NOTHING_WAITS = { queueMs: 0, messagesMs: 0, unreadMs: 0, away: false };

/** After samples every five seconds; each says what has changed. */
function backlogAfter(...samples) {
  const backlog = createBacklog();
  samples.forEach((sample, number) => backlog.add({
    ts: T + number * 5000, offered: number * 45_000, stored: number * 30_000, ...NOTHING_WAITS, ...sample,
  }));
  return backlog;
}

const stateAfter = (...samples) => backlogAfter(...samples).state();

test('more is offered than is taken: overloaded, with both rates and how far behind', () => {
  const state = stateAfter({}, { queueMs: 2000 }, { queueMs: 9000 }, { queueMs: 16_000 });
  assert.deepEqual(state, { kind: 'overloaded', offered_per_s: 9000, taken_per_s: 6000, behind_by_s: 16 });
  const part = withBacklog({ status: 'up', store_lag_ms: 15_900 }, state);
  assert.deepEqual([part.status, part.reason, part.backlog], ['degraded', 'overloaded: offered 9000/s, taken 6000/s, behind by 16 s', 'overloaded']);
});

test('a short backlog is none, and a shrinking one catches up', () => {
  const quick = stateAfter({}, { queueMs: 9000 });
  assert.deepEqual([quick.kind, withBacklog({ status: 'up' }, quick).status], ['none', 'up']);
  assert.equal(stateAfter({ queueMs: 90_000 }, { queueMs: 80_000 }, { queueMs: 60_000 }).kind, 'catching_up');
});

test('a heartbeat that came back says nothing of what waits: each bucket has a queue of its own', () => {
  const backlog = createBacklog();
  backlog.add({ ts: T, offered: 1, stored: 1, ...NOTHING_WAITS, queueMs: 30_000, unreadMs: 0, away: true });
  assert.equal(backlog.state().kind, 'away');
  assert.equal(withBacklog({ status: 'up' }, backlog.state()).reason, 'InfluxDB takes nothing: offered ?/s, behind by 30 s');
});

test('readings that wait for Telegraf are behind, though heartbeats, which do not wait with them, come back', () => {
  const behind = backlogAfter({ messagesMs: 5000 }, { messagesMs: 10_000 }, { messagesMs: 15_000 }).state();
  assert.deepEqual([behind.kind, behind.behind_by_s], ['overloaded', 15]);
  assert.equal(backlogAfter({ messagesMs: 5000 }, { messagesMs: 9000 }).state().kind, 'none');
});

test('where nothing is stored at all it is no overload', () => {
  const stands = (sample) => ({ stored: 7, ...sample });
  assert.equal(stateAfter(stands({}), stands({ queueMs: 11_000 })).kind, 'away', 'the disk has it, InfluxDB takes nothing');
  assert.equal(stateAfter({}, { queueMs: 11_000, away: true }).kind, 'away');
  assert.equal(stateAfter(stands({}), stands({ unreadMs: 20_000 })).kind, 'none', 'Telegraf is away: the heartbeat says so');
});

test('a broker that was started again has no rate', () => {
  assert.equal(stateAfter({ offered: 900 }, { offered: 3, queueMs: 12_000 }).offered_per_s, null);
});

test('what the queue on disk reports becomes figures; an absent one has none', async () => {
  const status = { stored: { readings: 40, health: 2 }, dropped: { damaged: 0, readings: 3 }, refused: { readings: 1 }, waiting_bytes: 9,
    waiting_lines: 1, oldest_ms: T - 3000, fault: '', queues: queues({ oldest_ms: T - 3000 }) };
  const rig = { nowMs: T, answer: async () => ({ ok: true, json: async () => status }) };
  const spool = createSpool({ url: 'http://spool', clock: () => rig.nowMs, get: () => rig.answer() });
  const read = () => Object.fromEntries(spool.figures.map(({ name, read: of }) => [name, of()]));
  assert.deepEqual(read(), { stored_batches: null, stored_timestamp_s: null, spool_waiting_bytes: null, spool_dropped: null });
  await spool.poll();
  const figures = { stored_batches: 40, stored_timestamp_s: T / 1000, spool_waiting_bytes: 9, spool_dropped: { damaged: 0, readings: 4 } };
  assert.deepEqual(read(), figures);
  rig.nowMs += 4000;
  assert.deepEqual([spool.waitedMs('messages'), spool.waitedMs('writes')], [3000, 0], 'when it was asked');
  rig.answer = async () => { throw new Error('away'); };
  rig.nowMs += 30_000;
  await spool.poll();
  assert.equal(spool.status(), null);
  assert.equal(spool.waitedMs('messages'), 0);
});

test('where no readings are taken in /health says why, though heartbeats come back', async () => {
  const rig = { now: T, fault: '' };
  const spool = { waitedMs: () => 0, status: () => ({ stored: {}, fault: '', queues: queues({ fault: rig.fault }) }) };
  const probe = createProbe({ newestHeartbeat: async () => rig.now }, T, { spool: () => spool });
  const ingestAfter = async (ms) => {
    rig.now += ms;
    await probe.poll(() => rig.now);
    probe.tick(rig.now);
    return probe.ingest(rig.now);
  };
  assert.equal((await ingestAfter(0)).status, 'up');
  rig.fault = 'Telegraf does not answer: refused';
  assert.equal((await ingestAfter(5000)).status, 'up', 'a restart takes some seconds');
  const degraded = await ingestAfter(15_000);
  assert.deepEqual([degraded.status, degraded.reason], ['degraded', 'readings are not taken in: Telegraf does not answer: refused']);
  rig.fault = '';
  assert.equal((await ingestAfter(5000)).status, 'up');
});
