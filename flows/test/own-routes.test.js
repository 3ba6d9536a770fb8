'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { environment, nodeRed, until } = require('./support/stack');

// Routes of a user's own beside ours, deployed with the editor of a real Node-RED.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'own-routes-'));
let red; let headers; let ours;

before(async () => {
  const env = { ...await environment(folder), SDA_EDITOR: '1' };
  red = nodeRed(env);
  await red.ready();
  const login = await fetch(`${red.url}/editor/auth/token`, { method: 'POST', body: new URLSearchParams({
    client_id: 'node-red-admin', grant_type: 'password', scope: '*', username: 'admin', password: 'secret-word' }) });
  headers = { authorization: `Bearer ${(await login.json()).access_token}`, 'content-type': 'application/json' };
  ours = await (await fetch(`${red.url}/editor/flows`, { headers })).json();
});
after(async () => {
  await red?.stop('SIGKILL');
  fs.rmSync(folder, { recursive: true });
});

const OWN = [
  { id: 'own', type: 'tab', label: 'Own', disabled: false, info: '' },
  { id: 'own-in', type: 'http in', z: 'own', url: '/mine', method: 'get', wires: [['own-text']] },
  { id: 'own-text', type: 'function', z: 'own', func: 'msg.payload = "mine"; return msg;', outputs: 1, libs: [], wires: [['own-out']] },
  { id: 'own-out', type: 'http response', z: 'own', wires: [] },
  { id: 'kept-in', type: 'http in', z: 'own', url: '/mine/kept', method: 'get', wires: [['kept-access']] },
  { id: 'kept-access', type: 'sda-access', z: 'own', http: 'answers', right: 'presence', changes: false, route: '', wires: [['kept-text']] },
  { id: 'kept-text', type: 'function', z: 'own', func: 'msg.payload = msg.caller.name; return msg;', outputs: 1, libs: [], wires: [['own-out']] },
];

/** @param {object[]} flows @param {'full'|'nodes'} type of deploy */
async function deploy(flows, type) {
  const started = () => red.output.split(/Started (?:modified )?(?:flows|nodes)/).length;
  const begun = started();
  const answer = await fetch(`${red.url}/editor/flows`, { method: 'POST', headers: { ...headers, 'Node-RED-Deployment-Type': type }, body: JSON.stringify(flows) });
  assert.equal(answer.status, 204, await answer.text());
  await until('the deploy is over', () => started() > begun); // the answer comes before
}
const call = async (where, options) => {
  const response = await fetch(red.url + where, options);
  return { status: response.status, text: await response.text() };
};
/** Ours and theirs answer, each under its own protection. */
async function bothAnswer() {
  assert.deepEqual(await call('/mine'), { status: 200, text: 'mine' });
  assert.equal((await call('/retrieveformonitoring', { headers: { 'x-api-key': 'wrong' } })).status, 401);
  assert.equal((await call('/newbeacondetect')).status, 400);
  assert.equal((await call('/api/v1/me')).status, 200);
  assert.deepEqual(await call('/mine/kept'), { status: 200, text: '127.0.0.1' });
  assert.equal((await call('/mine/kept', { headers: { 'x-forwarded-for': '192.0.2.1' } })).status, 401, 'sda-access asks for a key');
  const nowhere = await call('/nothing');
  assert.deepEqual([nowhere.status, JSON.parse(nowhere.text)], [404, { error: 'there is no /nothing' }]);
  const foreign = await new Promise((resolve, reject) => { // fetch takes no other Host
    http.get(`${red.url}/mine`, { headers: { host: 'evil.example' } }, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
  assert.equal(foreign, 421, 'host names are checked before every route');
}

test('a route of a user\'s own, added after ours, answers beside them', async () => {
  await deploy([...ours, ...OWN], 'nodes');
  await bothAnswer();
});

test('deployed as a whole, with the own tab first, both answer', async () => {
  await deploy([...OWN, ...ours], 'full');
  await bothAnswer();
});

test('while our part is deployed again the own route goes on', async () => {
  const changed = ours.map((node) => (node.id === 'answers' ? { ...node, name: 'changed' } : node));
  let isOver = false;
  const statuses = new Set();
  const asking = (async () => {
    while (!isOver) statuses.add((await call('/mine')).status);
  })();
  await deploy([...OWN, ...changed], 'nodes');
  isOver = true;
  await asking;
  assert.deepEqual([...statuses], [200]);
  await bothAnswer();
});

test('an own route that is removed is 404 again, ours go on', async () => {
  await deploy(ours, 'nodes');
  assert.equal((await call('/mine')).status, 404);
  assert.equal((await call('/retrieveformonitoring', { headers: { 'x-api-key': 'wrong' } })).status, 401);
});
