'use strict';

const assert = require('node:assert/strict');
const { EventEmitter } = require('node:events');
const { setImmediate: turn } = require('node:timers/promises');
const { test } = require('node:test');
const { Writable } = require('node:stream');
const { gatherWrites } = require('../lib/broker/gather-writes');

test('what is written in one turn goes out at its end, together and in order; nothing is kept for later', async () => {
  const out = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => { out.push([String(chunk)]); done(); },
    writev: (chunks, done) => { out.push(chunks.map(({ chunk }) => String(chunk))); done(); },
  });
  const client = Object.assign(new EventEmitter(), { stream });
  gatherWrites(client);
  gatherWrites(client);
  /** As MQTT.js writes a packet. */
  const send = (parts, done) => {
    client.emit('packetsend', {});
    stream.cork();
    for (const part of parts) stream.write(part, done);
    process.nextTick(() => stream.uncork());
  };
  send(['a']);
  send(['b', 'c'], () => out.push('written'));
  await Promise.resolve();
  assert.deepEqual(out, []);
  await turn();
  assert.deepEqual(out, [['a', 'b', 'c'], 'written', 'written']);
  send(['d']);
  await turn();
  assert.deepEqual(out.slice(3), [['d']]);
  stream.end('e');
  await turn();
  assert.deepEqual(out.slice(4), [['e']]);
});

test('a socket does not wait for acknowledgements of its packets (Nagle); it is set once for each connection', async () => {
  const calls = [];
  const connection = (name) => Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }),
    { setNoDelay: (noDelay) => calls.push([name, noDelay]) });
  const client = Object.assign(new EventEmitter(), { stream: connection('first') });
  gatherWrites(client);
  gatherWrites(client);
  for (const next of [client.stream, client.stream, connection('second')]) {
    client.stream = next;
    client.emit('packetsend', {});
    assert.ok(next.writableCorked > 0);
    await turn();
    assert.equal(next.writableCorked, 0);
  }
  assert.deepEqual(calls, [['first', true], ['second', true]]);
});
