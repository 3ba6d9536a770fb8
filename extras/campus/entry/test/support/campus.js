'use strict';

const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { makeKey, writeKeys } = require('../../../../../flows/lib/access/keys');
const { createCampus } = require('../../lib');

// A campus entry in front of sites that answer what a test says.
const silent = { info: () => {}, warn: () => {}, error: () => {} };
const SITE_KEY = 'key-of-the-entry';

/** What a site of an earlier version says, which does not tell who has a past there. */
const NO_ROUTE = { status: 404, body: { error: 'there is no /api/v1/people/known' } };
/** What a site that is well says of itself. */
const WELL = { '/health': { body: { status: 'up', parts: {} } }, '/api/v1/me': { body: { rights: ['history', 'presence', 'forward'] } },
  '/api/v1/people/known': NO_ROUTE };

/** A site: answers by path; a function gets the request and its body, and answers itself. */
async function site(t, name, answers = {}) {
  const asked = [];
  const server = http.createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('');
    const { pathname, search } = new URL(request.url, 'http://site');
    if (!(pathname in WELL)) asked.push({ path: pathname + search, body: body && JSON.parse(body), headers: request.headers });
    const answer = answers[pathname] ?? WELL[pathname];
    if (typeof answer === 'function') {
      answer(response, { search, body });
      return;
    }
    const { status = 200, headers = {}, body: data } = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(typeof data === 'string' ? data : JSON.stringify(data));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); server.closeAllConnections(); });
  const url = `http://127.0.0.1:${server.address().port}`;
  return { config: { name, url, dashboard: `https://${name}.example.org/dashboard`, ca: null, key: SITE_KEY }, asked, answers, server };
}

/** The entry of these sites; `writeKeys` changes its keys, `records` are those that it began with. */
async function entry(t, sites, { clock, ...more } = {}) {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'sda-campus-'));
  t.after(() => fs.rmSync(dataDir, { recursive: true }));
  const { record, key } = makeKey([], { name: 'hacs', rights: ['history', 'presence'], expiresMs: null }, Date.now());
  const write = (records) => fs.writeFileSync(path.join(dataDir, 'keys.json'), writeKeys(records), { mode: 0o600 });
  write([record]);
  const campus = createCampus({ bind: '127.0.0.1', port: 0, https: null, dataDir, hostNames: [], trustedNets: [], trustedProxies: [], ratePerS: 1000,
    timeoutMs: 20_000, sites: sites.map(({ config }) => config), ...more }, { version: '1', log: silent, clock });
  await campus.start();
  const server = campus.app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); server.closeAllConnections(); campus.close(); });
  const call = async (route, { headers = {}, ...options } = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}${route}`, { ...options, headers: { 'x-api-key': key, ...headers } });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text.startsWith('{') ? JSON.parse(text) : null };
  };
  return Object.assign(call, { records: [record], writeKeys: write });
}

/** What a site answers while its database is away. */
const AWAY = { status: 503, headers: { 'retry-after': '7' }, body: { error: 'history is not available: InfluxDB is away', location: [] } };

module.exports = { AWAY, entry, site, WELL };
