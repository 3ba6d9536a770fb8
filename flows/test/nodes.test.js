'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, beforeEach, afterEach, test } = require('node:test');
const helper = require('node-red-node-test-helper');
const { createBuilding } = require('../lib/building');
const { DIRECT } = require('../lib/access/clients');
const { createHosts } = require('../lib/access/hosts');
const { createSessions } = require('../lib/access/sessions');
const { smallBuilding, BEACONS } = require('./support/building');

const NODES = ['sda-site', 'sda-building', 'sda-alerts', 'sda-readings', 'sda-devices', 'sda-parts', 'sda-outbox', 'sda-rebuild', 'sda-health', 'sda-http'].map((name) => require(`../nodes/${name}`));
const registryDir = fs.mkdtempSync(path.join(os.tmpdir(), 'nodes-'));
const site = { id: 'site', type: 'sda-site' };

/** A broker that is always there. */
function mqtt(RED) {
  RED.nodes.registerType('mqtt-broker', function Broker(definition) {
    RED.nodes.createNode(this, definition);
    this.connected = true;
  });
}

before(async () => {
  helper.init(require.resolve('node-red'), {
    sda: {
      building: createBuilding(smallBuilding()),
      sessions: createSessions({ adminUser: 'admin', adminPassword: 'word' }),
      clients: DIRECT,
      hosts: createHosts([]),
      trusted: () => true,
      config: { influxUrl: 'http://127.0.0.1:1', influxToken: 't', apiKey: 'k', registryDir, userDir: registryDir,
        buildingFile: path.join(registryDir, 'building.json') },
    },
  });
});
beforeEach(() => new Promise((resolve) => { helper.startServer(resolve); }));
afterEach(async () => {
  await helper.unload();
  await new Promise((resolve) => { helper.stopServer(resolve); });
});
after(() => fs.rmSync(registryDir, { recursive: true }));

test('a reading comes out of the outbox as location, presence and event, until it is acknowledged', async () => {
  await helper.load([...NODES, mqtt], [site, { id: 'broker', type: 'mqtt-broker' },
    { id: 'readings', type: 'sda-readings', site: 'site' },
    { id: 'outbox', type: 'sda-outbox', site: 'site', broker: 'broker', wires: [['out']] },
    { id: 'out', type: 'helper' }]);
  const sent = [];
  const all = new Promise((resolve) => {
    helper.getNode('out').on('input', (message) => {
      sent.push(message);
      if (sent.length === 4) resolve();
    });
  });
  const payload = Buffer.from(JSON.stringify({ ts: Date.now(), readings: [{ beacon: BEACONS.a, rssi: -60 }] }));
  helper.getNode('readings').receive({ topic: 'sda/v1/phone/0/readings', payload });
  await all;
  assert.equal(sent.shift().action, 'connect', 'a clock that is right connects');
  assert.deepEqual(sent.map(({ topic, qos, retain }) => [topic, qos, retain]), [
    ['sda/v1/locations', 1, false], ['sda/v1/staff/0/location', 1, true], ['sda/v1/events', 1, false]], 'whoever appears is shown after 2 s');
  const { outbox } = helper.getNode('site').site;
  assert.equal(outbox.counters().in_flight, 3);
  for (const message of sent) {
    const taken = once(helper.getNode('outbox'), 'input');
    helper.getNode('outbox').receive(message);
    await taken;
  }
  assert.equal(outbox.counters().acknowledged, 3);
});

test('the registry for ingest is written at start', async () => {
  await helper.load(NODES, [site, { id: 'building', type: 'sda-building', site: 'site' }]);
  assert.equal(Object.keys(JSON.parse(fs.readFileSync(path.join(registryDir, 'beacons.json'), 'utf8'))).length, 5);
});

test('what the broker says of itself becomes a figure', async () => {
  await helper.load([...NODES, mqtt], [site, { id: 'broker', type: 'mqtt-broker' }, { id: 'outbox', type: 'sda-outbox', site: 'site', broker: 'broker' },
    { id: 'parts', type: 'sda-parts', site: 'site' }]);
  const done = once(helper.getNode('parts'), 'input');
  helper.getNode('parts').receive({ topic: '$SYS/broker/heap/current', payload: Buffer.from('4096') });
  await done;
  assert.equal(helper.getNode('site').figures.flat().memory_bytes_broker, 4096);
});

test('status and health of a gateway are kept', async () => {
  await helper.load(NODES, [site, { id: 'devices', type: 'sda-devices', site: 'site' }]);
  const done = once(helper.getNode('devices'), 'input');
  helper.getNode('devices').receive({ topic: 'sda/v1/gateway/gw-a/status', payload: Buffer.from(JSON.stringify({ state: 'online', ts: 1 })) });
  await done;
  assert.equal(helper.getNode('site').site.gateways.of('gw-a', Date.now()).state, 'online');
});

test('what is amiss is an alert, by what health says of ingest', async () => {
  await helper.load([...NODES, mqtt], [site, { id: 'broker', type: 'mqtt-broker' }, { id: 'outbox', type: 'sda-outbox', site: 'site', broker: 'broker' },
    { id: 'rebuild', type: 'sda-rebuild', site: 'site' }, { id: 'health', type: 'sda-health', site: 'site', rebuild: 'rebuild' },
    { id: 'alerts', type: 'sda-alerts', site: 'site', health: 'health' }]);
  const { alerts } = helper.getNode('alerts');
  await alerts.evaluate(Date.now());
  await alerts.evaluate(Date.now() + 10_000);
  assert.deepEqual(alerts.list().map(({ id }) => id), ['ingest_behind:ingest']);
});
