'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { environment, nodeRed, until } = require('./support/stack');

/** A Node-RED without broker and database, with changes to its environment. */
async function start(t, change = () => {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'start-'));
  const env = await environment(folder);
  change(env);
  const red = nodeRed(env);
  t.after(async () => {
    await red.stop('SIGKILL');
    fs.rmSync(folder, { recursive: true });
  });
  return red;
}

/** fetch takes no other Host. */
const statusUnder = (host, url) => new Promise((resolve, reject) => {
  http.get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).on('error', reject);
});

test('a missing variable ends the start with its name', async (t) => {
  const red = await start(t, (env) => { delete env.INFLUX_READ_TOKEN; });
  assert.equal(await red.exit, 1);
  assert.match(red.output, /INFLUX_READ_TOKEN is not set/);
});

test('an invalid network ends the start', async (t) => {
  const red = await start(t, (env) => { env.SDA_TRUSTED_NETS = '10.0.0.0/99'; });
  assert.equal(await red.exit, 1);
  assert.match(red.output, /SDA_TRUSTED_NETS: "10.0.0.0\/99"/);
});

test('a refused building ends the start with its faults', async (t) => {
  const red = await start(t, (env) => fs.writeFileSync(env.SDA_BUILDING, '{"building":"x"}'));
  assert.equal(await red.exit, 1);
  assert.match(red.output, /is refused:\n.*levels/);
});

test('with a faulty building file the last building is used after a restart, and /health reports it', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'start-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const env = await environment(folder);
  const before = nodeRed(env);
  t.after(() => before.stop('SIGKILL'));
  await before.ready();
  const versions = path.join(env.SDA_USER_DIR, 'building-versions');
  await until('a version', () => fs.existsSync(versions) && fs.readdirSync(versions).some((name) => /^\d+\.ndjson$/.test(name)));
  await before.stop('SIGTERM');
  fs.writeFileSync(env.SDA_BUILDING, '{"building":"x"}');
  const after = nodeRed(env);
  t.after(() => after.stop('SIGKILL'));
  await after.ready();
  assert.match(after.output, /is refused:\n.*levels[^]*was in use last goes on/);
  const building = await until('the faults', async () => {
    const { parts } = await (await fetch(`${after.url}/health`)).json();
    return parts.building.status === 'degraded' && parts.building;
  });
  assert.ok(building.rooms > 0);
});

test('the flows start without broker and database, and /health reports both', async (t) => {
  const red = await start(t);
  await red.ready();
  const { status, parts } = await (await fetch(`${red.url}/health`)).json();
  assert.equal(status, 'degraded');
  assert.equal(parts.broker.status, 'degraded');
  assert.equal(parts.influxdb.status, 'degraded');
  assert.match(red.output, /SDA_API_KEY is short enough to be guessed/);
});

test('the editor, switched on, needs the admin login; flows restart without a route twice', async (t) => {
  const red = await start(t, (env) => { env.SDA_EDITOR = '1'; });
  await red.ready();
  assert.equal((await fetch(`${red.url}/editor/flows`)).status, 401);
  assert.equal(await statusUnder('evil.example', `${red.url}/editor/flows`), 421);
  const token = (password) => fetch(`${red.url}/editor/auth/token`, { method: 'POST', body: new URLSearchParams({
    client_id: 'node-red-admin', grant_type: 'password', scope: '*', username: 'admin', password }) });
  assert.equal((await token('wrong')).status, 403);
  const { access_token: bearer } = await (await token('secret-word')).json();
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  const flows = await (await fetch(`${red.url}/editor/flows`, { headers })).json();
  assert.ok(flows.some(({ id }) => id === 'readings-in'));
  const reload = { method: 'POST', headers: { ...headers, 'Node-RED-Deployment-Type': 'reload' }, body: '{}' };
  const askedMs = Date.now();
  assert.equal((await fetch(`${red.url}/editor/flows`, reload)).status, 204);
  // the answer comes before the flows are up again; until then this route is 503
  const report = await until('the flows are up again', async () => {
    const body = await (await fetch(`${red.url}/health`)).json();
    return body.parts && body;
  });
  assert.ok(Date.now() - report.uptime_s * 1000 >= askedMs - 500, `up for ${report.uptime_s} s already`);
  assert.doesNotMatch(red.output, /error/i);
});
