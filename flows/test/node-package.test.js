'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { freePort, Program, until } = require('./support/stack');

const FLOWS = path.join(__dirname, '..');

test('the packed nodes, installed into an empty Node-RED: the example locates readings, without database and settings of ours', async (t) => {
  const userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'node-package-'));
  t.after(() => fs.rmSync(userDir, { recursive: true, force: true }));
  const packed = execFileSync(process.execPath, [path.join(FLOWS, 'bin', 'pack-nodes.js'), userDir], { encoding: 'utf8' }).trim();
  execFileSync('npm', ['install', '--prefix', userDir, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', packed], { cwd: userDir, stdio: 'pipe' });
  const example = JSON.parse(fs.readFileSync(path.join(userDir, 'node_modules/node-red-contrib-sda-locator/examples/Who is where.json'), 'utf8'));

  const port = await freePort();
  const red = new Program(process.execPath, [path.join(FLOWS, 'node_modules/node-red/red.js'), '--userDir', userDir, '--port', String(port), '-D', 'uiHost=127.0.0.1'],
    { env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '', HOME: userDir }, cwd: userDir });
  t.after(() => red.stop('SIGKILL'));
  const ask = (where, options) => fetch(`http://127.0.0.1:${port}${where}`, { signal: AbortSignal.timeout(10_000), ...options });
  const json = async (where) => (await ask(where, { headers: { accept: 'application/json' } })).json();
  await until('Node-RED has started', () => /Started flows/.test(red.output)).catch((error) => { throw new Error(`${error.message}\n${red.output}`); });

  const nodes = (await json('/nodes')).filter(({ module }) => module === 'node-red-contrib-sda-locator');
  assert.deepEqual(nodes.map(({ types, err }) => [types, err]).sort(), ['check', 'locate', 'publish', 'site'].map((name) => [[`sda-${name}`], undefined]));
  const texts = await json('/locales/node-red-contrib-sda-locator/sda-check?lng=en-US');
  assert.equal(texts['sda-check']?.label.site, 'Site');

  const flow = example.map((node) => (node.type === 'debug' ? { ...node, console: true, complete: 'true', targetType: 'full' } : node));
  const deployed = await ask('/flows', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(flow) });
  assert.equal(deployed.status, 204);
  await until('locations, presence and events come out', () => /topic: 'locations'/.test(red.output) && /topic: 'presence'/.test(red.output) && /topic: 'events'/.test(red.output))
    .catch((error) => { throw new Error(`${error.message}\n${red.output}`); });
  assert.match(red.output, /staff_id: '0',\s+level: 'L1',\s+room: 'a',\s+beacon: 'C2A628384B08'/);
  assert.doesNotMatch(red.output, /\[error\]/);
});
