'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('fast-check');
const { createEvents } = require('../lib/past/lookup');
const { createRecentEvents } = require('../lib/past/recent');

const START_MS = Date.UTC(2026, 0, 5, 9);
const MINUTE_MS = 60_000;

/** Events at work: published ones are stored `lagMs` later. */
function world({ lagMs = 1000, sinceMs = START_MS - 3_600_000 } = {}) {
  const state = { nowMs: START_MS, asked: 0, all: [] };
  const recent = createRecentEvents(sinceMs);
  const store = {
    events: async ({ type, subject }, fromMs, toMs, count) => {
      state.asked += 1;
      return state.all.filter((one) => one.storedMs <= state.nowMs && one.ts >= fromMs && one.ts < toMs
        && (type === undefined || one.type === type) && (subject === undefined || one.subject === subject))
        .sort((a, b) => b.ts - a.ts).slice(0, count).map(({ storedMs: _, ...event }) => event);
    },
  };
  const events = createEvents({ store, site: { memory: { recentEvents: recent } }, clock: () => state.nowMs });
  const publish = (ts, type = 'enter', subject = '7', more = {}) => {
    const event = { ts, type, subject, room: 'hall', ...more };
    recent.add([{ ...event, staff_id: subject, v: 1 }], state.nowMs);
    if (state.all.some((one) => one.ts === ts && one.type === type && one.subject === subject)) return; // one point
    state.all.push({ ...event, storedMs: state.nowMs + lagMs });
  };
  /** Of before the start of the flows: stored already. */
  const stored = (ts, type = 'enter', subject = '7') => state.all.push({ ts, type, subject, room: 'hall', storedMs: 0 });
  return { state, recent, events, publish, stored };
}

test('the newest page costs the database one question in ten seconds, however many ask', async () => {
  const { state, events, stored, publish } = world();
  for (let k = 1; k <= 30; k += 1) stored(START_MS - k * MINUTE_MS);
  const ask = () => events({}, state.nowMs - 86_400_000, state.nowMs, 25);
  const pages = await Promise.all(Array.from({ length: 50 }, ask));
  assert.equal(state.asked, 1);
  for (const page of pages) assert.equal(page.length, 25);
  state.nowMs += 2000;
  publish(state.nowMs - 500);
  assert.equal((await ask())[0].ts, state.nowMs - 500, 'what is published is there before it is stored');
  assert.equal(state.asked, 1);
  state.nowMs += 10_000;
  await ask();
  assert.equal(state.asked, 2);
});

test('what was erased from the database is gone ten seconds later, what was published a quarter of an hour later', async () => {
  const { state, events, stored, publish } = world();
  stored(START_MS - MINUTE_MS * 30);
  publish(START_MS - 1);
  const ask = () => events({}, START_MS - 86_400_000, START_MS, 25);
  assert.equal((await ask()).length, 2);
  state.all.length = 0;
  state.nowMs += 10_001;
  assert.equal((await ask()).length, 1);
  state.nowMs += 15 * MINUTE_MS;
  publish(state.nowMs, 'enter', '8');
  assert.deepEqual(await ask(), []);
});

test('an answer from memory has the fields that the database gives', async () => {
  const { state, events, publish } = world();
  publish(START_MS - 10, 'crowded', 'hall', { count: 12, limit: 10, level: undefined });
  const [fromMemory] = await events({ type: 'crowded' }, START_MS - MINUTE_MS, START_MS, 25);
  assert.deepEqual(fromMemory, { ts: START_MS - 10, type: 'crowded', subject: 'hall', room: 'hall', count: 12, limit: 10 });
  assert.equal(state.asked, 0);
});

test('flows that have just started ask the database for the last minute, too', async () => {
  const { state, events, stored } = world({ sinceMs: START_MS - 5000 });
  stored(START_MS - 20_000);
  assert.equal((await events({}, START_MS - MINUTE_MS * 10, START_MS, 25)).length, 1);
  state.nowMs += 1;
  assert.equal((await events({}, START_MS - MINUTE_MS * 10, START_MS, 25)).length, 1);
});

test('an error of the database is no empty page, and is not kept', async () => {
  let fails = true;
  const store = { events: async () => { if (fails) throw new Error('away'); return [{ ts: 5, type: 'enter', subject: '7' }]; } };
  const events = createEvents({ store, site: { memory: { recentEvents: createRecentEvents(0) } }, clock: () => START_MS });
  await assert.rejects(events({}, 0, START_MS, 25), /away/);
  fails = false;
  assert.equal((await events({}, 0, START_MS, 25)).length, 1);
});

test('too many to keep: what was dropped is asked of the database', () => {
  const recent = createRecentEvents(0);
  const events = Array.from({ length: 50_001 }, (_, k) => ({ ts: k, type: 'enter', subject: `${k}` }));
  recent.add(events.slice(0, 1), 1000);
  assert.equal(recent.completeFrom(), 0);
  recent.add(events.slice(1), 2000);
  assert.equal(recent.completeFrom(), 1001);
  assert.equal(recent.list(() => true).length, 50_000);
});

test('any question gives what a database without delay would give', async () => {
  const event = fc.record({ agoMs: fc.integer({ min: 0, max: 600_000 }), lateMs: fc.integer({ min: 0, max: 120_000 }), type: fc.constantFrom('enter', 'leave'), subject: fc.constantFrom('1', '2') });
  const question = fc.record({ from: fc.integer({ min: 0, max: 700_000 }), to: fc.integer({ min: 0, max: 700_000 }),
    count: fc.constantFrom(1, 3, 25, Number.MAX_SAFE_INTEGER), type: fc.constantFrom(undefined, 'enter'), subject: fc.constantFrom(undefined, '1') });
  await fc.assert(fc.asyncProperty(fc.array(event), fc.array(question), fc.integer({ min: 0, max: 50_000 }), async (made, asked, lagMs) => {
    const { state, events, publish } = world({ lagMs });
    state.nowMs -= 600_000;
    const inOrder = made.map((one) => ({ ...one, ts: START_MS - one.agoMs })).sort((a, b) => a.ts + a.lateMs - b.ts - b.lateMs);
    for (const { ts, lateMs, type, subject } of inOrder) {
      state.nowMs = ts + lateMs;
      publish(ts, type, subject);
    }
    state.nowMs = Math.max(state.nowMs, START_MS) + 1;
    for (const { from, to, count, type, subject } of asked) {
      const [fromMs, toMs] = [state.nowMs - from, state.nowMs - to];
      const right = state.all.filter((one) => one.ts >= fromMs && one.ts < toMs && (type === undefined || one.type === type)
        && (subject === undefined || one.subject === subject)).map(({ ts }) => ts).sort((a, b) => b - a).slice(0, count);
      assert.deepEqual((await events({ type, subject }, fromMs, toMs, count)).map(({ ts }) => ts), right);
    }
  }));
});
