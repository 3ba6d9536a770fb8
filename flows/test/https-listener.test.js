'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const tls = require('node:tls');
const { after, before, test } = require('node:test');
const { createHttpsListener } = require('../lib/http/https-listener');
const { makeCertificate } = require('./support/certificate');
const { freePort, until } = require('./support/stack');

let folder;
before(() => { folder = fs.mkdtempSync(path.join(os.tmpdir(), 'secure-')); });
after(() => fs.rmSync(folder, { recursive: true }));

/** A pair of PEM texts. */
function pair(days = 90) {
  const { cert, key } = makeCertificate(folder, { days });
  return { cert: fs.readFileSync(cert, 'utf8'), key: fs.readFileSync(key, 'utf8') };
}

/** A plain server, and HTTPS before it. */
async function house(t, { port = null, first = pair() } = {}) {
  const own = fs.mkdtempSync(path.join(folder, 'own-'));
  const [certFile, keyFile] = ['server.crt', 'server.key'].map((name) => path.join(own, name));
  const put = ({ cert, key }) => {
    fs.writeFileSync(keyFile, key);
    fs.writeFileSync(certFile, cert);
  };
  if (first) put(first);
  const server = http.createServer((request, response) => response.end(JSON.stringify({
    encrypted: Boolean(request.socket.encrypted), from: request.socket.remoteAddress })));
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const said = [];
  const clock = { nowMs: Date.now() };
  const deps = { host: '127.0.0.1', port: port ?? await freePort(), certFile, keyFile };
  const listener = createHttpsListener({ ...deps, clock: () => clock.nowMs });
  t.after(() => {
    listener.close();
    server.close();
    server.closeAllConnections();
  });
  const check = () => listener.check(server, (text) => said.push(text));
  const status = () => listener.part().status;
  return { ...deps, listener, check, put, said, status, clock, plainPort: server.address().port };
}

/** What a caller gets who trusts that certificate. */
async function ask(port, ca, agent = new https.Agent()) {
  const request = https.get({ host: '127.0.0.1', port, ca, servername: 'localhost', agent });
  const [response] = await once(request, 'response');
  const { socket } = response;
  const shown = socket.getPeerCertificate().fingerprint256;
  return { ...JSON.parse((await response.toArray()).join('')), shown, socket };
}

test('what comes over TLS reaches the same server, as encrypted and under the caller\'s address; HTTP stays', async (t) => {
  const first = pair();
  const { port, check, plainPort, status } = await house(t, { first });
  assert.equal(status(), 'degraded', 'nothing was read yet');
  await check();
  assert.equal(status(), 'up');
  const { encrypted, from } = await ask(port, first.cert);
  assert.deepEqual({ encrypted, from }, { encrypted: true, from: '127.0.0.1' });
  assert.equal((await (await fetch(`http://127.0.0.1:${plainPort}`)).json()).encrypted, false);
});

test('so do sockets that ask for an upgrade', async (t) => {
  const first = pair();
  const { port, check } = await house(t, { first });
  await check();
  const socket = tls.connect({ host: '127.0.0.1', port, ca: first.cert, servername: 'localhost' });
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  assert.match((await socket.toArray()).join(''), /101 Switching Protocols[^]*hello$/);
});

test('a new pair is shown to who connects from then on; who is connected stays so', async (t) => {
  const [first, second] = [pair(), pair(30)];
  const { port, check, put, listener, said } = await house(t, { first });
  await check();
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const earlier = await ask(port, first.cert, agent);
  const endsMs = listener.life().endsMs;
  put(second);
  await check();
  assert.match(said.at(-1), /shows its new certificate/);
  assert.ok(listener.life().endsMs < endsMs);
  const kept = await ask(port, first.cert, agent);
  assert.equal(kept.socket, earlier.socket);
  const fresh = await ask(port, second.cert);
  assert.notEqual(fresh.shown, earlier.shown);
});

test('a pair that does not fit, or is none, is not taken; the one of before stays, and that is said once', async (t) => {
  const [first, second] = [pair(), pair()];
  const { port, check, put, said, status, listener } = await house(t, { first });
  await check();
  for (const wrong of [{ cert: second.cert, key: first.key }, { cert: 'none', key: 'none' }]) {
    put(wrong);
    await check();
    const lines = said.length;
    await check();
    assert.equal(said.length, lines);
    assert.equal(status(), 'degraded');
    assert.match(listener.part().reason, /server\.crt and .*server\.key cannot be used/);
    await ask(port, first.cert);
  }
  put(second);
  await check();
  assert.equal(status(), 'up');
  await ask(port, second.cert);
});

test('without a certificate nothing listens, until there is one', async (t) => {
  const { port, check, put, status, listener } = await house(t, { first: null });
  await check();
  assert.match(listener.part().reason, /ENOENT/);
  await assert.rejects(once(net.connect(port, '127.0.0.1'), 'connect'), /ECONNREFUSED/);
  const first = pair();
  put(first);
  await check();
  assert.equal(status(), 'up');
  await ask(port, first.cert);
});

test('a port that is taken is named with what to do, and opened when it is free', async (t) => {
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { check, listener, status } = await house(t, { port: other.address().port });
  await check();
  assert.match(listener.part().reason, /port \d+ is not open: .*EADDRINUSE.*choose another HTTPS_PORT/);
  other.close();
  await once(other, 'close');
  await check();
  assert.equal(status(), 'up');
});

test('an end that is past is said; who speaks no TLS is counted and harms nobody', async (t) => {
  const first = pair(2);
  const { port, check, listener, clock, status } = await house(t, { first });
  await check();
  const failed = () => listener.figures.find(({ name }) => name === 'https_handshakes_failed').read();
  const socket = net.connect(port, '127.0.0.1').on('error', () => {});
  socket.end('GET / HTTP/1.1\r\n\r\n');
  await until('it is counted', () => failed() === 1);
  await ask(port, first.cert);
  clock.nowMs += 3 * 86_400_000;
  assert.equal(status(), 'degraded');
  assert.match(listener.part().reason, /has ended/);
});
