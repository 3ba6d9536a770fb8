'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { Writable } = require('node:stream');
const tls = require('node:tls');
const { READ_INTERVAL_MS, createCoalescedReads } = require('../lib/broker/read-interval');
const { makeCertificate } = require('./support/certificate');
const { until } = require('./support/stack');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'coalesced-'));
let pair;
before(() => {
  const { cert, key } = makeCertificate(folder);
  pair = { cert: fs.readFileSync(cert), key: fs.readFileSync(key) };
});
after(() => fs.rmSync(folder, { recursive: true }));

/** A broker's end of a TLS connection, and the end that coalesces its reads. */
async function connection(t) {
  const server = tls.createServer(pair).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'secureConnection');
  const reader = tls.connect({ host: '127.0.0.1', port: server.address().port, ca: pair.cert, onread: createCoalescedReads(() => reader) });
  const [[broker]] = await Promise.all([accepted, once(reader, 'secureConnect')]);
  const errors = [];
  for (const socket of [broker, reader]) socket.on('error', (error) => errors.push(error));
  t.after(() => {
    for (const socket of [broker, reader]) socket.destroy();
    server.close();
    assert.deepEqual(errors, []);
  });
  return { broker, reader };
}

/** Numbered messages, each a record of its own. */
const messages = (count, first = 0) => Array.from({ length: count }, (_, n) => `${first + n},`);
const writeEach = (broker, some) => { for (const one of some) broker.write(one); };

test('records that come while it pauses are handed over together and in order, some milliseconds later at most', async (t) => {
  const { broker, reader } = await connection(t);
  const [data, times] = [[], []];
  reader.on('data', (some) => {
    data.push(String(some));
    times.push(performance.now());
  });
  for (let n = 0; n < 200; n += 10) {
    writeEach(broker, messages(10, n));
    await new Promise((resolve) => { setTimeout(resolve, 1); });
  }
  await until('all is read', () => data.join('').split(',').length > 200);
  assert.equal(data.join(''), messages(200).join(''));
  const soonest = Math.min(...times.slice(1).map((ms, n) => ms - times[n]));
  assert.ok(soonest >= READ_INTERVAL_MS - 2, `${soonest} ms between two`); // a timer may be a millisecond early
  assert.ok(data.length < 100, `${data.length}`);
});

test('after a quiet time what comes is handed over in the turn in which it is read', async (t) => {
  const { broker, reader } = await connection(t);
  const turns = [];
  const inTurn = createCoalescedReads(() => reader, (work) => turns.push(work));
  const seen = [];
  reader.on('data', (some) => seen.push(String(some)));
  inTurn.callback(2, Buffer.from('a,??'));
  inTurn.callback(2, Buffer.from('b,??'));
  assert.deepEqual([turns.length, seen], [1, []]);
  turns[0]();
  assert.deepEqual(seen, ['a,b,']);
  assert.ok(reader.isPaused());
  broker.write('c,');
  await until('it goes on by itself', () => seen.length === 2);
});

test('a reader that has enough is not given more until it goes on', async (t) => {
  const { broker, reader } = await connection(t);
  const taken = [];
  let next = () => {};
  reader.pipe(new Writable({ highWaterMark: 1, write(chunk, _encoding, done) {
    taken.push(String(chunk));
    next = done;
  } }));
  writeEach(broker, messages(100));
  await until('some came', () => taken.length > 0);
  writeEach(broker, messages(100, 100));
  await new Promise((resolve) => { setTimeout(resolve, 5 * READ_INTERVAL_MS); });
  assert.equal(taken.length, 1);
  await until('all came', () => {
    next();
    return taken.join('').split(',').length > 200;
  });
  assert.equal(taken.join(''), messages(200).join(''));
});

test('what came before the end of a connection is handed over before it', async (t) => {
  const { broker, reader } = await connection(t);
  const seen = [];
  reader.on('data', (some) => {
    if (seen.push(String(some)) === 1) broker.end('b,'); // while it pauses
  });
  reader.on('end', () => seen.push('end'));
  broker.write('a,');
  await once(reader, 'close');
  assert.deepEqual(seen, ['a,', 'b,', 'end']);
});

test('a connection that broke takes nothing any more, and the next one begins anew', async (t) => {
  const [first, second] = [await connection(t), await connection(t)];
  let stream = first.reader;
  const turns = [];
  const { callback } = createCoalescedReads(() => stream, (work) => turns.push(work));
  const seen = [];
  for (const [name, { reader }] of Object.entries({ first, second })) reader.on('data', (some) => seen.push(`${name} ${some}`));
  callback(2, Buffer.from('a,'));
  first.reader.destroy();
  turns.shift()();
  stream = second.reader;
  callback(2, Buffer.from('b,'));
  turns.shift()();
  assert.deepEqual(seen, ['second b,']);
});
