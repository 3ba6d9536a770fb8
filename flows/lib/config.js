// @ts-check
'use strict';

const path = require('node:path');
const { isLoopback } = require('./access');

/**
 * Everything that is configured from outside. `settings.js` makes it from process.env.
 * @typedef {object} Config
 * @property {string} mqttUrl of the listener that the flows read from; without MQTT_URL the plain one
 * @property {boolean} brokerKeepsOrder Mosquitto does; some brokers deliver out of order after a kill
 * @property {string} httpHost listen address
 * @property {number} httpPort
 * @property {string} httpBind address the port is published on (the listen address, but for Compose)
 * @property {string} httpsHost listen address of HTTPS
 * @property {number|null} httpsPort null: there is no HTTPS
 * @property {string} httpsCert file of the certificate, PEM, with what lies between it and its authority; '' without HTTPS
 * @property {string} httpsKey file of its key, PEM; '' without HTTPS
 * @property {string[]} httpNames host names that are answered beside `localhost`, in lower case
 * @property {string|null} bridgeAddress gateway address of the container network, Compose only
 * @property {string} mqttsHost where the broker's listener for receivers is reached from here
 * @property {number} mqttsPort
 * @property {string} influxUrl
 * @property {string} influxToken read-only
 * @property {string} spoolUrl of the queue on disk before Telegraf and InfluxDB
 * @property {{influxUrl: string, influxToken: string, spoolUrl: string}|null} secondStore null: there is one InfluxDB
 * @property {string} apiKey
 * @property {string} adminUser
 * @property {string} adminPassword
 * @property {string} viewerUser may look, not change; '': there is none
 * @property {string} viewerPassword
 * @property {number} ratePerS requests a second that a key without a rate of its own may make
 * @property {number} trustedRatePerS the same for each trusted address without a key
 * @property {string[]} trustedNets networks in CIDR notation whose callers need no key
 * @property {string[]} trustedProxies addresses and networks of proxies whose X-Forwarded-For counts
 * @property {string} buildingFile
 * @property {string} registryDir
 * @property {string} userDir
 * @property {boolean} editor
 * @property {string[]} corsOrigins whose pages may call the API from a browser
 */

const LOOPBACK = '127.0.0.0/8,::1/128';
const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** One or more variables are missing or wrong; the message names each of them. */
class ConfigError extends Error {
  /** @param {string[]} faults */
  constructor(faults) {
    super(`SDA Locator cannot start:\n${faults.map((fault) => `  ${fault}`).join('\n')}\n` +
      'The variables come from .env (written by `make up`) or from the environment.');
    this.name = 'ConfigError';
  }
}

/** @param {string} host @param {number} port */
const mqttUrl = (host, port) => `mqtt://${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Read and check the environment; every fault is reported at once.
 * @param {Record<string, string|undefined>} env
 * @returns {Readonly<Config>}
 * @throws {ConfigError}
 */
function readConfig(env) {
  /** @type {string[]} */
  const faults = [];
  /** @param {string} key @param {string} [fallback] */
  const text = (key, fallback) => {
    const value = (env[key] ?? '').trim() || fallback;
    if (value === undefined) faults.push(`${key} is not set`);
    return value ?? '';
  };
  /** @param {string} key @param {string} [fallback] */
  const port = (key, fallback) => {
    const value = text(key, fallback);
    const number = Number(value);
    if (value && !(Number.isInteger(number) && number >= 1 && number <= 65535)) {
      faults.push(`${key} must be a port number from 1 to 65535, not "${value}"`);
    }
    return number;
  };
  /** @param {string} key @param {string} fallback */
  const rate = (key, fallback) => {
    const value = text(key, fallback);
    if (!/^[1-9]\d{0,5}$/.test(value)) faults.push(`${key} must be requests a second, a whole number from 1 to 999999, not "${value}"`);
    return Number(value);
  };
  /** @param {string} key */
  const file = (key) => {
    const value = text(key);
    return value && path.resolve(value);
  };
  /** @param {string} key */
  const url = (key) => {
    const value = text(key);
    if (value && !/^https?:\/\/[^/]+\/?$/.test(value)) faults.push(`${key} must be http://host:port, not "${value}"`);
    return value.replace(/\/$/, '');
  };
  /** @param {string} key */
  const flag = (key) => {
    const value = text(key, '0');
    if (value !== '0' && value !== '1') faults.push(`${key} must be 1 or 0, not "${value}"`);
    return value === '1';
  };

  /** @param {string} key */
  const origins = (key) => {
    const listed = (env[key] ?? '').split(',').map((origin) => origin.trim()).filter(Boolean);
    for (const origin of listed) {
      if (!URL.canParse(origin) || new URL(origin).origin !== origin) faults.push(`${key} must be origins like https://hacs.example.org, not "${origin}"`);
    }
    return listed;
  };

  /** @param {string} key */
  const names = (key) => {
    const listed = (env[key] ?? '').split(',').map((name) => name.trim().toLowerCase()).filter(Boolean);
    for (const name of listed) {
      if (!HOST_NAME.test(name)) faults.push(`${key} must be host names like sda.example.org, with commas between them, not "${name}"`);
    }
    return listed;
  };

  const mqttHost = text('MQTT_HOST');
  const mqttPort = port('MQTT_PORT');
  text('MQTT_NODERED_PASSWORD'); // read by flows_cred.json itself
  const httpHost = text('HTTP_HOST', '127.0.0.1');
  const secure = (env.HTTPS_PORT ?? '').trim() !== '';
  const nets = text('SDA_TRUSTED_NETS', LOOPBACK);
  const config = {
    brokerKeepsOrder: env.BROKER_KEEPS_ORDER !== 'no',
    mqttUrl: text('MQTT_URL', mqttUrl(mqttHost, mqttPort)),
    httpHost,
    httpPort: port('HTTP_PORT', '1880'),
    httpBind: text('HTTP_BIND', httpHost),
    httpsHost: text('HTTPS_HOST', '0.0.0.0'),
    httpsPort: secure ? port('HTTPS_PORT') : null,
    httpsCert: secure ? file('HTTPS_CERT') : '',
    httpsKey: secure ? file('HTTPS_KEY') : '',
    httpNames: names('HTTP_NAMES'),
    bridgeAddress: (env.SDA_BRIDGE_ADDRESS ?? '').trim() || null,
    mqttsHost: text('MQTTS_HOST', '127.0.0.1'),
    mqttsPort: port('MQTTS_PORT', '8883'),
    influxUrl: url('INFLUX_URL'),
    influxToken: text('INFLUX_READ_TOKEN'),
    spoolUrl: url('SPOOL_URL'),
    secondStore: env.INFLUX_2_URL ? { influxUrl: url('INFLUX_2_URL'), influxToken: text('INFLUX_2_READ_TOKEN'), spoolUrl: url('SPOOL_2_URL') } : null,
    apiKey: text('SDA_API_KEY'),
    adminUser: text('SDA_ADMIN_USER'),
    adminPassword: text('SDA_ADMIN_PASSWORD'),
    viewerUser: text('SDA_VIEWER_USER', ''),
    viewerPassword: text('SDA_VIEWER_PASSWORD', ''),
    ratePerS: rate('SDA_RATE_PER_S', '3000'),
    trustedRatePerS: rate('SDA_RATE_TRUSTED_PER_S', '10000'),
    trustedNets: nets === 'none' ? [] : nets.split(',').map((net) => net.trim()).filter(Boolean),
    trustedProxies: (env.SDA_TRUSTED_PROXIES ?? '').split(',').map((proxy) => proxy.trim()).filter(Boolean),
    buildingFile: file('SDA_BUILDING'),
    registryDir: file('SDA_REGISTRY_DIR'),
    userDir: file('SDA_USER_DIR'),
    editor: flag('SDA_EDITOR'),
    corsOrigins: origins('SDA_CORS_ORIGINS'),
  };
  if (secure && !isLoopback(config.httpBind)) {
    faults.push(`HTTP_BIND must be 127.0.0.1 while HTTPS_PORT is set, not "${config.httpBind}": plain HTTP is for this machine alone then`);
  }
  if ((config.viewerUser === '') !== (config.viewerPassword === '')) faults.push('SDA_VIEWER_USER and SDA_VIEWER_PASSWORD go together: set both or none');
  if (config.viewerUser !== '' && config.viewerUser === config.adminUser) faults.push('SDA_VIEWER_USER must be another name than SDA_ADMIN_USER');
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}

module.exports = { readConfig, ConfigError };
