'use strict';

const assert = require('node:assert/strict');
const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const https = require('node:https');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { makeCertificate } = require('../../../../flows/test/support/certificate');
const { freePort } = require('../../../../flows/test/support/stack');

// The entry as a process, over TLS on both sides.
const ENTRY = path.join(__dirname, '..', 'campus.js');

function folderOf(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sda-campus-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** Start it and wait until it listens. */
async function started(t, file) {
  const child = spawn(process.execPath, [ENTRY, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  child.stdout.setEncoding('utf8');
  for await (const [text] of on(child.stdout)) if (/HTTPS listens/.test(text)) break;
  return child;
}
async function* on(stream) {
  for (let all = ''; ;) {
    const [text] = await once(stream, 'data');
    yield [all += text];
  }
}

/** A question over TLS, on a connection of its own. */
const ask = (port, route, ca) => new Promise((resolve, reject) => {
  https.get({ port, host: '127.0.0.1', servername: 'localhost', path: route, ca, agent: false }, async (response) => {
    resolve({ status: response.statusCode, text: (await response.setEncoding('utf8').toArray()).join('') });
  }).on('error', reject);
});

test('over TLS to the site and from the caller; what is asked before a stop is answered', async (t) => {
  const folder = folderOf(t);
  const { cert, key } = makeCertificate(folder, { name: 'tls', days: 9 });
  const ca = fs.readFileSync(cert);
  const held = [];
  const site = https.createServer({ cert: ca, key: fs.readFileSync(key) }, (request, response) => {
    if (request.url === '/retrieveformonitoring') {
      held.push(() => response.end('{"data":[]}'));
      site.emit('held');
    } else response.end('{"status":"up","parts":{},"rights":["history","presence","forward"]}');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  t.after(() => { site.close(); site.closeAllConnections(); });
  const [port, httpsPort] = [await freePort(), await freePort()];
  fs.writeFileSync(path.join(folder, 'site.key'), 'secret\n', { mode: 0o600 });
  const file = path.join(folder, 'campus.toml');
  fs.writeFileSync(file, `[entry]\nport = ${port}\nhttps_port = ${httpsPort}\nhttps_bind = "127.0.0.1"\nhttps_cert = "tls.crt"\nhttps_key = "tls.key"
data_dir = "keys"\ntrusted_nets = ["127.0.0.0/8"]\n[[sites]]\nname = "only"\nurl = "https://127.0.0.1:${site.address().port}"
ca_file = "tls.crt"\nkey_file = "site.key"\n`);
  const child = await started(t, file);
  const asked = ask(httpsPort, '/retrieveformonitoring', ca);
  await once(site, 'held');
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  for (let isOpen = true; isOpen;) isOpen = await fetch(`http://127.0.0.1:${port}/health`).then(() => true, () => false);
  held.forEach((answer) => answer());
  assert.deepEqual(await asked, { status: 200, text: '{"data":[]}' });
  assert.deepEqual(await ended, [0, null]);
});

test('a key that others can read, or a file that is wrong, ends the start in words', (t) => {
  const folder = folderOf(t);
  fs.writeFileSync(path.join(folder, 'site.key'), 'secret\n', { mode: 0o644 });
  const file = path.join(folder, 'campus.toml');
  fs.writeFileSync(file, '[[sites]]\nname = "a"\nurl = "http://127.0.0.1:1"\nkey_file = "site.key"\n');
  assert.throws(() => execFileSync(process.execPath, [ENTRY, file], { stdio: 'pipe' }), ({ status, stderr }) => {
    assert.equal(status, 1);
    assert.match(String(stderr), /campus\.toml cannot be used:\n {2}sites\[0\] \(a\): others can read .*site\.key/);
    return true;
  });
});
