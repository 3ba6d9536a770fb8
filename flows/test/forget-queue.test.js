'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const mqtt = require('mqtt');
const { Subscriber } = require('../lib/broker/connections');
const { Broker, until } = require('./support/stack');

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
  const subscriber = new Subscriber();
  subscriber.forgetQueue();
  assert.equal(subscriber.connected(), true, 'there is no connection of its own');
  subscriber.attach(() => node);
  assert.equal(subscriber.connected(), false);
  subscriber.forgetQueue();
  await until('its session is taken over', () => broker.program.output.match(/ as flows /g)?.length === 2);
  flows.connect();
  const news = () => tester.publish('sda/v1/new', 'x', { qos: 1 });
  await until('it receives again', () => { news(); return seen.includes('sda/v1/new'); });
  assert.deepEqual(seen.filter((topic) => topic !== 'sda/v1/new'), []);
});
