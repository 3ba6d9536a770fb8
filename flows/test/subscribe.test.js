'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after: afterAll, before, test } = require('node:test');
const { MqttClient } = require('mqtt');
const helper = require('node-red-node-test-helper');
const { createKeepAlive, createTopicFilter } = require('../lib/broker/connections');
const { partsOf } = require('../lib/live/inbox');
const { makeCertificate } = require('./support/certificate');
const { Broker, freePort, until } = require('./support/stack');

// The node with Node-RED's own nodes for MQTT and a real Mosquitto.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'subscribe-'));
const NODES = [require('@node-red/nodes/core/network/10-mqtt.js'), require('../nodes/sda-subscribe')];
let broker; let client; let readersPort;

before(async () => {
  helper.init(require.resolve('node-red'), { mqttReconnectTime: 100 });
  await new Promise((resolve) => { helper.startServer(resolve); });
  const { cert, key } = makeCertificate(folder);
  readersPort = await freePort();
  broker = await Broker.create(folder, [`listener ${readersPort} 127.0.0.1`, `certfile ${cert}`, `keyfile ${key}`]);
  client = await broker.connect();
});
afterAll(async () => {
  await helper.unload();
  await new Promise((resolve) => { helper.stopServer(resolve); });
  await client?.endAsync(true);
  await broker?.program.stop();
  fs.rmSync(folder, { recursive: true });
});

test('a filter matches the topics that MQTT says it matches', () => {
  const matching = { 'sda/v1/+/+/readings': ['sda/v1/phone/1/readings', 'sda/v1/gateway//readings'], 'a/#': ['a', 'a/b', 'a/b/c'], '#': ['a/b'],
    '$SYS/broker/+': ['$SYS/broker/uptime'], 'a.b/(c': ['a.b/(c'], '+/+': ['/x'], '+': ['line\nbreak'] };
  const others = { 'sda/v1/+/+/readings': ['sda/v1/phone/1/2/readings', 'sda/v1/phone/1/readings/x', 'x/sda/v1/phone/1/readings'], 'a/#': ['ab', 'b/a'],
    '$SYS/broker/+': ['$SYS/broker/heap/current'], 'a.b/(c': ['axb/(c'], '+/+': ['a'] };
  for (const [filter, topics] of Object.entries(matching)) for (const topic of topics) assert.ok(createTopicFilter(filter)(topic), `${filter} ${topic}`);
  for (const [filter, topics] of Object.entries(others)) for (const topic of topics) assert.ok(!createTopicFilter(filter)(topic), `${filter} ${topic}`);
});

test('a gathered message is done with its last part, and an empty one at once', () => {
  const calls = [];
  const parts = partsOf({ topic: 'messages', payload: [{ topic: 'a' }, null, { topic: 'c' }] }, (...error) => calls.push(error));
  assert.deepEqual(parts.map(({ message }) => message), [{ topic: 'a' }, {}, { topic: 'c' }]);
  parts[0].done();
  assert.deepEqual(calls, []);
  parts[1].done('fault');
  parts[2].done();
  assert.deepEqual(calls, [['fault'], []]);
  partsOf({ topic: 'messages', payload: [] }, () => calls.push('empty'));
  assert.equal(calls.at(-1), 'empty');
  const alone = { topic: 'sda/v1/phone/1/readings', payload: [] };
  assert.equal(partsOf(alone, assert.fail)[0].message, alone);
});

test('messages that arrive prove that the connection is alive, once a second is enough', () => {
  assert.equal(typeof MqttClient.prototype.reschedulePing, 'function', 'MQTT.js has it');
  const calls = [];
  let nowMs = 0;
  const heard = createKeepAlive({ client: { reschedulePing: (force) => calls.push([nowMs, force]) } }, () => nowMs);
  for (; nowMs < 2500; nowMs += 100) heard();
  assert.deepEqual(calls, [[0, true], [1000, true], [2000, true]]);
  createKeepAlive({})();
});

for (const secured of [false, true]) test(`messages come in order, one by one or together, each once, also after the broker was away; over TLS: ${secured}`, async (t) => {
  const config = { id: 'broker', type: 'mqtt-broker', broker: secured ? `ssl://127.0.0.1:${readersPort}` : '127.0.0.1', port: String(broker.port), clientid: `subscriber-${secured}`, cleansession: false,
    autoConnect: true, protocolVersion: '4', keepalive: '15' };
  const flow = [config,
    { id: 'together', type: 'sda-subscribe', topic: 't/+', qos: '1', together: true, broker: 'broker', wires: [['gathered']] },
    { id: 'single', type: 'sda-subscribe', topic: 'u/#', qos: '0', together: false, broker: 'broker', wires: [['one']] },
    { id: 'gathered', type: 'helper' }, { id: 'one', type: 'helper' }];
  await helper.load(NODES, flow, { broker: { user: 'nodered', password: 'word' } });
  t.after(() => helper.unload());
  const [gathered, single] = [[], []];
  helper.getNode('gathered').on('input', (message) => gathered.push(message));
  helper.getNode('one').on('input', (message) => single.push(message));
  const texts = () => gathered.flatMap(({ payload }) => payload.filter(({ topic }) => topic === 't/1').map((one) => String(one.payload)));
  const after = () => single.filter(({ topic }) => topic === 'u/1/2');
  const publish = async (from, to) => {
    for (let n = from; n < to; n += 1) client.publish('t/1', String(n), { qos: 1 });
    await client.publishAsync('u/1/2', `after ${to}`, { qos: 1 });
  };
  await until('it is connected', () => helper.getNode('broker').connected);
  await until('both are subscribed', async () => {
    await Promise.all(['t/ready', 'u/ready'].map((topic) => client.publishAsync(topic, '', { qos: 1 })));
    return gathered.length > 0 && single.length > 0;
  });

  await publish(0, 100);
  await until('the first', () => texts().length >= 100 && after().length >= 1);
  assert.deepEqual(texts(), Array.from({ length: 100 }, (_, n) => String(n)));
  assert.ok(gathered.length < 100 && gathered.every(({ topic }) => topic === 'messages'), `${gathered.length} messages`);
  const { topic, payload, qos, retain } = after()[0];
  assert.deepEqual([topic, String(payload), qos, retain], ['u/1/2', 'after 100', 0, false]);

  await broker.program.stop();
  await until('the break is noticed', () => !helper.getNode('broker').connected);
  await broker.start();
  await until('it is back', () => helper.getNode('broker').connected && client.connected);
  await publish(100, 200);
  await until('the second', () => after().some((message) => String(message.payload) === 'after 200') && texts().includes('199'));
  const fresh = texts().filter((text) => Number(text) >= 100); // the broker may repeat what was on its way when it stopped
  assert.deepEqual(fresh, Array.from({ length: 100 }, (_, n) => String(100 + n)));
});
