'use strict';

const assert = require('node:assert/strict');
const { EventEmitter, once } = require('node:events');
const { createServer } = require('node:http');
const { test } = require('node:test');
const { Server } = require('socket.io');
const { io } = require('socket.io-client');
const { createBuilding } = require('../lib/building');
const { createHub } = require('../lib/dashboard/hub');
const { createTopics } = require('../lib/dashboard/topics');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');
const { receive } = require('./support/receive');
const { until } = require('./support/stack');

const NOW = 1_800_000_000_000;
const NONE = { groups: () => [], open: () => 0, dropped: () => 0, version: () => 0 };

/** A site, its topics, and a hub behind a real socket.io server; time stands where `rig.now` says. */
async function live(t) {
  const site = new Site(createBuilding(smallBuilding()), NOW - 60_000);
  const health = () => ({ parts: { broker: { status: 'up' }, influxdb: { status: 'degraded', reason: 'away' } } });
  const rig = { site, now: NOW, topics: createTopics({ site, alerts: NONE, health }) };
  rig.hub = createHub(() => rig.now);
  rig.hub.attach(rig.topics);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new Server(server);
  sockets.use((socket, next) => {
    socket.data.login = { user: 'ann', role: 'viewer' };
    rig.hub.admit(socket, next);
  });
  rig.sockets = sockets;
  t.after(() => sockets.close());
  rig.join = async () => {
    const socket = io(`http://127.0.0.1:${server.address().port}`, { transports: ['websocket'] });
    socket.snapshots = [];
    socket.buildings = [];
    socket.on('sda:snapshot', (snapshot) => socket.snapshots.push(snapshot));
    socket.on('sda:you', (you) => { socket.you = you; });
    socket.on('sda:building', (building) => socket.buildings.push(building));
    await once(socket, 'connect');
    t.after(() => socket.close());
    return socket;
  };
  rig.send = (staff, room, ts = rig.now) => receive(site, `sda/v1/phone/${staff}/readings`,
    Buffer.from(JSON.stringify({ ts, readings: [{ beacon: BEACONS[room], rssi: -50 }] })), rig.now);
  return rig;
}

test('a page gets the building once and snapshots of its topic', async (t) => {
  const rig = await live(t);
  for (const ms of [3000, 0]) rig.send('1', 'a', NOW - ms); // new people are shown after 2 s
  const socket = await rig.join();
  socket.emit('sda:watch', { topic: 'floor:L1', building: null });
  const first = await until('the first snapshot', () => socket.snapshots[0]);
  assert.equal(socket.buildings[0].name, 'Small House');
  assert.deepEqual(socket.you, { user: 'ann', role: 'viewer' });
  assert.deepEqual(first.people.map(({ id, room }) => [id, room]), [['1', 'a']]);
  assert.deepEqual(first.status.counts, { L1: 1 });
  assert.deepEqual(first.status.parts[1], { id: 'influxdb', status: 'degraded', reason: 'away' });
  socket.emit('sda:watch', { topic: 'floor:L1', building: socket.buildings[0].digest });
  await until('the second snapshot', () => socket.snapshots[1]);
  assert.equal(socket.buildings.length, 1, 'a known building is not sent again');
});

test('a topic is sent after a change, with a smallest interval, and once a second in any case', async (t) => {
  const rig = await live(t);
  const socket = await rig.join();
  socket.emit('sda:watch', { topic: 'floor:L1', building: null });
  await until('the first snapshot', () => socket.snapshots.length === 1);
  const tickAt = async (ms) => {
    rig.now = NOW + ms;
    rig.hub.tick(rig.now);
    rig.sockets.emit('mark'); // comes behind whatever was sent
    await once(socket, 'mark');
    return socket.snapshots.length;
  };
  assert.equal(await tickAt(200), 1, 'nothing changed');
  rig.send('1', 'a');
  assert.equal(await tickAt(200), 2);
  rig.send('1', 'a');
  assert.equal(await tickAt(300), 2, 'too soon');
  assert.equal(await tickAt(400), 3);
  assert.equal(await tickAt(1399), 3);
  assert.equal(await tickAt(1400), 4);
});

test('a snapshot is built once for all pages, and never without a page', async (t) => {
  const rig = await live(t);
  let built = 0;
  const { build } = rig.topics;
  rig.topics.build = function counted(...args) {
    built += 1;
    return build.apply(this, args);
  };
  const sockets = await Promise.all([rig.join(), rig.join(), rig.join()]);
  rig.hub.tick(rig.now + 5000);
  assert.equal(built, 0);
  for (const socket of sockets) socket.emit('sda:watch', { topic: 'staff', building: null });
  await until('all have one', () => sockets.every(({ snapshots }) => snapshots.length === 1));
  assert.equal(built, 1);
  rig.hub.tick(rig.now + 5000);
  await until('all have two', () => sockets.every(({ snapshots }) => snapshots.length === 2));
  assert.equal(built, 2);
});

test('a page watches one topic at a time, and invalid topics are ignored', async (t) => {
  const rig = await live(t);
  const socket = await rig.join();
  for (const wish of [null, {}, { topic: 7 }, { topic: '../x' }, { topic: 'floor:' }, 'floor']) socket.emit('sda:watch', wish);
  socket.emit('sda:watch', { topic: 'floor:L1', building: null });
  socket.emit('sda:watch', { topic: 'constructor', building: null });
  await until('both have come', () => socket.snapshots.length === 2);
  rig.hub.tick(rig.now + 5000);
  await until('a third', () => socket.snapshots.length === 3);
  assert.deepEqual(socket.snapshots.map(({ topic }) => topic), ['floor:L1', 'constructor', 'constructor']);
  assert.deepEqual(Object.keys(socket.snapshots[2]), ['topic', 'ts', 'status'], 'an unknown topic has the status only');
});

test('the floor topic has the people of its level, and lost people of all levels', () => {
  const site = new Site(createBuilding(smallBuilding()), NOW);
  const topics = createTopics({ site, alerts: NONE, health: () => ({ parts: {} }) });
  const send = (staff, room, ts) => receive(site, `sda/v1/phone/${staff}/readings`,
    Buffer.from(JSON.stringify({ ts, readings: [{ beacon: BEACONS[room], rssi: -50 }] })), NOW);
  for (const ms of [3000, 0]) send('10', 'a', NOW - ms); // new people are shown after 2 s
  send('9', 'a', NOW - 40_000);
  send('8', 'b', NOW - 120_000);
  site.flush(NOW);
  site.tick(NOW);
  const { snapshot } = topics.build('floor:L1', NOW);
  assert.deepEqual(snapshot.people.map(({ id, state }) => [id, state]), [['10', 'present'], ['9', 'stale']]);
  assert.deepEqual(snapshot.lost.map(({ id, room }) => [id, room]), [['8', 'b']]);
  assert.deepEqual([snapshot.status.counts, snapshot.status.lost], [{ L1: 2 }, 1]);
  assert.equal(topics.build('floor:nowhere', NOW).snapshot.level, 'L1');
  assert.deepEqual(snapshot.gateways, {});
  const gateway = [...site.building().gateways.keys()][0];
  site.devices.gateways.handleMessage({ topic: `sda/v1/gateway/${gateway}/status`, payload: Buffer.from(JSON.stringify({ state: 'offline', ts: NOW })) }, site.building(), NOW);
  assert.deepEqual(topics.build('floor:L1', NOW).snapshot.gateways, { [gateway]: 'offline' });
  const [, , nine] = topics.build('staff', NOW).snapshot.people;
  assert.deepEqual([nine.id, nine.rssi, nine.beacon], ['9', -50, BEACONS.a]);
});

test('a hub without topics sends nothing', () => {
  const hub = createHub();
  const socket = Object.assign(new EventEmitter(), { nsp: { adapter: { rooms: new Map() } }, rooms: new Set() });
  hub.admit(socket, () => {});
  socket.emit('sda:watch', { topic: 'floor' });
  hub.tick(NOW);
});

test('the devices topic has listed and unlisted gateways with figures, unregistered beacons and alerts', () => {
  const site = new Site(createBuilding(smallBuilding()), NOW);
  const alerts = { groups: () => [{ kind: 'gateway_down', count: 1 }], open: () => 1, dropped: () => 0, version: () => 3 };
  const topics = createTopics({ site, alerts, health: () => ({ parts: {} }) });
  site.devices.gateways.handleMessage({ topic: 'sda/v1/gateway/gw-a/health', payload: Buffer.from(JSON.stringify({ ts: NOW, version: '1.2', queued: 3, adverts: 9 })) },
    site.building(), NOW);
  receive(site, 'sda/v1/gateway/gw-new/readings', Buffer.from(JSON.stringify({ ts: NOW, readings: [{ beacon: 'AB0000000001', rssi: -70 }] })), NOW);
  const { snapshot } = topics.build('devices', NOW + 1000);
  assert.deepEqual(snapshot.gateways.map(({ id, listed, room, state }) => [id, listed, room, state]),
    [['gw-a', true, 'a', 'online'], ['gw-b', true, 'b', 'unknown'], ['gw-new', false, null, 'online']]);
  assert.deepEqual([snapshot.gateways[0].queued, snapshot.gateways[0].version, snapshot.gateways[0].adverts], [3, '1.2', undefined]);
  assert.deepEqual(snapshot.strangers.map(({ beacon, receiver }) => [beacon, receiver]), [['AB0000000001', 'gw-new']]);
  assert.deepEqual([snapshot.alerts.open, snapshot.status.alerts], [1, 1]);
});
