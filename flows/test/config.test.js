'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { readConfig, ConfigError } = require('../lib/config');
const { createClients, createTrust } = require('../lib/access');

const ENV = {
  MQTT_HOST: 'localhost', MQTT_PORT: '1883', MQTT_NODERED_PASSWORD: 'p', INFLUX_URL: 'http://localhost:8086/',
  INFLUX_READ_TOKEN: 't', SPOOL_URL: 'http://localhost:8087', SDA_API_KEY: 'k', SDA_ADMIN_USER: 'admin', SDA_ADMIN_PASSWORD: 'w',
  SDA_BUILDING: '/b.json', SDA_REGISTRY_DIR: '/r', SDA_USER_DIR: '/u',
};

test('a full environment is read, with defaults that let nobody in from outside', () => {
  const config = readConfig(ENV);
  assert.equal(config.httpHost, '127.0.0.1');
  assert.equal(config.httpPort, 1880);
  assert.equal(config.httpBind, '127.0.0.1');
  assert.equal(config.influxUrl, 'http://localhost:8086');
  assert.deepEqual(config.trustedNets, ['127.0.0.0/8', '::1/128']);
  assert.equal(config.editor, false);
});

for (const key of Object.keys(ENV)) {
  test(`${key} is asked for by name when it is missing or blank`, () => {
    for (const value of [undefined, '', '  ']) {
      assert.throws(() => readConfig({ ...ENV, [key]: value }), (error) => error instanceof ConfigError && error.message.includes(`${key} is not set`));
    }
  });
}

test('all faults are reported at once', () => {
  assert.throws(() => readConfig({ ...ENV, HTTP_PORT: '0', INFLUX_URL: 'influx', SDA_EDITOR: 'yes', MQTT_PORT: 'x' }), (error) =>
    ['HTTP_PORT', 'INFLUX_URL', 'SDA_EDITOR', 'MQTT_PORT'].every((key) => error.message.includes(key)));
});

test('host names are names, without port or scheme', () => {
  assert.deepEqual(readConfig(ENV).httpNames, []);
  assert.deepEqual(readConfig({ ...ENV, HTTP_NAMES: ' SDA.example.org, pi' }).httpNames, ['sda.example.org', 'pi']);
  for (const name of ['sda.example.org:1880', 'https://sda.example.org', '*.example.org', 'a..b', '-a']) {
    assert.throws(() => readConfig({ ...ENV, HTTP_NAMES: name }), (error) => error.message.includes(`HTTP_NAMES must be host names`), name);
  }
});

test('HTTPS is off unless it has a port; then it needs a certificate, and plain HTTP is loopback\'s alone', () => {
  assert.equal(readConfig(ENV).httpsPort, null);
  const secure = { ...ENV, HTTPS_PORT: '8443', HTTPS_CERT: '/c.pem', HTTPS_KEY: '/k.pem' };
  assert.deepEqual([readConfig(secure).httpsPort, readConfig(secure).httpsCert], [8443, '/c.pem']);
  readConfig({ ...secure, HTTP_HOST: '0.0.0.0', HTTP_BIND: '127.0.0.1' }); // in a container, published on loopback
  const refused = (change, words) => assert.throws(() => readConfig({ ...secure, ...change }),
    (error) => error.message.includes(words), words);
  refused({ HTTPS_KEY: '' }, 'HTTPS_KEY is not set');
  refused({ HTTPS_PORT: 'https' }, 'HTTPS_PORT must be a port');
  refused({ HTTP_BIND: '0.0.0.0' }, 'HTTP_BIND must be 127.0.0.1 while HTTPS_PORT is set');
});

test('secrets are not part of any message', () => {
  assert.throws(() => readConfig({ ...ENV, SDA_ADMIN_PASSWORD: 'hunter2', HTTP_PORT: 'x' }), (error) => !error.message.includes('hunter2'));
});

test('trusted networks', () => {
  const loopback = createTrust(readConfig(ENV));
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) assert.ok(loopback(address), address);
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '0.0.0.0', '', 'localhost', undefined]) assert.ok(!loopback(address), address);

  const site = createTrust(readConfig({ ...ENV, SDA_TRUSTED_NETS: '192.168.7.0/24, 2001:db8::/32,10.1.2.3' }));
  for (const address of ['192.168.7.9', '::ffff:192.168.7.9', '2001:db8::5', '10.1.2.3']) assert.ok(site(address), address);
  for (const address of ['192.168.8.1', '2001:db9::1', '10.1.2.4', '127.0.0.1']) assert.ok(!site(address), address);

  const nobody = createTrust(readConfig({ ...ENV, SDA_TRUSTED_NETS: 'none' }));
  assert.ok(!nobody('127.0.0.1'));
});

test('a network that is none is named', () => {
  for (const net of ['nonsense', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/', '/8', '::1/129']) {
    assert.throws(() => createTrust(readConfig({ ...ENV, SDA_TRUSTED_NETS: net })), (error) => error.message.includes(`"${net}"`), net);
  }
});

test('the bridge counts as loopback only while the port is published on loopback', () => {
  const trust = (env) => createTrust(readConfig({ ...ENV, HTTP_HOST: '0.0.0.0', SDA_BRIDGE_ADDRESS: '172.31.57.1', ...env }))('172.31.57.1');
  assert.equal(trust({ HTTP_BIND: '127.0.0.1' }), true);
  assert.equal(trust({ HTTP_BIND: '0.0.0.0' }), false);
  assert.equal(trust({ HTTP_BIND: '192.168.7.2' }), false);
  assert.equal(trust({}), false);
  assert.equal(trust({ HTTP_BIND: '127.0.0.1', SDA_TRUSTED_NETS: '10.0.0.0/8' }), false);
});

test('a proxy that is none is named; the bridge is one where a proxy of this machine is, published on loopback', () => {
  for (const proxy of ['nonsense', '10.0.0.0/33', '10.0.0.0/', 'proxy.example.org']) {
    assert.throws(() => createClients(readConfig({ ...ENV, SDA_TRUSTED_PROXIES: `192.0.2.1, ${proxy}` })),
      (error) => error.message.includes(`SDA_TRUSTED_PROXIES: "${proxy}"`), proxy);
  }
  const client = (peer, env) => createClients(readConfig({ ...ENV, HTTP_HOST: '0.0.0.0', SDA_BRIDGE_ADDRESS: '172.31.57.1', ...env }))
    .clientOf({ headers: { 'x-forwarded-for': '198.51.100.7' }, socket: { remoteAddress: peer } });
  const known = { address: '198.51.100.7', credible: true };
  assert.deepEqual(client('192.0.2.9', { SDA_TRUSTED_PROXIES: '192.0.2.0/24' }), known);
  assert.deepEqual(client('::ffff:192.0.2.9', { SDA_TRUSTED_PROXIES: '192.0.2.0/24' }), known);
  assert.deepEqual(client('172.31.57.1', { SDA_TRUSTED_PROXIES: '127.0.0.1', HTTP_BIND: '127.0.0.1' }), known);
  for (const env of [{}, { SDA_TRUSTED_PROXIES: '127.0.0.1' }, { SDA_TRUSTED_PROXIES: '192.0.2.9', HTTP_BIND: '127.0.0.1' }]) {
    assert.deepEqual(client('172.31.57.1', env), { address: '172.31.57.1', credible: false }, JSON.stringify(env));
  }
});

test('the bridge earns nothing over HTTPS, which is published for others too', () => {
  const { clientOf } = createClients({ trustedProxies: ['127.0.0.1'], httpBind: '127.0.0.1', bridgeAddress: '172.31.57.1' });
  const from = (headers, encrypted) => clientOf({ headers, socket: { remoteAddress: '172.31.57.1', encrypted } });
  assert.deepEqual(from({}, false), { address: '172.31.57.1', credible: true });
  assert.deepEqual(from({}, true), { address: '172.31.57.1', credible: false });
  assert.equal(from({ 'x-forwarded-for': '198.51.100.7' }, false).address, '198.51.100.7');
  assert.deepEqual(from({ 'x-forwarded-for': '198.51.100.7' }, true), { address: '172.31.57.1', credible: false });
});
