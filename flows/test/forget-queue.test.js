'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const mqtt = require('mqtt');
const { createConnection } = require('../lib/outbox/connection');
const { forgetQueue } = require('../lib/outbox/forget-queue');
const { createOutbox } = require('../lib/outbox');
const { Broker, until } = require('./support/stack');

test('a connection that breaks to forget a queue counts as the same, one that breaks by itself does not', () => {
  const connection = createConnection();
  let [stream, isUp] = ['first', true];
  const look = (nowMs) => connection.look({ connected: () => isUp, connection: () => stream, send() {} }, nowMs);
  assert.deepEqual([connection.look(null, 0), look(0), look(1)], ['none', 'same', 'same']);
  connection.willGoOn(100);
  isUp = false;
  assert.equal(look(200), 'none');
  [stream, isUp] = ['second', true];
  assert.deepEqual([look(1200), look(1300)], ['same', 'same']);
  stream = 'third';
  assert.equal(look(20_000), 'another', 'a short break is noticed');
  isUp = false;
  assert.equal(look(30_000), 'none');
  connection.willGoOn(30_100);
  isUp = true;
  assert.equal(look(30_200), 'another', 'it was broken before');
});

test('nothing is in flight when the queue is forgotten, and nothing is sent until the connection is broken', () => {
  const outbox = createOutbox();
  const [sent, forgotten] = [[], []];
  outbox.attach({ send: ({ topic, sda_id: id }) => sent.push([topic, id]), connected: () => true, connection: () => outbox,
    forgetQueue: () => forgotten.push(sent.length) });
  for (const topic of ['a', 'b']) outbox.put({ topic, payload: '' }, 1000);
  outbox.forgetQueue(1000);
  outbox.put({ topic: 'c', payload: '' }, 1100);
  outbox.acknowledge(sent[0][1], 1200);
  assert.deepEqual(forgotten, []);
  outbox.acknowledge(sent[1][1], 1300);
  outbox.pump(1400);
  assert.deepEqual([forgotten, sent.map(([topic]) => topic)], [[2], ['a', 'b']]);
  outbox.pump(3400);
  assert.deepEqual(sent.map(([topic]) => topic), ['a', 'b', 'c']);
  outbox.forgetQueue(4000);
  outbox.pump(8999);
  assert.equal(forgotten.length, 1);
  outbox.pump(9000);
  assert.equal(forgotten.length, 2, 'an acknowledgement that does not come is not waited for longer');
});

test('a real broker forgets what it keeps for the flows; their client comes back, subscribes again and receives what comes', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'forget-queue-'));
  const broker = await Broker.create(folder);
  const tester = await broker.connect();
  t.after(async () => {
    await tester.endAsync(true);
    await broker.program.stop();
    fs.rmSync(folder, { recursive: true });
  });
  const node = { brokerurl: `mqtt://127.0.0.1:${broker.port}`,
    options: { clientId: 'flows', username: 'nodered', password: 'word', clean: false, reconnectPeriod: 100 } };
  const first = mqtt.connect(node.brokerurl, node.options);
  await once(first, 'connect');
  await first.subscribeAsync('sda/v1/#', { qos: 1 });
  await first.endAsync(true);
  for (let n = 0; n < 50; n += 1) await tester.publishAsync(`sda/v1/old/${n}`, 'x', { qos: 1 });

  const seen = [];
  const flows = mqtt.connect(node.brokerurl, { ...node.options, manualConnect: true });
  t.after(() => flows.endAsync(true));
  flows.on('connect', () => flows.subscribe('sda/v1/#', { qos: 1 }));
  flows.on('message', (topic) => seen.push(topic));
  forgetQueue(node);
  await until('its session is taken over', () => broker.program.output.match(/ as flows /g)?.length === 2);
  flows.connect();
  const news = () => tester.publish('sda/v1/new', 'x', { qos: 1 });
  await until('it receives again', () => { news(); return seen.includes('sda/v1/new'); });
  assert.deepEqual(seen.filter((topic) => topic !== 'sda/v1/new'), []);
});
