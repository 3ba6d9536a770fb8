'use strict';

const assert = require('node:assert/strict');
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
  gatherWrites(stream);
  gatherWrites(stream);
  stream.write('a');
  stream.cork(); // as MQTT.js does for each packet
  stream.write('b');
  stream.write('c', () => out.push('written'));
  process.nextTick(() => stream.uncork());
  await Promise.resolve();
  assert.deepEqual(out, []);
  await turn();
  assert.deepEqual(out, [['a', 'b', 'c'], 'written']);
  stream.write('d');
  await turn();
  assert.deepEqual(out.slice(2), [['d']]);
  stream.end('e');
  await turn();
  assert.deepEqual(out.slice(3), [['e']]);
});

test('a socket does not wait for acknowledgements of its packets (Nagle); it is set once', () => {
  const calls = [];
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  stream.setNoDelay = (noDelay) => calls.push(noDelay);
  gatherWrites(stream);
  gatherWrites(stream);
  assert.deepEqual(calls, [true]);
});
