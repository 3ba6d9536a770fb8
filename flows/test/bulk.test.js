'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const http = require('node:http');
const { test } = require('node:test');
const express = require('express');
const { createBuilding } = require('../lib/building');
const { StoreBusy, StoreUnavailable } = require('../lib/store');
const { PiecedJson, createRecords } = require('../lib/http/encode');
const { deliver, extractBeacon } = require('../lib/http/hacs');
const { createBodyCheck } = require('../lib/http/checks');
const { HACS_ROUTES } = require('../lib/http/v1/description/hacs');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');

const S = 1_700_000_000;
const check = createBodyCheck(HACS_ROUTES.find(({ path }) => path === '/extractbeacon').body);
const LEVELS = { a: 'L1', b: 'L1', c: 'L2' };

function rig({ startedMs = 0, locations = async function* none() {} } = {}) {
  const site = new Site(createBuilding(smallBuilding()), startedMs);
  const context = { site, store: { locations }, clock: () => S * 1000 };
  const looked = [];
  return {
    site,
    looked,
    add: (staff, s, room) => site.memory.history.add(
      { ts: s * 1000, staff_id: staff, level: LEVELS[room], room, beacon: BEACONS[room], rssi: -60 }, S * 1000),
    async ask(staffId, from, to) {
      const params = check(new URLSearchParams(), { staff_id: staffId, start_time: from, end_time: to });
      const answer = await extractBeacon(context, params, (...args) => looked.push(args));
      return JSON.parse(answer instanceof PiecedJson ? (await Array.fromAsync(answer.pieces())).join('') : JSON.stringify(answer)).location;
    },
  };
}
const lines = (records) => records.map(({ staff_id: id, level, location, timestamp }) => `${id} ${level} ${location} ${timestamp - S}`);

test('several at once, one staff member after the other, each newest first', async () => {
  const { add, ask, looked } = rig();
  for (const [staff, s, room] of [['0', -3, 'a'], ['0', -2, 'b'], ['2', -2, 'a'], ['7', -1, 'c'], ['9', -1, 'a'], ['10', -4, 'a']]) add(staff, S + s, room);
  assert.deepEqual(lines(await ask('0,2,7', S - 10, S)), ['7 L2 Room C -1', '2 L1 Room A -2', '0 L1 Room B -2', '0 L1 Room A -3']);
  assert.deepEqual(lines(await ask('0,0', S - 10, S)), ['0 L1 Room B -2', '0 L1 Room A -3'], 'a list of one is a list');
  assert.deepEqual(lines(await ask('*', S - 3, S - 2)), ['2 L1 Room A -2', '0 L1 Room B -2', '0 L1 Room A -3']);
  assert.deepEqual(lines(await ask('1,nobody', S - 10, S)), []);
  assert.deepEqual(await ask('7', S - 10, S), [{ level: 'L2', location: 'Room C', timestamp: S - 1 }], 'one alone is as ever');
  assert.deepEqual(looked.map(([people]) => people), [['0', '2', '7'], ['0'], '*', ['1', 'nobody'], '7']);
  assert.deepEqual(looked[2].slice(1), [(S - 3) * 1000, (S - 2) * 1000 + 999]);
});

test('what is older comes in between', async () => {
  const asked = [];
  const { add, ask } = rig({ startedMs: (S - 5) * 1000, async* locations(...args) {
    asked.push(args);
    yield { staffId: '5', ms: [(S - 50) * 1000], places: [{ level: 'L1', room: 'a' }] };
    yield { staffId: '0', ms: [(S - 50) * 1000], places: [{ level: 'L9', room: 'gone' }] };
  } });
  for (const staff of ['0', '7', '6']) add(staff, S - 1, 'a');
  assert.deepEqual(lines(await ask('*', S - 60, S)),
    ['7 L1 Room A -1', '6 L1 Room A -1', '5 L1 Room A -50', '0 L1 Room A -1', '0 L9 gone -50']);
  assert.equal(asked.length, 1);
  assert.equal(asked[0][0], null);
});

test('what asks too much is refused by name, with what is allowed', async () => {
  const { add, ask } = rig();
  for (let i = 0; i < 100; i += 1) add(String(i), S - 1, 'a');
  const refused = (message) => (error) => error.status === 400 && message.test(error.message);
  await assert.rejects(ask('0,', S - 1, S), refused(/staff_id/));
  await assert.rejects(ask('0,a b', S - 1, S), refused(/staff_id/));
  await assert.rejects(ask('0,*', S - 1, S), refused(/staff_id/));
  await assert.rejects(ask(Array.from({ length: 1001 }, (_, i) => i).join(), S - 1, S), refused(/1000 .* \*/));
  await assert.rejects(ask('*', S - 86_400, S), refused(/end_time .* 100 staff members: .* 26784 s .* 30 of them/));
  await assert.rejects(ask('0,1', 0, S), refused(/end_time/));
  assert.deepEqual(await ask('0', 0, S * 2), [{ level: 'L1', location: 'Room A', timestamp: S - 1 }], 'one alone may ask for all there is');
  assert.deepEqual(await ask('0,1', 0, 5), [], 'nothing is kept of then');
});

test('a store that is away is 503, one that is asked too much says to come again soon', async () => {
  for (const [error, wait] of [[new StoreUnavailable('sleeps'), 5], [new StoreBusy('busy'), 1]]) {
    const locations = () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) });
    const { ask } = rig({ startedMs: S * 1000, locations });
    for (const staff of ['0', '*']) await assert.rejects(ask(staff, S - 10, S), { status: 503, retryAfterS: wait });
  }
});

test('names with quotes, and a building that changes, in the pieces of a record', () => {
  const textOf = createRecords();
  const list = { ms: [1999, 1000], places: [{ level: 'L"1', room: 'a' }, { level: 'L2', room: 'b' }] };
  const parse = (text) => JSON.parse(`[${text.slice(0, -1)}]`);
  const first = { roomName: (room) => `"${room}\\` };
  assert.deepEqual(parse(textOf(first, list)), [{ level: 'L"1', location: '"a\\', timestamp: 1 }, { level: 'L2', location: '"b\\', timestamp: 1 }]);
  assert.deepEqual(parse(textOf({ roomName: () => 'new' }, list, 'x"')).map(({ staff_id: id, location }) => [id, location]), [['x"', 'new'], ['x"', 'new']]);
  assert.equal(textOf(first, { ms: [], places: [] }), '');
});

/** An answer over a real connection. */
async function answering(t, items, errors = []) {
  const app = express().use((_request, response) => {
    const broken = (error) => errors.push(error.message);
    deliver(new PiecedJson('{"x":[', items(), ']}'), response, () => response.status(200), broken).then((text) => {
      if (text !== null) response.send(text);
    }, (error) => {
      broken(error);
      response.status(503).end();
    });
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}
const item = `"${'y'.repeat(1000)}",`;
async function* many(count, end = () => {}) {
  for (let i = 0; i < count; i += 1) yield item;
  end();
}

for (const count of [0, 1, 2, 63, 64, 65, 66, 500, 523, 524, 525, 526, 5000]) {
  test(`an answer of ${count} items arrives whole, a small one with its length`, async (t) => {
    const response = await fetch(await answering(t, () => many(count)));
    if (count <= 500 || count === 5000) assert.equal(response.headers.has('content-length'), count <= 500);
    assert.equal((await response.json()).x.length, count);
  });
}

test('while it is small an error has its status, later the answer is broken off', async (t) => {
  const fail = () => { throw new Error('away'); };
  const errors = [];
  assert.equal((await fetch(await answering(t, () => many(100, fail), errors))).status, 503);
  const cut = await fetch(await answering(t, () => many(2000, fail), errors));
  assert.equal(cut.status, 200);
  await assert.rejects(cut.text());
  assert.deepEqual(errors, ['away', 'away']);
});

test('who goes away in the middle ends the work, and it is no error', async (t) => {
  let made = 0;
  let ended = () => {};
  const over = new Promise((resolve) => { ended = resolve; });
  const errors = [];
  const url = await answering(t, async function* endless() {
    try {
      for (;;) {
        made += 1;
        yield item;
      }
    } finally {
      ended();
    }
  }, errors);
  const request = http.get(url, (response) => response.once('data', () => response.destroy()));
  request.on('error', () => {});
  await over;
  assert.ok(made < 200_000, 'a caller that takes nothing stops the making');
  assert.deepEqual(errors, []);
});

test('a HEAD of a large answer does not make all of it', async (t) => {
  let made = 0;
  const url = await answering(t, function* endless() {
    for (;;) {
      made += 1;
      yield item;
    }
  });
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
  assert.ok(made < 2000);
});
