'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, beforeEach, afterEach, test } = require('node:test');
const helper = require('node-red-node-test-helper');
const { Front } = require('../lib/app');
const { readConfig } = require('../lib/config');
const { smallBuilding, BEACONS } = require('./support/building');
const { until } = require('./support/stack');

const [NODES, APP_NODES] = [['site', 'check', 'locate', 'publish'], ['devices', 'parts', 'heartbeat', 'http']]
  .map((names) => names.map((name) => require(`../nodes/sda-${name}`)));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'nodes-'));
const [buildingFile, userDir] = [path.join(folder, 'building.json'), path.join(folder, 'user')];
/** As in any Node-RED. */
const site = { id: 'site', type: 'sda-site', building: buildingFile };

/** A broker that is always there. */
function mqtt(RED) {
  RED.nodes.registerType('mqtt-broker', function Broker(definition) {
    RED.nodes.createNode(this, definition);
    this.connected = true;
    this.connect = () => { this.isAsked = true; };
  });
}

before(() => {
  fs.mkdirSync(userDir);
  fs.writeFileSync(buildingFile, JSON.stringify(smallBuilding()));
  helper.init(require.resolve('node-red'));
});
beforeEach(() => new Promise((resolve) => { helper.startServer(resolve); }));
afterEach(async () => {
  const outbox = helper.getNode('site')?.app.site.broker.outbox;
  outbox?.attach({ connected: () => true, send: () => {} });
  outbox?.pump(Date.now());
  for (let id = 1; outbox && outbox.unacknowledged().length > 0; id += 1) outbox.acknowledge(id, Date.now()); // else the next test has it
  await helper.unload();
  helper.settings({ sda: undefined });
  await new Promise((resolve) => { helper.stopServer(resolve); });
});
after(() => fs.rmSync(folder, { recursive: true }));

/** An installation, whose database is away. */
function install() {
  const away = 'http://127.0.0.1:1';
  const config = readConfig({ MQTT_HOST: '127.0.0.1', MQTT_PORT: '1', MQTT_NODERED_PASSWORD: 'p', INFLUX_URL: away, INFLUX_READ_TOKEN: 't', SPOOL_URL: away,
    SDA_API_KEY: 'k'.repeat(24), SDA_ADMIN_USER: 'admin', SDA_ADMIN_PASSWORD: 'word', SDA_BUILDING: buildingFile, SDA_REGISTRY_DIR: folder, SDA_USER_DIR: userDir });
  helper.settings({ sda: new Front(config, assert.fail) });
}

const PIPELINE = [site, { id: 'broker', type: 'mqtt-broker' }, { id: 'publisher', type: 'mqtt-broker' },
  { id: 'check', type: 'sda-check', site: 'site', wires: [['locate'], ['publish']] },
  { id: 'locate', type: 'sda-locate', site: 'site', wires: [['publish'], ['publish'], ['publish'], ['publish']] },
  { id: 'publish', type: 'sda-publish', site: 'site', broker: 'publisher', subscriber: 'broker', wires: [['out']] },
  { id: 'out', type: 'helper' }];
const load = (flow) => helper.load([...NODES, mqtt], flow);
/** Within an installation. */
const loadApp = (flow) => {
  install();
  return helper.load([...NODES, ...APP_NODES, mqtt], flow);
};
const siteOf = () => helper.getNode('site').app.site;
/** Everything that a helper node receives. */
function received(id) {
  const messages = [];
  helper.getNode(id).on('input', (message) => messages.push(message));
  return messages;
}
const reading = (ts = Date.now(), rssi = -60) => Buffer.from(JSON.stringify({ ts, readings: [{ beacon: BEACONS.a, rssi }] }));
const topics = (messages) => messages.map(({ topic }) => topic);

test('a reading is published as location, presence and event, until it is acknowledged', async () => {
  await load(PIPELINE);
  const sent = received('out');
  helper.getNode('check').receive({ topic: 'sda/v1/phone/0/readings', payload: reading() });
  await until('three messages', () => sent.length === 3);
  assert.ok(['broker', 'publisher'].every((id) => helper.getNode(id).isAsked), 'a clock that is right connects');
  assert.deepEqual(sent.map(({ topic, qos, retain }) => [topic, qos, retain]), [
    ['sda/v1/locations', 1, false], ['sda/v1/staff/0/location', 1, true], ['sda/v1/events', 1, false]], 'whoever appears is shown after 2 s');
  const { outbox } = siteOf().broker;
  assert.equal(outbox.counters().in_flight, 3);
  for (const message of sent) { // as the complete node behind `mqtt out` returns them
    const taken = once(helper.getNode('publish'), 'input');
    helper.getNode('publish').receive(message);
    await taken;
  }
  assert.equal(outbox.counters().acknowledged, 3);
  assert.equal(helper.getNode('publish').error.callCount, 0);
});

test('messages that come together are one message of checked batches, and what is refused is another', async () => {
  const flow = PIPELINE.map((node) => (node.id === 'check' ? { ...node, wires: [['readings'], ['refusals']] } : node));
  await load([...flow, { id: 'readings', type: 'helper' }, { id: 'refusals', type: 'helper' }]);
  const [readings, refusals] = [received('readings'), received('refusals')];
  const now = Date.now();
  for (const staff of ['0', '1', '2']) helper.getNode('check').receive({ topic: `sda/v1/phone/${staff}/readings`, payload: reading(now) });
  helper.getNode('check').receive({ topic: 'sda/v1/phone/3/readings', payload: reading(now, 77) });
  await until('both', () => readings.flatMap(({ payload }) => payload).length === 4 && refusals.length === 1);
  assert.ok(readings.length < 4 && readings.every(({ topic }) => topic === 'readings'));
  assert.deepEqual(readings[0].payload[0], { kind: 'phone', receiver: '0', ts: now, readings: [{ beacon: BEACONS.a, rssi: -60 }] });
  assert.deepEqual(refusals[0].payload.map(({ receiver, reason, count }) => [receiver, reason, count]), [['3', 'rssi_invalid', 1]]);
});

test('nodes of a user beside every step receive everything once, and what they do to it changes nothing', async () => {
  const spoil = (RED) => RED.nodes.registerType('spoil', function Spoil(definition) {
    RED.nodes.createNode(this, definition);
    this.seen = [];
    this.on('input', (message) => {
      this.seen.push(structuredClone(message));
      for (const item of [message.payload].flat()) for (const key of Object.keys(item)) item[key] = null;
      message.payload = null;
      message.topic = 'spoilt';
    });
  });
  // the user's nodes come first, so that they receive the originals
  const wires = { check: [['spoil-check', 'locate'], ['spoil-refused', 'publish']],
    locate: [['spoil-locate', 'publish'], ['spoil-locate', 'publish'], ['spoil-locate', 'publish'], ['spoil-locate', 'publish']], publish: [['spoil-publish', 'out']] };
  await helper.load([...NODES, mqtt, spoil], [...PIPELINE.map((node) => ({ ...node, wires: wires[node.id] ?? node.wires })),
    ...['spoil-check', 'spoil-refused', 'spoil-locate', 'spoil-publish'].map((id) => ({ id, type: 'spoil' }))]);
  const sent = received('out');
  const now = Date.now();
  const { memory: { history }, live } = siteOf();
  for (let s = 4; s >= 0; s -= 1) helper.getNode('check').receive({ topic: 'sda/v1/phone/0/readings', payload: reading(now - s * 1000) });
  helper.getNode('check').receive({ topic: 'sda/v1/phone/0/readings', payload: 'no JSON' });
  const located = () => helper.getNode('spoil-locate').seen.filter(({ topic }) => topic === 'locations').flatMap(({ payload }) => payload);
  const published = () => sent.filter(({ topic }) => topic === 'sda/v1/locations').flatMap(({ payload }) => JSON.parse(payload).locations);
  await until('all is published', () => published().length >= 5 && topics(sent).includes('sda/v1/staff/0/location') && topics(sent).includes('sda/v1/rejected'));
  const known = history.between('0', now - 10_000, now + 1000);
  assert.deepEqual(located(), known);
  assert.deepEqual(published(), known.map(({ probability, runner_up: other, ...one }) => (
    { ...one, sure_pct: Math.round(probability * 100), ...(probability < 0.9 ? { runner_up: other ?? '' } : {}) })));
  assert.ok(known.every(({ room }) => room === 'a') && live.presences()[0].room === 'a');
  assert.equal(helper.getNode('spoil-check').seen.flatMap(({ payload }) => payload).length, 5);
  assert.equal(helper.getNode('spoil-publish').seen.filter(({ topic }) => topic === 'sda/v1/rejected').length, 1);
});

test('what is located again comes out of an output of its own', async () => {
  await load([...PIPELINE.map((node) => (node.id === 'locate' ? { ...node, wires: [...node.wires, ['late']] } : node)), { id: 'late', type: 'helper' }]);
  const late = received('late');
  const [location, visit] = [{ staff_id: '0', ts: 1, room: 'a' }, { staff_id: '0', ts: 1, room: 'a', duration_s: 1 }];
  siteOf().broker.results.again({ locations: [location], stays: [] });
  siteOf().broker.results.again({ locations: [], stays: [visit] });
  await until('both', () => late.length === 2);
  assert.deepEqual(late.map(({ topic, payload, late: mark }) => [topic, payload, mark]), [['locations', [location], true], ['stays', [visit], true]]);
});

test('what is waiting when a node closes is located and published all the same', async () => {
  await load(PIPELINE);
  const { live, broker: { outbox } } = siteOf();
  const now = Date.now();
  for (let n = 0; n < 50; n += 1) helper.getNode('check').emit('input', { topic: `sda/v1/phone/${n}/readings`, payload: reading(now - 3000) }, () => {}, () => {});
  helper.getNode('check').emit('input', { topic: 'sda/v1/phone/0/readings', payload: reading(now, 77) }, () => {}, () => {});
  await helper.getNode('locate').close();
  await helper.getNode('check').close();
  assert.equal(live.counters().messages, 51);
  siteOf().flush(now);
  const { waiting, in_flight: inFlight } = outbox.counters();
  assert.equal(live.counters().locations, 50);
  assert.ok(waiting + inFlight >= 2, 'the refusal and the locations are in the outbox without a wire');
});

test('a deploy of everything, which makes a new site, keeps what the broker has not acknowledged', async () => {
  await load(PIPELINE);
  helper.getNode('publish').receive({ topic: 'events', payload: [{ ts: 1, type: 'enter', staff_id: 'kept' }] });
  const { outbox } = siteOf().broker;
  await until('it is on its way', () => outbox.unacknowledged().length === 1);
  await helper.setFlows(PIPELINE, 'full');
  const { outbox: next } = siteOf().broker;
  assert.notEqual(next, outbox);
  assert.ok(next.unacknowledged().some(({ payload }) => payload.includes('"kept"')));
});

test('what no node of ours made costs one error that says what is wrong', async () => {
  await load(PIPELINE);
  const errors = (id, message) => new Promise((resolve) => {
    helper.getNode(id).once('call:error', (call) => resolve(call.firstArg.message ?? call.firstArg));
    helper.getNode(id).receive(message);
  });
  assert.match(await errors('locate', { payload: 'x' }), /must be an array of batches/);
  assert.match(await errors('locate', { payload: [{ kind: 'phone', receiver: '0', ts: 1, readings: [{ beacon: 'AB', rssi: '-60' }] }] }), /payload\[0\] is no batch/);
  assert.match(await errors('publish', { topic: 'locations', payload: [{}] }), /staff_id is a string/);
  assert.match(await errors('publish', { topic: 'mine', payload: [] }), /msg.topic is "mine"/);
});

test('an inject node may give readings as an object', async () => {
  await load(PIPELINE);
  const sent = received('out');
  helper.getNode('check').receive({ topic: 'sda/v1/phone/7/readings', payload: { ts: Date.now(), readings: [{ beacon: BEACONS.a, rssi: -60 }] } });
  await until('it is located', () => topics(sent).includes('sda/v1/locations'));
});

test('the heartbeat is a message with the figures', async () => {
  await loadApp([...PIPELINE, { id: 'heartbeat', type: 'sda-heartbeat', site: 'site', wires: [['publish', 'figures']] }, { id: 'figures', type: 'helper' }]);
  const [sent, figures] = [received('out'), received('figures')];
  await until('it is published', () => topics(sent).includes('sda/v1/flows/health') && figures.length > 0);
  const [{ ts, inbox_waiting: waiting }] = figures[0].payload;
  assert.ok(Math.abs(Date.now() - ts) < 10_000 && waiting === 0);
});

test('the registry for ingest is written at start', async () => {
  await loadApp([site]);
  assert.equal(fs.readFileSync(path.join(folder, 'registry.conf'), 'utf8').match(/^ +"[0-9A-F-]+",$/gm)?.length, 5);
});

test('what the broker says of itself becomes a figure', async () => {
  await loadApp([site, { id: 'broker', type: 'mqtt-broker' }, { id: 'outbox', type: 'sda-publish', site: 'site', broker: 'broker' },
    { id: 'parts', type: 'sda-parts', site: 'site' }]);
  const done = once(helper.getNode('parts'), 'input');
  helper.getNode('parts').receive({ topic: '$SYS/broker/heap/current', payload: Buffer.from('4096') });
  await done;
  assert.equal(helper.getNode('site').app.health.figures.flat().memory_bytes_broker, 4096);
});

test('status and health of a gateway are kept, and that it came is a message', async () => {
  await loadApp([site, { id: 'devices', type: 'sda-devices', site: 'site', wires: [['changes']] }, { id: 'changes', type: 'helper' }]);
  const changes = received('changes');
  const done = once(helper.getNode('devices'), 'input');
  helper.getNode('devices').receive({ topic: 'sda/v1/gateway/gw-a/status', payload: Buffer.from(JSON.stringify({ state: 'online', ts: 1 })) });
  await done;
  assert.equal(siteOf().devices.gateways.of('gw-a', Date.now()).state, 'online');
  await until('it comes out', () => changes.length === 1);
  assert.deepEqual([changes[0].topic, changes[0].payload.map(({ gateway, state }) => [gateway, state])], ['gateways', [['gw-a', 'online']]]);
});

test('what is amiss is an alert, by what health says of ingest', async () => {
  await loadApp([site, { id: 'broker', type: 'mqtt-broker' }, { id: 'outbox', type: 'sda-publish', site: 'site', broker: 'broker' }]);
  const { alerts } = helper.getNode('site').app;
  await alerts.evaluate(Date.now());
  await alerts.evaluate(Date.now() + 10_000);
  assert.deepEqual(alerts.list().map(({ id }) => id), ['ingest_behind:ingest']);
});
