// @ts-check
'use strict';

const path = require('node:path');
const Ajv2020 = require('ajv/dist/2020').default;
const { parse, TomlError } = require('smol-toml');
const { ID, isLoopback } = require('./core');

/**
 * `campus.toml`: where the entry listens and which sites it asks. Keys of sites come from the environment or from files, never from it.
 * @typedef {{name: string, url: string, dashboard: string, ca: string|null, key: string}} SiteConfig dashboard: its address for browsers;
 *   ca: PEM of the authority of its certificate
 * @typedef {object} CampusConfig
 * @property {string} bind listen address
 * @property {number} port
 * @property {string} dataDir folder of `keys.json`
 * @property {string[]} hostNames that are answered, in lower case
 * @property {string[]} trustedNets whose callers need no key
 * @property {string[]} trustedProxies whose X-Forwarded-For counts
 * @property {{host: string, port: number, certFile: string, keyFile: string}|null} https null: there is none
 * @property {number} ratePerS requests a second of a key without a rate of its own
 * @property {number} timeoutMs so long a site may take until its answer begins
 * @property {SiteConfig[]} sites in the order of the file, which decides where two of them know the same second
 */

const TEXT = { type: 'string', minLength: 1 };
const NETS = { type: 'array', items: TEXT };
const SITE = {
  type: 'object', additionalProperties: false, required: ['name', 'url'],
  properties: { name: { type: 'string', pattern: ID.source }, url: { type: 'string', pattern: '^https?://[^/?#@]+/?$' },
    dashboard: { type: 'string', pattern: '^https?://[^\\s@]+$' }, ca_file: TEXT, key_env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
    key_file: TEXT },
};
const SCHEMA = {
  type: 'object', additionalProperties: false, required: ['sites'],
  properties: {
    entry: {
      type: 'object', additionalProperties: false, dependentRequired: { https_port: ['https_cert', 'https_key'] },
      properties: { bind: TEXT, port: { type: 'integer', minimum: 1, maximum: 65_535 },
        https_bind: TEXT, https_port: { type: 'integer', minimum: 1, maximum: 65_535 },
        https_cert: TEXT, https_key: TEXT, data_dir: TEXT, host_names: NETS, trusted_nets: NETS, trusted_proxies: NETS,
        rate_per_s: { type: 'integer', minimum: 1, maximum: 999_999 }, site_timeout_ms: { type: 'integer', minimum: 100, maximum: 60_000 } },
    },
    sites: { type: 'array', minItems: 1, maxItems: 100, items: SITE },
  },
};
const DEFAULTS = Object.freeze({ bind: '127.0.0.1', port: 1890, https_bind: '0.0.0.0', data_dir: '.campus', host_names: [],
  trusted_nets: [], trusted_proxies: [], rate_per_s: 3000, site_timeout_ms: 3000 });
/** What is wrong, in words, by the schema's keyword. @type {Record<string, (params: any) => string>} */
const WORDS = {
  additionalProperties: ({ additionalProperty }) => `has no key "${additionalProperty}"`,
  required: ({ missingProperty }) => `has no ${missingProperty}`,
  dependentRequired: ({ property, missingProperty }) => `has ${property}, but no ${missingProperty}`,
};
const validate = new Ajv2020({ allErrors: true, strict: false }).compile(SCHEMA);
/** @param {any} data @returns {boolean} */
const isGood = (data) => validate(data);

/** campus.toml cannot be used; the message names every fault. */
class CampusConfigError extends Error {
  /** @param {string} file @param {string[]} faults */
  constructor(file, faults) {
    super(`${file} cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'CampusConfigError';
  }
}

/**
 * @param {string} file path of campus.toml; paths in it are relative to its folder
 * @param {{env: Record<string, string|undefined>, read: (file: string) => string, readSecret: (file: string) => string}} deps
 *   readSecret: throws where others could read it too
 * @returns {CampusConfig}
 * @throws {CampusConfigError} with every fault
 */
function readCampus(file, { env, read, readSecret }) {
  const data = parsed(file, read);
  if (!isGood(data)) {
    throw new CampusConfigError(file, (validate.errors ?? []).map(({ instancePath, keyword, message, params }) =>
      `${placeOf(instancePath)} ${WORDS[keyword]?.(params) ?? message}`));
  }
  /** @type {string[]} */
  const faults = [];
  const inFolder = (/** @type {string} */ name) => path.resolve(path.dirname(file), name);
  /** @template T @param {string} where @param {() => T} work @returns {T|null} */
  const tried = (where, work) => {
    try {
      return work();
    } catch (error) {
      faults.push(`${where}: ${/** @type {Error} */ (error).message}`);
      return null;
    }
  };

  /** @param {any} site @param {number} index @returns {SiteConfig} */
  function siteOf({ name, url: written, dashboard, ca_file: caFile, key_env: keyEnv, key_file: keyFile }, index) {
    const where = `sites[${index}] (${name})`;
    if (data.sites.findIndex((/** @type {any} */ one) => one.name === name) !== index) faults.push(`${where}: this name is there twice`);
    const url = written.replace(/\/$/, '');
    const { protocol, hostname } = new URL(url);
    if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))) {
      faults.push(`${where}: url must be https:// but on this machine, since the key goes over it`);
    }
    if ((keyEnv === undefined) === (keyFile === undefined)) faults.push(`${where}: give key_env or key_file, one of them`);
    const ca = caFile === undefined ? null : tried(where, () => read(inFolder(caFile)));
    const key = keyEnv === undefined ? keyFile && tried(where, () => readSecret(inFolder(keyFile)).trim()) : env[keyEnv]?.trim();
    if (keyEnv !== undefined && !key) faults.push(`${where}: the variable ${keyEnv} is not set`);
    if (keyFile !== undefined && key === '') faults.push(`${where}: ${keyFile} is empty`);
    return { name, url, dashboard: dashboard ?? `${url}/dashboard`, ca, key: key ?? '' };
  }

  const entry = { ...DEFAULTS, ...data.entry };
  const sites = data.sites.map(siteOf);
  const secure = entry.https_port === undefined ? null
    : { host: entry.https_bind, port: entry.https_port, certFile: inFolder(entry.https_cert), keyFile: inFolder(entry.https_key) };
  if (secure && !isLoopback(entry.bind)) faults.push('entry.bind must be 127.0.0.1 beside https_port: plain HTTP is for this machine alone then');
  if (faults.length > 0) throw new CampusConfigError(file, faults);
  return { bind: entry.bind, port: entry.port, https: secure, dataDir: inFolder(entry.data_dir), trustedNets: entry.trusted_nets,
    hostNames: entry.host_names.map((/** @type {string} */ name) => name.toLowerCase()), trustedProxies: entry.trusted_proxies,
    ratePerS: entry.rate_per_s, timeoutMs: entry.site_timeout_ms, sites };
}

/** @param {string} file @param {(file: string) => string} read @returns {any} */
function parsed(file, read) {
  try {
    return parse(read(file));
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new CampusConfigError(file, [error instanceof TomlError ? `it is no TOML: ${message.trim()}` : message]);
  }
}

/** `/sites/0/url` as `sites[0].url`. @param {string} pointer */
const placeOf = (pointer) => pointer.slice(1).replace(/\/(\d+)/g, '[$1]').replace(/\//g, '.') || 'the file';

module.exports = { readCampus, CampusConfigError };
