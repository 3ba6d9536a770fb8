'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createAlertList } = require('../lib/alerts/alert-list');
const { accountShared } = require('../lib/alerts/kinds');
const { createBuilding } = require('../lib/building');
const { createTakeovers } = require('../lib/devices/takeovers');
const { Site } = require('../lib/site');
const { smallBuilding } = require('./support/building');

const T = Date.parse('2026-01-01T10:00:00Z');
const MIN = 60_000;

/** The lines of Mosquitto's log when a session is taken over. */
function takeOver(takeovers, id, from, to, nowMs, user = id) {
  const time = '2026-01-01T10:00:00: ';
  takeovers.handleLine(`${time}New connection from ${to[0]}:${to[1]} on port 8883.`, nowMs);
  takeovers.handleLine(`${time}Client ${id} [${from[0]}:${from[1]}] disconnected: session taken over.`, nowMs);
  takeovers.handleLine(`${time}New client connected from ${to[0]}:${to[1]} as ${id} (p4, c0, k60, u'${user}').`, nowMs);
}

const ONE = ['192.0.2.7', 4711];
const OTHER = ['2001:db8::8', 51_234];

test('two devices with one account are recognised at the third takeover, with both addresses', () => {
  const takeovers = createTakeovers();
  const shared = (nowMs) => takeovers.list(nowMs).map((one) => one.shared);
  takeOver(takeovers, 'gw-1', ONE, OTHER, T);
  takeOver(takeovers, 'gw-1', OTHER, ONE, T + 1000);
  assert.deepEqual(shared(T + 1000), [false]);
  takeOver(takeovers, 'gw-1', ONE, OTHER, T + 2000);
  assert.deepEqual(takeovers.list(T + 2000), [{ id: 'gw-1', count: 3, since: T, last_ms: T + 2000, shared: true,
    thrown_out: { address: '192.0.2.7', port: 4711 }, connected: { address: '2001:db8::8', port: 51_234 },
    addresses: ['2001:db8::8', '192.0.2.7'] }]);
  assert.equal(takeovers.total(), 3);
  assert.deepEqual(shared(T + 10 * MIN), [false], 'the first ones are long ago');
  assert.deepEqual(takeovers.list(T + 2000 + 10 * MIN), []);
});

test('of a gateway whose connection ends without a word the status is corrected; not of one that goes on, comes back or sends its last will', async () => {
  const site = new Site(createBuilding(smallBuilding()), T, () => T);
  const sent = [];
  site.broker.outbox.attach({ connected: () => true,
    send: ({ topic, payload, retain }) => sent.push([topic, JSON.parse(payload), retain]) });
  const say = (id, state, ms) => site.devices.gateways.handleMessage({ topic: `sda/v1/gateway/${id}/status`, payload: Buffer.from(JSON.stringify({ state, ts: ms })) },
    site.building(), ms);
  const line = (text, ms) => site.devices.gateways.handleLine(`2026-01-01T10:00:00: ${text}`, ms);
  const ids = ['gw-a', 'gw-b', 'removed-1', 'back-1', 'knocked-at'];
  for (const id of ids) say(id, 'online', T);
  for (const id of ids.slice(0, 4)) line(`Client ${id} [192.0.2.7:4711] disconnected.`, T + 1000);
  line('Client knocked-at [192.0.2.9:4711] disconnected: not authorised.', T + 1000);
  line('Client 7 [192.0.2.7:4711] disconnected: connection closed by client.', T + 1000);
  say('gw-b', 'offline', T + 1100);
  line("New client connected from 192.0.2.7:4712 as back-1 (p5, c0, k60, u'back-1').", T + 9000);
  for (let ms = T + 1000; ms <= T + 30_000; ms += 1000) {
    site.live.locate([{ kind: 'gateway', receiver: 'knocked-at', ts: ms, readings: [] }], ms);
    site.tick(ms);
    if (ms === T + 20_000) assert.deepEqual(sent, []);
  }
  const corrected = (id) => [`sda/v1/gateway/${id}/status`, { state: 'offline', ts: T + 21_000, reason: 'its connection ended without a word' }, true];
  assert.deepEqual(sent, [corrected('gw-a'), corrected('removed-1')]);
});

test('what is no takeover counts nothing', () => {
  const takeovers = createTakeovers();
  for (const line of ['New client connected from 192.0.2.7:1 as gw-1 (p5, c1, k60, u\'gw-1\').', 'Client gw-1 [192.0.2.7:1] disconnected.',
    'Client gw-1 [192.0.2.7:1] disconnected: connection closed by client.', 'Client gw 1 [192.0.2.7:1] disconnected: session taken over.',
    'Client gw-1 [192.0.2.7:1] disconnected: session taken over', '', 'x'.repeat(1e5)]) takeovers.handleLine(line, T);
  takeovers.handleLine('Client gw-2 [192.0.2.7:1] disconnected: session taken over.', T);
  takeovers.handleLine('New client connected from 192.0.2.8:2 as gw-3 (p4, c0, k60, u\'gw-3\').', T);
  takeovers.handleLine('New client connected from 192.0.2.8:2 as gw-2 (p4, c0, k60, u\'gw-2\').', T + 6000);
  takeOver(takeovers, 'nodered', ['127.0.0.1', 1], ['127.0.0.1', 2], T, 'nodered-probe');
  assert.deepEqual([takeovers.list(T), takeovers.total()], [[], 0]);
});

test('memory is bounded, whoever connects', () => {
  const takeovers = createTakeovers();
  for (let n = 0; n < 2000; n += 1) takeOver(takeovers, `gw-${n}`, ONE, OTHER, T + n);
  for (let n = 0; n < 2000; n += 1) takeOver(takeovers, 'gw-0', [`192.0.2.${n % 256}`, n], OTHER, T + n);
  const listed = takeovers.list(T + 2000);
  assert.equal(listed.length, 256);
  assert.equal(listed[0].count, 1000);
});

test('an alert names both addresses and the place, and ends after ten minutes of peace', () => {
  const takeovers = createTakeovers();
  const building = createBuilding(smallBuilding());
  const [{ id: gateway }] = [...building.gateways.values()];
  const list = createAlertList([accountShared], T - MIN);
  const at = (nowMs) => { list.evaluate({ building, takeovers }, nowMs); return list.list(); };
  for (let n = 0; n < 2; n += 1) takeOver(takeovers, gateway, n % 2 ? ONE : OTHER, n % 2 ? OTHER : ONE, T + n * 1000);
  assert.deepEqual(at(T + 1000), []);
  takeOver(takeovers, gateway, ONE, OTHER, T + 2000);
  const [alert] = at(T + 2000);
  assert.deepEqual([alert.id, alert.severity, alert.room, alert.since], [`account_shared:${gateway}`, 'critical', building.gateways.get(gateway).room, T]);
  assert.match(alert.text, new RegExp(`^Two devices use the account ${gateway} and throw each other out: 2001:db8::8 and 192.0.2.7, 3 times within ten minutes\\.`));
  assert.match(alert.todo, new RegExp(`rotate ${gateway}`));
  assert.equal(at(T + 10 * MIN + 1000)[0].ended_ms, null, 'one is left of the last ten minutes');
  assert.notEqual(at(T + 10 * MIN + 2000)[0].ended_ms, null);
});

test('of one address the alert says that it may be one device, and tells the connections apart', () => {
  const takeovers = createTakeovers();
  const list = createAlertList([accountShared], T - MIN);
  for (let n = 1; n < 4; n += 1) takeOver(takeovers, '17', ['192.0.2.7', n], ['192.0.2.7', n + 1], T);
  list.evaluate({ building: createBuilding(smallBuilding()), takeovers }, T);
  assert.match(list.list()[0].text, /^Two devices at 192\.0\.2\.7 use the account 17, or its one device .* from port 3 by port 4\.$/);
});
