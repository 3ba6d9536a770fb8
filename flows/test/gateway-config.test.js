'use strict';

const assert = require('node:assert/strict');
const { createHash } = require('node:crypto');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createFilter, createGatewayConfigPublisher, falsePositiveRate, gatewayConfigs } = require('../lib/devices/gateway-config');
const { createBuilding } = require('../lib/building');
const { createLocator, emptyOutcome } = require('../lib/locator');
const { EventBus } = require('../lib/events');
const { Outbox } = require('../lib/broker/outbox');
const { smallBuilding, BEACONS, TAG } = require('./support/building');

const PACKET_BYTES = 65_664; // broker/mosquitto.conf
const TOPIC = `sda/v1/gateway/${'g'.repeat(64)}/config`;
const building = (change = () => {}) => {
  const file = smallBuilding();
  change(file);
  return createBuilding(file);
};
const mac = (n) => createHash('sha256').update(`tag ${n}`).digest('hex').slice(0, 12).toUpperCase();
const ibeacon = (n) => `E2C56DB5DFFB48D2B060D0F5A71096E0-${n >> 16}-${n & 0xFFFF}`;
const withTags = (tags) => building((file) => { file.staff = tags.map((tag, i) => ({ id: `s${i}`, name: 'S', tags: [tag] })); });
const configOf = (from, gateway = 'gw-a') => JSON.parse(gatewayConfigs(from).payloads.get(gateway));

/** Whether a gateway takes an id, as docs/interfaces.md says. */
function takes({ allow, allow_bloom: bloom }, id) {
  if (allow) return allow.includes(id);
  const bits = Buffer.from(bloom.bits, 'base64');
  const hash = createHash('sha256').update(id).digest();
  const [start, step] = [BigInt(hash.readUInt32BE(0)), BigInt(hash.readUInt32BE(4)) | 1n];
  return Array.from({ length: bloom.k }, (_, i) => Number((start + BigInt(i) * step) % BigInt(bits.length * 8)))
    .every((place) => (bits[Math.floor(place / 8)] >> place % 8) % 2 === 1);
}

test('each gateway gets all registered ids in order, and its own settings of the building', () => {
  const allow = [TAG, ...Object.values(BEACONS)];
  assert.deepEqual(configOf(building()), { v: 1, allow });
  assert.deepEqual(configOf(building(), 'gw-b'), { v: 1, min_rssi: -90, allow });
  const slow = building((file) => { file.gateways[0].window_ms = 2000; });
  assert.deepEqual(configOf(slow), { v: 1, window_ms: 2000, allow });
  assert.deepEqual(configOf(building((file) => { file.beacons = []; file.staff = []; })), { v: 1, allow: [] });
});

test('the order in the building file makes no difference', () => {
  const turned = building((file) => { file.beacons.reverse(); file.gateways.reverse(); file.staff.reverse(); });
  assert.deepEqual(new Map([...gatewayConfigs(turned).payloads].sort()), gatewayConfigs(building()).payloads);
});

test('a gateway drops exactly the weak readings that the locator would not use', () => {
  fc.assert(fc.property(fc.integer({ min: -127, max: 20 }), fc.double({ min: -40, max: 40, noNaN: true }), (least, offset) => {
    const of = building((file) => Object.assign(file.gateways[0], { min_rssi: least, rssi_offset: offset }));
    const { min_rssi: sent, rssi_offset: none } = configOf(of);
    assert.ok(Number.isInteger(sent) && sent >= -127 && sent <= 20);
    assert.equal(none, undefined);
    for (let rssi = -126; rssi <= 20; rssi += 1) {
      const locator = createLocator(of);
      locator.hear({ kind: 'gateway', receiver: 'gw-a', ts: 1000, readings: [{ beacon: TAG, rssi }] }, 1000, emptyOutcome());
      const used = locator.learnedStrengths().length > 0;
      if (used || sent < 20) assert.equal(rssi >= sent, used, `${rssi} dBm`);
    }
  }), { examples: [[-25, 39.99999999999999]] });
});

for (const [kind, id] of Object.entries({ MAC: mac, iBeacon: ibeacon })) {
  test(`10,000 tags of ${kind}: the packet is within the broker's bound, every tag passes, few others do`, () => {
    const tags = Array.from({ length: 10_000 }, (_, n) => id(n));
    const { payloads, beacons, falsePositiveRate: share } = gatewayConfigs(withTags(tags));
    const payload = payloads.get('gw-b');
    assert.ok(payload.length < 26_000, `${payload.length} bytes`);
    const config = JSON.parse(payload);
    assert.deepEqual([config.v, config.min_rssi, config.allow_bloom.ids, beacons], [1, -90, 10_004, 10_004]);
    for (const tag of [...tags, ...Object.values(BEACONS)]) assert.ok(takes(config, tag), tag);
    const strangers = Array.from({ length: 20_000 }, (_, n) => takes(config, id(n + 20_000))).filter(Boolean).length;
    assert.ok(strangers < 60 && share < 0.002, `${strangers} of 20,000 strangers, ${share} foretold`);
  });
}

test('property: any ids pass, by list or by filter', () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[0-9A-F-]{12,64}$/), { maxLength: 200 });
  fc.assert(fc.property(ids, fc.integer({ min: 0, max: 4000 }), (tags, listBytes) => {
    const config = JSON.parse(gatewayConfigs(withTags(tags.filter((tag) => !Object.values(BEACONS).includes(tag))), listBytes).payloads.get('gw-a'));
    for (const tag of tags) assert.ok(takes(config, tag));
  }), { numRuns: 50 });
});

test('property: the packet fits for any number of ids, and the false positive rate is as computed', () => {
  for (const [count, share] of [[1, 0.002], [25_000, 0.002], [50_000, 0.04], [160_000, 0.4]]) {
    const filter = createFilter(Array.from({ length: count }, (_, n) => mac(n)));
    assert.ok(JSON.stringify(filter).length + TOPIC.length + 200 < PACKET_BYTES, `${count} ids`);
    assert.ok(falsePositiveRate(filter) < share, `${count} ids: ${falsePositiveRate(filter)}`);
    const letIn = Array.from({ length: 2000 }, (_, n) => takes({ allow_bloom: filter }, mac(n + 1_000_000))).filter(Boolean).length / 2000;
    assert.ok(Math.abs(letIn - falsePositiveRate(filter)) < 0.05, `${letIn}`);
  }
});

/** A publisher with an outbox and a broker that holds what is published. */
function rig(bounds) {
  const r = { nowMs: 1e12, up: true, held: new Map(), published: [], acknowledges: true, building: building() };
  r.outbox = new Outbox(new EventBus(), bounds);
  r.outbox.attach({ connected: () => r.up, send: (message) => {
    r.published.push(message);
    if (message.payload === '') r.held.delete(message.topic);
    else r.held.set(message.topic, message.payload);
    if (r.acknowledges) queueMicrotask(() => r.outbox.acknowledge(message.sda_id, r.nowMs));
  } });
  r.restart = () => {
    r.publisher = createGatewayConfigPublisher({ building: () => r.building, outbox: r.outbox,
      connected: () => r.outbox.connected(), clock: () => r.nowMs });
    r.tellsHeld();
  };
  r.tellsHeld = () => {
    for (const [topic, payload] of r.held) r.publisher.handleMessage({ topic, payload: Buffer.from(payload), retain: true });
  };
  /** Some seconds pass; what was published in them. */
  r.pass = async (seconds = 5) => {
    const before = r.published.length;
    for (let i = 0; i < seconds * 2; i += 1) {
      r.nowMs += 500;
      r.publisher.sync();
      await new Promise(setImmediate);
    }
    return r.published.slice(before).map(({ topic, payload }) => [topic.split('/')[3], payload]).sort();
  };
  r.restart();
  return r;
}
const wantedBy = (from) => [...gatewayConfigs(from).payloads].sort();

test('configs are published retained at the start, and not again later or after a restart', async () => {
  const r = rig();
  assert.deepEqual(await r.pass(), wantedBy(r.building));
  assert.deepEqual(r.published.map(({ retain }) => retain), [true, true]);
  assert.deepEqual(await r.pass(), []);
  r.restart();
  assert.deepEqual(await r.pass(), []);
});

test('a changed building publishes changed configs only, and clears those of gateways that left', async () => {
  const r = rig();
  await r.pass();
  r.building = building((file) => { file.gateways[0].min_rssi = -100; file.levels[0].name = 'Ground floor'; });
  assert.deepEqual((await r.pass()).map(([id]) => id), ['gw-a']);
  r.building = building((file) => { file.gateways.pop(); });
  assert.deepEqual(await r.pass(), [['gw-a', wantedBy(r.building)[0][1]], ['gw-b', '']]);
  assert.deepEqual([...r.held.keys()], ['sda/v1/gateway/gw-a/config']);
  r.building = building();
  assert.deepEqual((await r.pass()).map(([id]) => id), ['gw-b']);
});

test('the config of a gateway that left while the flows were down is cleared, and wrong ones are corrected', async () => {
  const r = rig();
  r.held.set('sda/v1/gateway/gw-old/config', '{"v":1,"allow":[]}');
  r.held.set('sda/v1/gateway/gw-a/config', '{"v":1,"allow":[]}');
  r.restart();
  assert.deepEqual(await r.pass(), [...wantedBy(r.building), ['gw-old', '']]);
  assert.deepEqual(await r.pass(), []);
});

test('configs that a killed broker lost are published again, and nothing else', async () => {
  const r = rig();
  await r.pass();
  r.up = false;
  assert.deepEqual(await r.pass(2), []);
  r.held.delete('sda/v1/gateway/gw-b/config');
  r.up = true;
  r.tellsHeld();
  assert.deepEqual((await r.pass()).map(([id]) => id), ['gw-b']);
});

test('own messages that come back, and other topics, are ignored', async () => {
  const r = rig();
  await r.pass();
  r.publisher.handleMessage({ topic: 'sda/v1/gateway/gw-a/config', payload: Buffer.from('{}'), retain: false });
  r.publisher.handleMessage({ topic: 'sda/v1/gateway/gw-a/status', payload: Buffer.from('{}'), retain: true });
  assert.deepEqual(await r.pass(), []);
});

test('after a change during publishing the newest config is published last', async () => {
  const r = rig();
  r.acknowledges = false;
  await r.pass();
  r.building = building((file) => { file.staff[0].tags = ['BB00000000FF']; });
  await r.pass();
  assert.equal(r.published.length, 2);
  r.acknowledges = true;
  for (const { sda_id: id } of [...r.published]) r.outbox.acknowledge(id, r.nowMs);
  assert.deepEqual(await r.pass(), wantedBy(r.building));
});

test('thousands of gateways at the start push nothing out of the outbox, and each gets its config', async () => {
  const many = building((file) => {
    file.gateways = Array.from({ length: 3000 }, (_, n) => ({ ...file.gateways[0], id: `gw-${n}` }));
    file.staff = Array.from({ length: 10_000 }, (_, n) => ({ id: `s${n}`, name: 'S', tags: [mac(n)] }));
  });
  const r = rig({ messages: 100, bytes: 2 * 1024 * 1024 });
  const lost = [];
  r.up = false;
  for (let n = 0; n < 60; n += 1) r.outbox.put({ topic: 'sda/v1/locations', payload: `${n}` }, r.nowMs, (error) => error && lost.push(n));
  r.building = many;
  r.acknowledges = false;
  r.up = true;
  await r.pass();
  r.up = false;
  await r.pass();
  assert.ok(r.outbox.counters().waiting + r.outbox.counters().in_flight <= 80);
  r.acknowledges = true;
  r.up = true;
  for (const { sda_id: id } of [...r.published]) r.outbox.acknowledge(id, r.nowMs);
  await r.pass();
  assert.equal([...r.held.keys()].filter((topic) => topic.endsWith('/config')).length, 3000);
  assert.deepEqual([lost, r.outbox.counters().dropped], [[], 0]);
});

test('a message that was pushed out of the outbox is published again', async () => {
  const r = rig({ messages: 1 });
  r.acknowledges = false;
  r.outbox.attach({ connected: () => true, send: () => {} });
  let full = 0;
  r.outbox.put = ((put) => (message, nowMs, settle) => {
    full += 1;
    if (full <= 2) settle(new Error('too much is waiting'));
    else put(message, nowMs, settle);
  })(r.outbox.put.bind(r.outbox));
  await r.pass();
  assert.equal(full, 4);
});
