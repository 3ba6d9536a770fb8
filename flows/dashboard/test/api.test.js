import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { before, test } from 'node:test';
import { api } from '../src/io/api.js';

const server = createServer((request, answer) => {
  const [, status, body] = request.url.match(/^\/api\/v1\/(\d+)\/(\w+)/);
  answer.writeHead(Number(status));
  if (body === 'page') answer.end('<html>');
  else answer.write('{"rooms": [');
  if (body === 'broken') setImmediate(() => answer.destroy());
});

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  globalThis.location = { origin: `http://127.0.0.1:${server.address().port}` };
});

test('a broken answer is an error, whatever its beginning', async () => {
  await assert.rejects(api('/200/broken'), { name: 'Error', message: 'the answer of the server broke off', status: 0 });
  await assert.rejects(api('/503/broken'), { message: 'the answer of the server broke off', status: 0 });
});

test('an answer that is not JSON, as of a proxy, is an error', async () => {
  await assert.rejects(api('/200/page'), { message: 'the answer of the server is no JSON', status: 200 });
  await assert.rejects(api('/502/page'), { message: 'the server answered 502', status: 502 });
});

test('an aborted request gets no answer', async () => {
  for (const status of [200, 503]) {
    const aborter = new AbortController();
    const asked = api(`/${status}/held`, {}, { signal: aborter.signal });
    setTimeout(() => aborter.abort(), 50); // its head is there, its body is not
    await assert.rejects(asked, { name: 'AbortError' });
  }
});

test('an absent server is reported so', async () => {
  server.close().closeAllConnections();
  await assert.rejects(api('/200/held'), { message: 'the server does not answer', status: 0 });
});
