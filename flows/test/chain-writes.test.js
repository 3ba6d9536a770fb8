'use strict';

const assert = require('node:assert/strict');
const { EventEmitter } = require('node:events');
const { setImmediate: turn } = require('node:timers/promises');
const { test } = require('node:test');
const { Writable } = require('node:stream');
const { parser, generate } = require('mqtt-packet');
const { gatherWrites } = require('../lib/broker/gather-writes');

const acknowledgement = (messageId) => generate({ cmd: 'puback', messageId });

/** A client whose socket keeps what each of its writes had. */
function socket(properties) {
  const writes = [];
  const take = (chunks, done) => { writes.push(Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk)))); done(); };
  const stream = new Writable({ decodeStrings: false, writev: take, write: (chunk, encoding, done) => take([{ chunk, encoding }], done) });
  const client = Object.assign(new EventEmitter(), { stream: Object.assign(stream, properties) });
  gatherWrites(client);
  const send = (packet) => {
    client.emit('packetsend', {});
    stream.write(packet);
  };
  return { send, writes };
}

async function writeAll(send) {
  for (let first = 1; first <= 300; first += 100) {
    for (let id = first; id < first + 100; id += 1) send(acknowledgement(id));
    await turn();
  }
  send(acknowledgement(301));
  await turn();
}

test('over TLS a write of many acknowledgements ends within a packet, and the broker reads the same packets, and pings', async () => {
  const { send, writes } = socket({ encrypted: true });
  await writeAll(send);
  assert.deepEqual(writes.map((one) => one.length), [401, 402, 402, 5]);
  const read = [];
  const broker = parser().on('packet', ({ cmd, messageId }) => read.push(messageId ?? cmd));
  const readAfter = writes.map((one) => {
    broker.parse(one);
    return read.length;
  });
  assert.deepEqual(readAfter, [100, 201, 302, 304], 'a ping is read with the next write');
  assert.deepEqual(read.filter((one) => one !== 'pingreq'), Array.from({ length: 301 }, (_, index) => index + 1));
  assert.equal(read.filter((one) => one === 'pingreq').length, 3);
});

test('few acknowledgements, and a plain connection, have no ping', async () => {
  const plain = socket({});
  await writeAll(plain.send);
  assert.deepEqual(plain.writes.map((one) => one.length), [400, 400, 400, 4]);
  const quiet = socket({ encrypted: true });
  quiet.send(acknowledgement(1));
  await turn();
  assert.deepEqual(quiet.writes, [acknowledgement(1)]);
});
