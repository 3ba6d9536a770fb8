'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { BEACONS } = require('./support/building');
const { Broker, createDatabase, environment, nodeRed, until } = require('./support/stack');

// What users build beside our flows: deployed through the editor's API into a real Node-RED with a real Mosquitto.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'own-flows-'));
const SHIPPED = fs.readFileSync(path.join(__dirname, '..', 'flows.json'), 'utf8');
let broker; let client; let database; let env; let red; let server; let bearer;
const posted = [];

before(async () => {
  server = http.createServer(async (request, response) => {
    response.end();
    posted.push(...JSON.parse(Buffer.concat(await request.toArray()).toString()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  broker = await Broker.create(folder);
  client = await broker.connect();
  database = await createDatabase(client);
  env = { ...await environment(folder, { mqttPort: broker.port, influxUrl: database.url }), SDA_EDITOR: '1' };
  await start();
});
after(async () => {
  await red?.stop();
  await client?.endAsync(true);
  await broker?.program.stop();
  for (const one of [server, database?.server]) {
    one?.closeAllConnections();
    one?.close();
  }
  fs.rmSync(folder, { recursive: true });
});

async function start() {
  red = nodeRed(env);
  await red.ready();
  const token = await fetch(`${red.url}/editor/auth/token`, { method: 'POST', body: new URLSearchParams({
    client_id: 'node-red-admin', grant_type: 'password', scope: '*', username: 'admin', password: 'secret-word' }) });
  bearer = (await token.json()).access_token;
  await until('the chain works, and the time before the start is located', async () => {
    const { status, parts } = await (await fetch(`${red.url}/health`)).json();
    return status === 'up' && parts.rebuild.state === 'idle';
  }, 20_000);
}

const editor = (method, headers = {}, body = undefined) => fetch(`${red.url}/editor/flows`, { method, body: JSON.stringify(body),
  headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', 'node-red-api-version': 'v2', ...headers } });

/** Deploy as the editor does. */
async function deploy(type, change) {
  const { flows, rev } = await (await editor('GET')).json();
  const deployed = await editor('POST', { 'node-red-deployment-type': type }, { flows: change(flows), rev });
  assert.equal(deployed.status, 200, await deployed.clone().text());
}

const TAB = () => [
  { id: 'own-tab', type: 'tab', label: 'My own', disabled: false, info: '' },
  { id: 'own-function', type: 'function', z: 'own-tab', name: 'shout', outputs: 1, timeout: 0, noerr: 0, initialize: '', finalize: '', libs: [],
    func: 'if (msg.topic !== "locations") return null;\nconst late = msg.late === true;\n' +
      'const own = msg.payload.map(({ staff_id, ts, room }) => ({ staff_id, ts, room, late }));\n' +
      'for (const item of msg.payload) item.room = "changed by a user";\nreturn { payload: own };', x: 200, y: 80, wires: [['own-post']] },
  { id: 'own-post', type: 'http request', z: 'own-tab', name: '', method: 'POST', ret: 'txt', paytoqs: 'ignore',
    url: `http://127.0.0.1:${server.address().port}/`, tls: '', persist: false, proxy: '', insecureHTTPParser: false, authType: '',
    senderr: false, headers: [], x: 400, y: 80, wires: [[]] },
];
/** The outputs of locate that carry locations. */
const wired = (flows) => flows.map((node) => (node.id === 'locate' && !node.wires[0].includes('own-function')
  ? { ...node, wires: node.wires.map((to, output) => ([0, 4].includes(output) ? [...to, 'own-function'] : to)) } : node));

/** Publish some seconds in a room up to now, one batch a second. */
async function walk(staff, seconds) {
  const now = Date.now();
  for (let s = seconds - 1; s >= 0; s -= 1) {
    const readings = [{ beacon: BEACONS.a, rssi: -50 }]; // one room: of a change the second before may be corrected
    await client.publishAsync(`sda/v1/phone/${staff}/readings`, JSON.stringify({ ts: now - s * 1000, readings }), { qos: 1 });
  }
}

async function history(staff) {
  const now = Date.now() / 1000;
  const answer = await fetch(`${red.url}/extractbeacon?${new URLSearchParams({ staff_id: staff, start_time: now - 60, end_time: now + 1 })}`);
  return answer.ok ? (await answer.json()).location.map(({ timestamp }) => timestamp).sort() : [];
}
const postedOf = (staff, again = false) => posted.filter(({ staff_id: id, late }) => id === staff && late === again)
  .map(({ late: _late, ...location }) => location);

const seconds = (locations) => [...new Set(locations.map(({ ts }) => Math.floor(ts / 1000)))].sort();
const publishedOf = (staff) => client.seen.filter(({ topic }) => topic === 'sda/v1/locations').flatMap(({ data }) => data.locations)
  .filter(({ staff_id: id }) => id === staff);

/** Whether a walk was posted as it was published, each location once, and as history has it. */
async function sawAll(staff, count) {
  await until(`${count} seconds of ${staff} are history`, async () => (await history(staff)).length >= count);
  const known = await history(staff);
  await until(`all seconds of ${staff} are posted`, () => seconds(postedOf(staff)).length >= known.length);
  assert.deepEqual(seconds(postedOf(staff)), known);
  await until('all is published', () => publishedOf(staff).length >= postedOf(staff).length);
  assert.deepEqual(postedOf(staff), publishedOf(staff).map(({ staff_id, ts, room }) => ({ staff_id, ts, room })));
  assert.equal(new Set(postedOf(staff).map(({ ts }) => ts)).size, postedOf(staff).length, 'each once');
}

test('a function of a user after locate posts every location once', async () => {
  await deploy('nodes', (flows) => [...wired(flows), ...TAB()]);
  await walk('51', 6);
  await sawAll('51', 6);
});

test('a deploy in the middle of readings loses none', async () => {
  const sending = walk('52', 20);
  await deploy('nodes', (flows) => flows.map((node) => (node.id === 'check' ? { ...node, name: 'check, deployed again' } : node)));
  await deploy('nodes', (flows) => flows.map((node) => (node.id === 'publish' ? { ...node, name: 'publish, deployed again' } : node)));
  await sending;
  // what came while a node did not exist is located again from the database
  await until('20 seconds are history', async () => (await history('52')).length === 20, 90_000);
  await until('all of them are posted', () => seconds([...postedOf('52'), ...postedOf('52', true)]).length === 20);
  assert.equal(new Set(postedOf('52').map(({ ts }) => ts)).size, postedOf('52').length, 'each once');
});

test('the own tab and its wire survive a restart; our file is as it was shipped', async () => {
  await red.stop();
  assert.equal(fs.readFileSync(path.join(__dirname, '..', 'flows.json'), 'utf8'), SHIPPED);
  await start();
  const { flows } = await (await editor('GET')).json();
  assert.ok(flows.some(({ id, label }) => id === 'own-tab' && label === 'My own'));
  assert.equal(flows.find(({ id }) => id === 'check').name, 'check, deployed again');
  await walk('53', 5);
  await sawAll('53', 5);
});

test('a full deploy is like a start: what came meanwhile is located', async () => {
  await deploy('full', (flows) => flows.filter(({ id }) => id !== 'own-post'));
  await walk('54', 5);
  await until('it is history', async () => (await history('54')).length >= 5);
  assert.doesNotMatch(red.output, /TypeError|unhandled/i);
});
