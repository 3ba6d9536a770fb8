'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const express = require('express');
const { loadBuilding } = require('../lib/building');
const checks = require('../lib/building/checks');
const { createReloader } = require('../lib/building/reload');
const { createEditor } = require('../lib/building/editing/editor');
const { createRouter } = require('../lib/http/router');
const { writeRegistry } = require('../lib/building/registry');
const { createRoomNames } = require('../lib/building/room-names');
const { createSessions } = require('../lib/access/sessions');
const { createSite } = require('../lib/site');
const { guards } = require('./support/guards');
const { tower } = require('./support/tower');

const KEY = 'key-of-the-test';
/** Without a break nobody is kept waiting for longer: of the processor, since a busy machine would add its own. */
const TURN_MS = 50;
const TIMES = 4; // at most: a full garbage collection falls into some of them, a long turn of ours into each

/** The routes over a file of the tower, put together as by the nodes. */
async function start() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tower-'));
  const file = path.join(folder, 'building.json');
  fs.writeFileSync(file, JSON.stringify(tower()));
  const logger = { log: () => {}, warn: () => {} };
  const site = createSite(loadBuilding(file), Date.now());
  const names = createRoomNames(path.join(folder, 'rooms.json'), logger.warn);
  const editor = createEditor({ file, folder: path.join(folder, 'versions'), first: site.building(), clock: Date.now, logger });
  const reloader = createReloader({ source: file, read: () => fs.promises.readFile(file, 'utf8'), current: site.building, logger,
    refuse: () => {}, apply: async (next) => {
      const prepared = await site.prepare(next);
      writeRegistry(next, path.join(folder, 'registry'));
      names.update(next, Date.now());
      site.setBuilding(next, Date.now(), prepared);
      editor.recordApplied();
    } });
  const router = createRouter({ site, editor, reload: reloader.checkNow, clock: Date.now, trusted: () => true, apiKey: KEY, ...guards(),
    dashboardPath: '/dashboard/floor', buildingFile: file, sessions: createSessions({ adminUser: 'admin', adminPassword: 'word' }),
    health: () => ({ status: 'up' }), log: (text) => assert.fail(text) });
  const server = express().use(router).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const call = async (method, where, body, headers = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/api/v1/${where}`,
      { method, body, headers: { 'x-api-key': KEY, 'content-type': 'application/json', ...headers } });
    return { status: response.status, etag: response.headers.get('etag'), text: await response.text() };
  };
  await reloader.check();
  const close = () => { server.close(); fs.rmSync(folder, { recursive: true }); };
  return { call, file, building: site.building, look: reloader.check, close };
}

/** The longest that the event loop was busy with one thing while `work` went on, ms of the processor. */
async function longestTurnMs(work) {
  const cpuMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
  let [longest, last, on] = [0, cpuMs(), true];
  const look = () => {
    const now = cpuMs();
    [longest, last] = [Math.max(longest, now - last), now];
    if (on) setImmediate(look);
  };
  setImmediate(look);
  await work().finally(() => { on = false; });
  return longest;
}

/**
 * Work that is done again until its turns are short, TIMES at most.
 * @param {import('node:test').TestContext} t @param {string} what @param {(time: number) => Promise<void>} work
 * @param {() => Promise<unknown>} [prepare] for the next time
 * @returns {Promise<number>} how often it was done
 */
async function keepsNobodyWaiting(t, what, work, prepare = async () => {}) {
  const turnsMs = [];
  do {
    if (turnsMs.length > 0) await prepare();
    turnsMs.push(await longestTurnMs(() => work(turnsMs.length)));
  } while (turnsMs.length < TIMES && turnsMs.at(-1) >= TURN_MS);
  const said = turnsMs.map((ms) => ms.toFixed(1)).join(', ');
  t.diagnostic(`${what}: ${said} ms`);
  assert.ok(turnsMs.at(-1) < TURN_MS, `${what}: ${said} ms without a break`);
  return turnsMs.length;
}

let rig;
before(async () => { rig = await start(); });
after(() => rig.close());

test('an edit of 30 levels of 200 rooms is checked once and keeps nobody waiting', async (t) => {
  const { call, building } = rig;
  const counted = Object.keys(checks).map((name) => t.mock.method(checks, name));
  /** @type {{edit: string, etag: string, xM: number, id: string}[]} */
  const edits = [];
  const edited = async (times) => {
    const { text, etag } = await call('GET', 'building');
    const file = JSON.parse(text);
    file.beacons[7].x_m += 0.25 * times;
    const [{ polygon: west }, { polygon: east }] = file.levels[12].rooms;
    for (const corner of [west[1], west[2], east[0], east[3]]) corner[0] += 0.25 * times;
    return { edit: JSON.stringify(file), etag, xM: file.beacons[7].x_m, id: file.beacons[7].id };
  };
  edits.push(await edited(1));
  const done = await keepsNobodyWaiting(t, 'the edit', async (time) => {
    const { edit, etag, xM, id } = edits[time];
    const answer = await call('PUT', 'building', edit, { 'if-match': etag });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(JSON.parse(answer.text).in_use, true);
    assert.equal(building().beacons.get(id).x_m, xM);
  }, async () => edits.push(await edited(1)));
  assert.equal(counted.reduce((sum, { mock }) => sum + mock.callCount(), 0), done);
});

test('a check, a list of 6,000 beacons and a change by hand keep nobody waiting either', async (t) => {
  const { call, building, file, look } = rig;
  const { text, etag } = await call('GET', 'building');
  const edited = (change) => {
    const data = JSON.parse(text);
    change(data);
    return JSON.stringify(data);
  };
  const bad = edited((data) => {
    for (const level of data.levels) level.rooms.at(-1).polygon = [[0, 0], [9, 0], [9, 9], [0, 9]];
  });
  const rows = building().levels.flatMap(({ id, rooms }) => rooms.map((room, i) => `E${id.slice(1).padStart(5, '0')}${String(i).padStart(6, '0')},${room.id},${id}`));
  const list = ['mac,location,level', ...rows].join('\n');
  const byHand = (offset) => edited((data) => { data.gateways[3].rssi_offset = offset; });
  await keepsNobodyWaiting(t, 'the check', async () => {
    assert.equal(JSON.parse((await call('POST', 'building/validate', bad)).text).faults_count, 60);
  });
  await keepsNobodyWaiting(t, 'the list', async () => {
    const answer = await call('POST', 'building/import?dry_run=1', list, { 'if-match': etag });
    assert.equal(JSON.parse(answer.text).added.length, 6000);
  });
  await keepsNobodyWaiting(t, 'the change by hand', async (time) => {
    await fs.promises.writeFile(file, byHand(2 + time));
    await look();
    assert.equal(building().gateways.get('gw-L1-18').rssi_offset, 2 + time);
  });
});
