'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const express = require('express');
const { createAlerts } = require('../lib/alerts');
const { loadBuilding } = require('../lib/building');
const { createReloader } = require('../lib/building/reload');
const { createEditor } = require('../lib/building/editor');
const { createRouter } = require('../lib/http');
const { createSessions } = require('../lib/access');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');
const { guards } = require('./support/guards');
const { receive } = require('./support/receive');

const KEY = 'key-of-the-test';
const T = 1_700_000_000_000;
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'http-building-'));
after(() => fs.rmSync(root, { recursive: true }));
let folders = 0;

/** The routes over a real file, as the nodes put it together. */
async function start(t) {
  const folder = path.join(root, String(folders += 1));
  fs.mkdirSync(folder);
  const file = path.join(folder, 'building.json');
  fs.writeFileSync(file, JSON.stringify(smallBuilding()));
  const logger = { log: () => {}, warn: () => {} };
  const clock = () => T;
  const site = new Site(loadBuilding(file), T);
  const editor = createEditor({ file, folder: path.join(folder, 'versions'), first: site.building(), clock, logger });
  const reloader = createReloader({ source: file, read: () => fs.promises.readFile(file, 'utf8'), current: () => site.building(), logger,
    refuse: (faults) => site.bus.emit('buildingRefused', faults), apply: (next) => { site.setBuilding(next, T); editor.recordApplied(); } });
  const alerts = createAlerts({ site, parts: () => ({}), file: path.join(folder, 'alerts.json'), clock, warn: () => {} });
  const logged = [];
  const deeds = [];
  const base = guards();
  const audit = { ...base.audit, adminAction: async (kind, who, about) => { deeds.push(`${kind} by ${who.name}: ${about}`); } };
  const router = createRouter({ site, editor, reload: reloader.checkNow, alerts, clock, trusted: () => true, apiKey: KEY, ...base, audit,
    dashboardPath: '/dashboard/floor', buildingFile: file, sessions: createSessions({ adminUser: 'admin', adminPassword: 'word' }),
    health: () => ({ status: 'up' }), log: (text) => logged.push(text) });
  const server = express().use(router).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); assert.deepEqual(logged, [], 'the fault of a caller is not ours'); });
  const call = async (method, where, body, headers = {}) => {
    const sent = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const response = await fetch(`http://127.0.0.1:${server.address().port}/api/v1/${where}`,
      { method, body: sent, headers: { 'x-api-key': KEY, 'content-type': 'application/json', ...headers } });
    return { status: response.status, headers: response.headers, etag: response.headers.get('etag'), body: await response.json() };
  };
  return { call, site, file, folder, alerts, deeds, etag: async () => (await call('GET', 'building')).etag };
}
const changed = (change) => { const data = smallBuilding(); change(data); return data; };
const named = (name) => changed((data) => { data.building = name; });

test('the building is read, changed, in use at once, and listed as a version', async (t) => {
  const { call, site } = await start(t);
  const { status, etag, body } = await call('GET', 'building');
  assert.equal(status, 200);
  assert.deepEqual(body, smallBuilding());
  const next = changed((data) => { data.staff.push({ id: '2', name: 'Cem' }); });
  const written = await call('PUT', 'building', next, { 'if-match': etag });
  assert.equal(written.status, 200);
  assert.deepEqual([written.body.version, written.body.in_use, written.body.changes.staff.added], [2, true, 1]);
  assert.equal(site.building().staff.get('2').name, 'Cem');
  assert.notEqual(written.etag, etag);
  assert.equal(written.etag, (await call('GET', 'building')).etag);
  const versions = await call('GET', 'building/versions');
  assert.deepEqual(versions.body.versions.map(({ version, by, how, ts }) => [version, by, how, ts]),
    [[2, 'SDA_API_KEY', 'edit', T], [1, null, 'start', T]]);
  assert.deepEqual([versions.body.current, versions.body.dropped, versions.body.faults], [2, 0, []]);
});

test('a change needs to know what it changes', async (t) => {
  const { call, etag, site } = await start(t);
  const first = await etag();
  assert.equal((await call('PUT', 'building', named('One'))).status, 428);
  assert.equal((await call('PUT', 'building', named('One'), { 'if-match': first })).status, 200);
  const { status, body, etag: now } = await call('PUT', 'building', named('Two'), { 'if-match': first });
  assert.equal(status, 412);
  assert.match(body.error, /was changed meanwhile by SDA_API_KEY \(version 2\)/);
  assert.equal(now, await etag());
  assert.equal(site.building().name, 'One');
  assert.equal((await call('PUT', 'building', named('Two'), { 'if-match': `"${'0'.repeat(32)}", W/"${'1'.repeat(32)}"` })).status, 412);
  assert.equal((await call('PUT', 'building', named('Two'), { 'if-match': `"${'0'.repeat(32)}", W/${now}` })).status, 200, 'one of several');
  assert.equal((await call('PUT', 'building', named('Three'), { 'if-match': '*' })).status, 200, 'a change of whatever there is');
  assert.equal((await call('PUT', 'building', named('Four'), { 'if-match': 'x' })).status, 412);
});

test('every fault is reported with its JSON pointer, and nothing changes', async (t) => {
  const { call, etag, site } = await start(t);
  const bad = changed((data) => { data.beacons[0].room = 'attic'; data.levels[1].rooms[0].limit = 0; });
  for (const [method, where, status] of [['POST', 'building/validate', 200], ['PUT', 'building', 422]]) {
    const answer = await call(method, where, bad, { 'if-match': await etag() });
    assert.equal(answer.status, status);
    assert.deepEqual(answer.body.faults.map(({ pointer }) => pointer).sort(), ['/beacons/0/room', '/levels/1/rooms/0/limit']);
    assert.equal(answer.body.faults_count, 2);
  }
  assert.equal(site.building().name, 'Small House');
  assert.deepEqual((await call('POST', 'building/validate', smallBuilding())).body, { valid: true, faults_count: 0, faults: [] });
  for (const text of ['{"half', '', Buffer.from([0xff, 0xfe, 0xfd])]) {
    assert.match((await call('POST', 'building/validate', text)).body.faults[0].reason, /^is not JSON/);
  }
  assert.equal((await call('PUT', 'building', 'x'.repeat(9e6), { 'if-match': '"x"' })).status, 413);
});

test('a building is made of a list: shown first, then in use, with what was refused', async (t) => {
  const { call, etag, site } = await start(t);
  const list = 'C2A628384B77:Lobby:G\nC2A628384B7:Lobby:G\nC2A628384B78:Car Park:B1\nC2A628384B79:Room A:L1\n';
  const dry = await call('POST', 'building/from-list?dry_run=1&how=new&name=Mine', list, { 'content-type': 'text/csv' });
  assert.deepEqual([dry.status, dry.body.new, dry.body.building, dry.body.levels.map(({ name }) => name)], [200, true, 'Mine', ['B1', 'G', 'L1']]);
  assert.deepEqual(dry.body.refused.map(({ line, kind }) => [line, kind]), [[2, 'mac_length']]);
  assert.equal(site.building().name, 'Small House');
  const added = await call('POST', 'building/from-list', list, { 'if-match': await etag() });
  assert.deepEqual([added.status, added.body.new, added.body.version, added.body.in_use], [200, false, 2, true]);
  assert.deepEqual(site.building().levels.map(({ id }) => id), ['B1', 'G', 'L1', 'L2']);
  const made = await call('POST', 'building/from-list?how=new', list, { 'if-match': added.etag });
  assert.deepEqual([made.status, made.body.building, site.building().gateways.size, site.building().staff.size], [200, 'My building', 0, 2]);
  assert.equal((await call('POST', 'building/from-list?how=new', 'nothing', { 'if-match': made.etag })).status, 422);
  assert.equal((await call('POST', 'building/from-list?how=over', list, { 'if-match': made.etag })).status, 400);
  assert.equal((await call('POST', 'building/from-list', list)).status, 428);
  assert.equal((await call('POST', 'building/versions/1/restore', undefined, { 'if-match': made.etag })).body.in_use, true);
});

test('a list of beacons is taken in, with the rows that are refused by line', async (t) => {
  const { call, etag, site } = await start(t);
  const table = 'mac,location,level\nC2:A6:28:38:4B:77,Room A,L1\nC2A628384B7,Room A,L1\nC2A628384B78,Attic,L1\n';
  const lines = 'C2A628384B79:Room B:L1\nC2A628384B79:Room B:L1\n';
  const dry = await call('POST', 'building/import?dry_run=1', table, { 'content-type': 'text/csv' });
  assert.deepEqual([dry.status, dry.body.added, dry.body.version], [200, ['C2A628384B77'], null]);
  assert.deepEqual(dry.body.refused.map(({ line, kind }) => [line, kind]), [[3, 'mac_length'], [4, 'location_unknown']]);
  assert.equal(site.building().beacons.size, 4);
  for (const [text, version] of [[table, 2], [lines, 3]]) {
    const answer = await call('POST', 'building/import', text, { 'content-type': 'text/csv', 'if-match': await etag() });
    assert.deepEqual([answer.status, answer.body.version, answer.body.in_use], [200, version, true]);
  }
  assert.equal(site.building().beacons.get('C2A628384B77').room, 'a');
  assert.equal(site.building().beacons.get('C2A628384B79').approximate, true);
  const again = await call('POST', 'building/import', lines, { 'if-match': await etag() });
  assert.deepEqual([again.body.added, again.body.unchanged, again.body.version], [[], ['C2A628384B79'], null]);
  assert.equal((await call('POST', 'building/import', 'mac;room\nx;y', { 'if-match': await etag() })).status, 400);
  assert.equal((await call('POST', 'building/import', lines)).status, 428);
});

test('an earlier version is shown with what going back would change, and restored', async (t) => {
  const { call, etag, site } = await start(t);
  await call('PUT', 'building', changed((data) => { data.beacons.pop(); }), { 'if-match': await etag() });
  const earlier = await call('GET', 'building/versions/1');
  assert.deepEqual([earlier.body.building, earlier.body.restoring.beacons.added], [smallBuilding(), 1]);
  assert.equal((await call('POST', 'building/versions/1/restore')).status, 428);
  const back = await call('POST', 'building/versions/1/restore', undefined, { 'if-match': await etag() });
  assert.deepEqual([back.status, back.body.version, back.body.in_use], [200, 3, true]);
  assert.equal(site.building().beacons.size, 4);
  const [newest] = (await call('GET', 'building/versions')).body.versions;
  assert.deepEqual([newest.how, newest.of], ['restore', 1]);
  for (const number of ['9', '0', 'x', '1e3']) assert.equal((await call('GET', `building/versions/${number}`)).status, 404);
});

test('a file that was spoiled by hand is reported, and mended by the next change', async (t) => {
  const { call, etag, file, folder } = await start(t);
  fs.writeFileSync(file, '{"half');
  const spoiled = await call('GET', 'building/versions');
  assert.match(spoiled.body.faults[0].reason, /is not JSON/);
  const back = await call('PUT', 'building', smallBuilding(), { 'if-match': await etag() });
  assert.deepEqual([back.status, back.body.version, back.body.in_use], [200, null, true]);
  assert.equal(fs.readFileSync(back.body.set_aside, 'utf8'), '{"half');
  assert.equal((await call('GET', 'building/versions')).body.faults_count, 0);
  fs.rmSync(path.join(folder, 'versions'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'versions'), '');
  const refused = await call('PUT', 'building', named('New'), { 'if-match': await etag() });
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60']);
  assert.match(refused.body.error, /cannot be written \(ENOTDIR\): see that Node-RED may write the folder/);
});

test('trust is enough to look, not to change', async (t) => {
  const { call } = await start(t);
  const keyless = { 'x-api-key': '' };
  for (const where of ['building', 'building/versions', 'building/versions/1', 'alerts', 'strangers']) {
    assert.equal((await call('GET', where, undefined, keyless)).status, 200, where);
  }
  for (const [method, where] of [['PUT', 'building'], ['POST', 'building/validate'], ['POST', 'building/import'], ['POST', 'building/versions/1/restore'],
    ['POST', 'alerts/x/acknowledge']]) {
    assert.equal((await call(method, where, '{}', keyless)).status, 401, where);
  }
  assert.deepEqual((await call('DELETE', 'building')).headers.get('allow'), 'GET, HEAD, PUT');
});

test('alerts are listed and acknowledged; strangers are listed with who heard them', async (t) => {
  const { call, site, alerts, deeds } = await start(t);
  site.broker.outbox.attach({ send: () => {}, connected: () => true });
  const hear = (topic, body) => receive(site, `sda/v1/${topic}/readings`, Buffer.from(body), T);
  hear('phone/9', 'no JSON');
  hear('gateway/gw-new', JSON.stringify({ ts: T, readings: [{ beacon: 'AB0000000001', rssi: -70 }, { beacon: BEACONS.a, rssi: -60 }] }));
  await alerts.evaluate(T);
  const [alert] = (await call('GET', 'alerts')).body.alerts;
  assert.deepEqual([alert.id, alert.kind, alert.severity, alert.since, alert.acknowledged], ['messages_refused:9', 'messages_refused', 'warning', T, null]);
  const seen = await call('POST', `alerts/${alert.id}/acknowledge`);
  assert.deepEqual(seen.body.acknowledged, { by: 'SDA_API_KEY', ts: T });
  assert.deepEqual((await call('GET', 'alerts')).body.open, 0);
  assert.equal((await call('POST', 'alerts/messages_refused:8/acknowledge')).status, 404);
  for (const phone of ['7', '8']) hear(`phone/${phone}`, 'no JSON');
  await alerts.evaluate(T);
  const { groups: [group] } = (await call('GET', 'alerts/kinds')).body;
  assert.deepEqual([group.kind, group.state, group.count, group.changed_ms], ['messages_refused', 'open', 2, T]);
  const first = (await call('GET', 'alerts?kind=messages_refused&state=open&limit=1')).body;
  assert.deepEqual(first.alerts.map(({ id }) => id), ['messages_refused:7']);
  const rest = (await call('GET', `alerts?kind=messages_refused&state=open&limit=1&cursor=${first.next}`)).body;
  assert.deepEqual([rest.alerts.map(({ id }) => id), rest.next], [['messages_refused:8'], null]);
  assert.deepEqual((await call('GET', 'alerts?kind=sda_lost')).body.alerts, []);
  const acknowledge = (until) => call('POST', `alerts/kinds/messages_refused/acknowledge?state=open&until=${until}`);
  assert.deepEqual((await acknowledge((T - 1) / 1000)).body, { acknowledged: 0 });
  assert.deepEqual((await acknowledge(new Date(group.changed_ms).toISOString())).body, { acknowledged: 2 });
  assert.deepEqual((await acknowledge(new Date(group.changed_ms).toISOString())).body, { acknowledged: 0 });
  assert.equal((await acknowledge('soon')).status, 400);
  assert.deepEqual(deeds, ['alerts_acknowledged by SDA_API_KEY: 2 of messages_refused, until 2023-11-14T22:13:20.000Z']);
  assert.deepEqual((await call('GET', 'alerts')).body.open, 0);
  assert.deepEqual((await call('POST', 'alerts/kinds/sda_lost/acknowledge')).body, { acknowledged: 0 });
  assert.equal((await call('POST', 'alerts/kinds/nonsense/acknowledge')).status, 404);
  assert.deepEqual((await call('GET', 'strangers')).body, {
    beacons: [{ beacon: 'AB0000000001', first_ms: T, heard_ms: T, kind: 'gateway', receiver: 'gw-new', rssi: -70, count: 1 }],
    gateways: [{ gateway: 'gw-new', state: 'online', since: T, reading_ms: T }] });
});

test('whoever asks learns what they may', async (t) => {
  const { call } = await start(t);
  assert.deepEqual((await call('GET', 'me')).body, { name: 'SDA_API_KEY', kind: 'key', rights: ['history', 'presence', 'admin', 'forward'], read_only: false });
  assert.deepEqual((await call('GET', 'me', undefined, { 'x-api-key': '' })).body.rights, ['history', 'presence']);
});
