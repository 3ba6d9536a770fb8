'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { readCampus } = require('../lib/config');

/** campus.toml with files beside it. */
const read = (text, { env = { NORTH_KEY: 'k1' }, files = { '/etc/sda/south.key': 'k2\n', '/etc/sda/ca.crt': 'PEM' } } = {}) => {
  const all = { '/etc/sda/campus.toml': text, ...files };
  const one = (file) => { if (!(file in all)) throw new Error(`there is no ${file}`); return all[file]; };
  return readCampus('/etc/sda/campus.toml', { env, read: one, readSecret: one });
};
const TWO = `
[[sites]]
name = "north"
url = "http://127.0.0.1:1880"
key_env = "NORTH_KEY"

[[sites]]
name = "south"
url = "https://south.example.org:1843/"
dashboard = "https://locator.example.org/dashboard"
ca_file = "ca.crt"
key_file = "south.key"
`;

test('two sites: keys from the environment and from a file, the rest has defaults', () => {
  assert.deepEqual(read(TWO), { bind: '127.0.0.1', port: 1890, https: null, dataDir: '/etc/sda/.campus', hostNames: [], trustedNets: [], trustedProxies: [],
    ratePerS: 3000, timeoutMs: 3000, sites: [
      { name: 'north', url: 'http://127.0.0.1:1880', dashboard: 'http://127.0.0.1:1880/dashboard', ca: null, key: 'k1' },
      { name: 'south', url: 'https://south.example.org:1843', dashboard: 'https://locator.example.org/dashboard', ca: 'PEM', key: 'k2' }] });
  assert.deepEqual(read(`[entry]\nport = 9\nhost_names = ["HACS.example.org"]\n${TWO}`).hostNames, ['hacs.example.org']);
});

const SITE = '[[sites]]\nname = "a"\nurl = "https://a"\n';
for (const [what, text, reason] of [
  ['is no TOML', 'sites = [', /it is no TOML/],
  ['has no sites', '[entry]\nport = 1', /the file has no sites/],
  ['has a key that is none', `[entry]\nprot = 1\n${TWO}`, /entry has no key "prot"/],
  ['has a secret in it', `${SITE}key = "secret"\n`, /sites\[0\] has no key "key"/],
  ['has a port that is none', `[entry]\nport = 70000\n${TWO}`, /entry\.port must be <= 65535/],
  ['has HTTPS without a key', `[entry]\nhttps_port = 443\nhttps_cert = "x.crt"\n${TWO}`, /entry has https_port, but no https_key/],
  ['has HTTPS and plain HTTP for all', `[entry]\nbind = "0.0.0.0"\nhttps_port = 443\nhttps_cert = "a"\nhttps_key = "b"\n${TWO}`, /entry\.bind must be/],
  ['has a name twice', `${SITE}key_env = "NORTH_KEY"\n${SITE}key_env = "NORTH_KEY"\n`, /sites\[1\] \(a\): this name is there twice/],
  ['sends a key in clear', '[[sites]]\nname = "a"\nurl = "http://10.0.0.1"\nkey_env = "NORTH_KEY"', /url must be https/],
  ['has no key for a site', SITE, /sites\[0\] \(a\): give key_env or key_file/],
  ['has a variable that is not set', `${SITE}key_env = "OTHER"\n`, /the variable OTHER is not set/],
  ['has a file that is not there', `${SITE}key_file = "x.key"\n`, /there is no \/etc\/sda\/x\.key/],
]) test(`campus.toml that ${what} is refused, in words`, () => assert.throws(() => read(text), reason));

test('every fault is named at once', () => {
  assert.throws(() => read(`${SITE}key_env = "OTHER"\nca_file = "no.crt"\n`), /no\.crt\n.*OTHER is not set/);
});
