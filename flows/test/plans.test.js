'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const express = require('express');
const { createBuilding } = require('../lib/building');
const { createDashboard } = require('../lib/http/pages');
const { createSessions } = require('../lib/access');
const { Site } = require('../lib/site');
const { smallBuilding } = require('./support/building');

test('the plan picture of a level: behind the login, from beside the building file only, never run as a page', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plans-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  fs.mkdirSync(path.join(folder, 'in'));
  fs.writeFileSync(path.join(folder, 'secret.png'), 'secret');
  fs.writeFileSync(path.join(folder, 'in', 'one.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  const building = smallBuilding();
  Object.assign(building.levels[0], { plan: 'one.svg' });
  Object.assign(building.levels[1], { plan: 'x/../../secret.png' });

  const sessions = createSessions({ adminUser: 'admin', adminPassword: 'word' });
  const app = express();
  app.get('/in', sessions.readCookie, (request, response) => {
    sessions.start(request, 'viewer');
    response.end();
  });
  app.use(createDashboard({ site: new Site(createBuilding(building), 0), sessions, buildingFile: path.join(folder, 'in', 'building.json') }));
  app.use((error, _request, response, _next) => response.status(error.status ?? 500).end(error.message));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const base = `http://127.0.0.1:${server.address().port}`;
  const cookie = (await fetch(`${base}/in`)).headers.getSetCookie().map((one) => one.split(';')[0]).join('; ');
  const plan = (level, headers = { cookie }) => fetch(`${base}/pages/plans/${level}`, { headers });

  assert.equal((await plan('L1', {})).status, 401);
  const picture = await plan('L1');
  assert.equal(picture.status, 200);
  assert.match(picture.headers.get('content-type'), /svg/);
  assert.match(picture.headers.get('content-security-policy'), /^sandbox; default-src 'none'/);
  for (const level of ['L2', 'L3', '..%2Fsecret.png']) {
    const answer = await plan(level);
    assert.equal(answer.status, 404, level);
    assert.notEqual(await answer.text(), 'secret');
  }
});
