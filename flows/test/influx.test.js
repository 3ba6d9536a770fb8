'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setTimeout: wait } = require('node:timers/promises');
const { StoreUnavailable, createInflux, createStore, createStoreGuard } = require('../lib/store');
const { fault, piece, playInflux, rows } = require('./support/influx');

const LIMIT_MS = 1000; // an answer at once is within it on a busy machine
const QUICK = { timeLimitMs: LIMIT_MS };
const storeOf = (influx) => createStore(createStoreGuard(influx));
const all = async (pieces) => (await Array.fromAsync(pieces)).flat();

test('values are bound, never written into the statement', async (t) => {
  const evil = `x' OR 1=1; DROP`;
  const store = storeOf(await playInflux(t, (request, response, form) => {
    assert.equal(request.headers.authorization, 'Token secret');
    assert.equal(form.get('db'), 'locations');
    assert.equal(form.get('epoch'), 'ms');
    assert.ok(!form.get('q').includes('DROP'));
    assert.deepEqual(JSON.parse(form.get('params')), { staff_id0: evil, staff_id1: '1', from: '2021-11-20T08:28:39.123Z', to: '2021-11-20T08:28:40.000Z' });
    const series = (id, values) => ({ name: 'location', tags: { staff_id: id }, columns: ['time', 'level', 'room'], values });
    response.end(piece([series(evil, [[6, 'L1', 'a'], [5, 'L1', 'a']]), series('1', [[5, 'L2', 'b']])]));
  }));
  const [a, b] = [{ level: 'L1', room: 'a' }, { level: 'L2', room: 'b' }];
  assert.deepEqual(await all(store.locations([evil, '1'], 1637396919123, 1637396920000, 1)),
    [{ staffId: evil, ms: [6, 5], places: [a, a] }, { staffId: '1', ms: [5], places: [b] }]);
});

test('no rows are an empty list', async (t) => {
  const store = storeOf(await playInflux(t, (_request, response) => response.end(rows([]))));
  assert.deepEqual(await all(store.locations(['0'], 0, 1, 1)), []);
  assert.deepEqual(await store.latest(0, 1), []);
  assert.equal(await store.newestHeartbeat(0), null);
});

test('one latest a person', async (t) => {
  const series = (staff, ts) => ({ tags: { staff_id: staff }, values: [[ts, 'L1', 'a', 'B', -60]] });
  const store = storeOf(await playInflux(t, (_request, response) => response.end(piece([series('0', 5), series('1', 1_700_000_000_123)]))));
  assert.deepEqual((await store.latest(0, 1)).map(({ staff_id: id, ts }) => [id, ts]), [['0', 5], ['1', 1_700_000_000_123]]);
});

const broken = {
  'a refused token': [(_q, response) => response.writeHead(401).end('{}'), /read token/],
  'an error status': [(_q, response) => response.writeHead(500).end('boom'), /HTTP 500: boom/],
  'an error in the answer': [(_q, response) => response.end(fault('bad query')), /bad query/],
  'an answer that is no MessagePack': [(_q, response) => response.end('<html>'), /InfluxDB/],
  'a connection cut in the middle': [(_q, response) => { response.write(rows([[1]]).subarray(0, 9)); response.socket.destroy(); }, /InfluxDB/],
  'no answer at all': [() => {}, /within 1000 ms/],
  'half an answer': [(_q, response) => response.write(rows([[1]]).subarray(0, 9)), /within 1000 ms/],
};
for (const [name, [answer, message]] of Object.entries(broken)) {
  test(`${name} is StoreUnavailable`, async (t) => {
    const influx = await playInflux(t, answer, QUICK);
    await assert.rejects(influx.query('locations', 'SELECT 1'), (error) => error instanceof StoreUnavailable && message.test(error.message));
  });
}

test('nobody there is StoreUnavailable, without the token in the message', async () => {
  const influx = createInflux({ url: 'http://127.0.0.1:1', token: 'secret' });
  for (const asked of [influx.query('locations', 'SELECT 1'), influx.ping(LIMIT_MS)]) {
    await assert.rejects(asked, (error) => error instanceof StoreUnavailable && !error.message.includes('secret'));
  }
});

test('what is wrong with a question says nothing about whether the database is there', async (t) => {
  for (const [answer, answered] of [[(_q, response) => response.end(fault('bad query')), true],
    [(_q, response) => response.writeHead(400).end('bad'), true], [(_q, response) => response.writeHead(503).end(), false]]) {
    const influx = await playInflux(t, answer);
    await assert.rejects(influx.query('locations', 'SELECT 1'), { answered });
  }
});

test('a long answer comes piece by piece, and the next waits until one is taken', async (t) => {
  const influx = await playInflux(t, (_request, response) => {
    response.write(rows([[1], [2]], true).subarray(0, 9)); // pieces are cut anywhere
    setTimeout(() => response.end(Buffer.concat([rows([[1], [2]], true).subarray(9), rows([[3]])])), 20);
  });
  const taken = [];
  for await (const series of influx.pieces('readings', 'SELECT 1', {}, { firstMs: LIMIT_MS, idleTimeoutMs: LIMIT_MS })) {
    await wait(1.2 * LIMIT_MS); // longer than InfluxDB may take
    taken.push(series.flatMap((one) => one.rows.flat()));
  }
  assert.deepEqual(taken, [[1, 2], [3]]);
});

for (const [name, answer] of Object.entries({
  'that ends too early': (response) => response.end(rows([[1]], true)),
  'that is cut': (response) => { response.write(rows([[1]], true)); setTimeout(() => response.socket.destroy(), 20); },
  'that stands still': (response) => response.write(rows([[1]], true)),
  'that never begins': () => {},
  'with an error in the middle': (response) => response.end(Buffer.concat([rows([[1]], true), fault('boom')])),
  'of a refused token': (response) => response.writeHead(401).end('{}'),
  'without a body': (response) => response.writeHead(500).end(),
  'that is no MessagePack': (response) => response.end('<html>\n'),
})) {
  test(`a long answer ${name} is StoreUnavailable`, async (t) => {
    const influx = await playInflux(t, (_request, response) => answer(response));
    await assert.rejects(all(influx.pieces('readings', 'SELECT 1', {}, { firstMs: LIMIT_MS, idleTimeoutMs: LIMIT_MS })), (error) => error instanceof StoreUnavailable);
  });
}

test('who wants no more of a long answer ends it, and the next question is answered', async (t) => {
  let ended = 0;
  const influx = await playInflux(t, (_request, response) => {
    response.on('close', () => { ended += 1; });
    response.write(rows([[1]], true));
  }, { connections: 1 });
  for (let i = 1; i <= 3; i += 1) {
    const pieces = influx.pieces('readings', 'SELECT 1', {});
    await pieces.next();
    await pieces.return();
    while (ended < i) await wait(1);
  }
});
