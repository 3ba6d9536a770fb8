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
const { createEditor } = require('../lib/building/editor');
const { createRouter } = require('../lib/http');
const { writeRegistry } = require('../lib/building/registry');
const { createRoomNames } = require('../lib/building/room-names');
const { createSessions } = require('../lib/access');
const { Site } = require('../lib/site');
const { guards } = require('./support/guards');
const { tower } = require('./support/tower');
const { longestTaskMs } = require('./support/long-task');

const KEY = 'key-of-the-test';
/** Longest task without a break, ms of the processor, since a busy machine would add its own time. */
const TASK_MAX_MS = 50;
const ATTEMPTS_MAX = 4; // a full garbage collection falls into some of them, a long task of ours into each

/** The routes over a building file of the tower, wired as by the nodes. */
async function start() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tower-'));
  const file = path.join(folder, 'building.json');
  fs.writeFileSync(file, JSON.stringify(tower()));
  const logger = { log: () => {}, warn: () => {} };
  const site = new Site(loadBuilding(file), Date.now());
  const names = createRoomNames(path.join(folder, 'rooms.json'), logger.warn);
  const editor = createEditor({ file, folder: path.join(folder, 'versions'), first: site.building(), clock: Date.now, logger });
  const reloader = createReloader({ source: file, read: () => fs.promises.readFile(file, 'utf8'), current: site.building, logger,
    refuse: () => {}, apply: async (next) => {
      const prepared = await site.live.prepare(next);
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
  return { call, file, building: site.building, check: reloader.check, close };
}

/**
 * Repeats work until its tasks are short, ATTEMPTS_MAX times at most.
 * @param {import('node:test').TestContext} t @param {string} what @param {(time: number) => Promise<void>} work
 * @param {() => Promise<unknown>} [prepare] for the next time
 * @returns {Promise<number>} how often it was done
 */
async function keepsLoopFree(t, what, work, prepare = async () => {}) {
  const tasksMs = [];
  do {
    if (tasksMs.length > 0) await prepare();
    tasksMs.push(await longestTaskMs(() => work(tasksMs.length)));
  } while (tasksMs.length < ATTEMPTS_MAX && tasksMs.at(-1) >= TASK_MAX_MS);
  const text = tasksMs.map((ms) => ms.toFixed(1)).join(', ');
  t.diagnostic(`${what}: ${text} ms`);
  assert.ok(tasksMs.at(-1) < TASK_MAX_MS, `${what}: ${text} ms without a break`);
  return tasksMs.length;
}

let rig;
before(async () => { rig = await start(); });
after(() => rig.close());

test('an edit of 30 levels with 200 rooms each is checked once and does not block the event loop', async (t) => {
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
  const done = await keepsLoopFree(t, 'the edit', async (time) => {
    const { edit, etag, xM, id } = edits[time];
    const answer = await call('PUT', 'building', edit, { 'if-match': etag });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(JSON.parse(answer.text).in_use, true);
    assert.equal(building().beacons.get(id).x_m, xM);
  }, async () => edits.push(await edited(1)));
  assert.equal(counted.reduce((sum, { mock }) => sum + mock.callCount(), 0), done);
});

test('a check, a list of 6,000 beacons and a change by hand do not block the event loop', async (t) => {
  const { call, building, file, check } = rig;
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
  await keepsLoopFree(t, 'the check', async () => {
    assert.equal(JSON.parse((await call('POST', 'building/validate', bad)).text).faults_count, 60);
  });
  await keepsLoopFree(t, 'the list', async () => {
    const answer = await call('POST', 'building/import?dry_run=1', list, { 'if-match': etag });
    assert.equal(JSON.parse(answer.text).added.length, 6000);
  });
  await keepsLoopFree(t, 'the change by hand', async (time) => {
    await fs.promises.writeFile(file, byHand(2 + time));
    await check();
    assert.equal(building().gateways.get('gw-L1-18').rssi_offset, 2 + time);
  });
});
