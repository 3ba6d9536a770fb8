'use strict';

const { spawn, execFileSync } = require('node:child_process');
const { randomInt } = require('node:crypto');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const mqtt = require('mqtt');
const { PROBE_TOPIC } = require('../../lib/live/readings');
const { smallBuilding } = require('./building');
const { piece } = require('./influx');

const FLOWS = path.join(__dirname, '..', '..');
/** As long as a program may take on a machine that other tests keep busy. */
const BUSY_MS = 60_000;
/** Where `make up` has built Mosquitto, and where a system has its own. */
const SBIN = { env: { ...process.env, PATH: `${mosquittoFolder()}:${process.env.PATH}:/usr/sbin` } };

function mosquittoFolder() {
  const [, series] = /^MOSQUITTO_SERIES=(.*)$/m.exec(fs.readFileSync(path.join(FLOWS, '..', 'native', 'versions.env'), 'utf8'));
  const cache = process.env.SDA_CACHE || path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'sda-locator');
  return path.join(cache, `mosquitto-${series}`, 'bin');
}

/** Wait until `look` gives something true, at most `limitMs`; its last error is in the message. */
async function until(what, look, limitMs = BUSY_MS) {
  const end = Date.now() + limitMs;
  let last;
  while (Date.now() < end) {
    try {
      const value = await look();
      if (value) return value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => { setTimeout(resolve, 25); });
  }
  throw new Error(`${what}: not within ${limitMs} ms${last ? ` (${last.message})` : ''}`);
}

/** Below the ports of outgoing connections, one of which could take it before the program listens. Parallel test runs use a range each. */
const [FIRST_PORT, PORT_AFTER] = (process.env.SDA_TEST_PORTS ?? '20000-32000').split('-').map(Number);

/** A TCP port that is unused at this moment. */
async function freePort() {
  const server = net.createServer();
  try {
    server.listen(randomInt(FIRST_PORT, PORT_AFTER), '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error;
    return freePort();
  }
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A process whose output is kept for the report of a failure. */
class Program {
  constructor(command, args, options = {}) {
    this.output = '';
    this.child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on('data', (data) => { this.output += data; });
    this.exit = new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('exit', (code, signal) => resolve(code ?? signal));
    });
  }

  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    await this.exit;
  }
}

/** Mosquitto with the accounts of the flows and a tester's, and a data folder that survives its restarts. */
class Broker {
  /** @param {string[]} more lines of its configuration */
  static async create(folder, more = []) {
    const broker = new Broker();
    broker.port = await freePort();
    broker.file = path.join(folder, 'mosquitto.conf');
    const passwords = path.join(folder, 'passwords');
    for (const [i, user] of ['nodered', 'nodered-publisher', 'tester'].entries()) {
      execFileSync('mosquitto_passwd', [...(i === 0 ? ['-c'] : []), '-b', passwords, user, 'word'], { ...SBIN, stdio: 'ignore' });
    }
    fs.writeFileSync(broker.file, [`user ${os.userInfo().username}`, `listener ${broker.port} 127.0.0.1`, 'allow_anonymous false',
      `password_file ${passwords}`, 'persistence true', `persistence_location ${folder}/`, 'set_tcp_nodelay true', ...more].join('\n'));
    await broker.start();
    return broker;
  }

  async start() {
    this.program = new Program('mosquitto', ['-c', this.file], SBIN);
    await until('mosquitto listens', () => /running/.test(this.program.output));
  }

  async connect() {
    const client = mqtt.connect(`mqtt://127.0.0.1:${this.port}`, { username: 'tester', password: 'word', reconnectPeriod: 100 });
    client.seen = [];
    client.on('message', (topic, payload, { retain }) => {
      const text = payload.toString();
      client.seen.push({ topic, retain, text, get data() { return JSON.parse(text); } });
    });
    await once(client, 'connect');
    await client.subscribeAsync('sda/v1/#', { qos: 1 });
    return client;
  }
}

/** Plays InfluxDB and the way into it: stored are the heartbeats and readings that `client` saw. */
async function createDatabase(client) {
  const database = { away: false };
  database.server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (data) => { body += data; });
    request.on('end', () => {
      if (database.away) response.socket.destroy();
      const form = new URLSearchParams(body);
      response.end(piece(rowsFor(client.seen, form.get('q') ?? '', JSON.parse(form.get('params') ?? '{}'))));
    });
  }).listen(0, '127.0.0.1');
  await once(database.server, 'listening');
  database.url = `http://127.0.0.1:${database.server.address().port}`;
  return database;
}

/** What a question to the played database is answered. */
function rowsFor(seen, question, { from, to, receiver }) {
  const rows = (values) => (values.length > 0 ? [{ values }] : []);
  if (question.includes('uptime_s')) {
    return rows(seen.filter(({ topic }) => topic === 'sda/v1/flows/health').slice(-1).map(({ data }) => [data.ts, 1]));
  }
  if (question.includes('FROM "probe"')) {
    const probes = seen.filter(({ topic }) => topic === PROBE_TOPIC).map(({ data }) => data.ts);
    return rows(probes.filter((ts) => ts >= Date.parse(from)).slice(-1).map((ts) => [ts, ts]));
  }
  if (!question.includes('FROM "batch"') || question.includes('first(')) return [];
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  return rows(seen.flatMap(({ topic, text }) => {
    const [, kind, who] = /^sda\/v1\/(phone|gateway)\/([^/]+)\/readings$/.exec(topic) ?? [];
    if (!kind || !text.startsWith('{') || (receiver !== undefined && who !== receiver)) return [];
    const { ts, readings } = JSON.parse(text);
    const kept = readings.filter(({ rssi }) => typeof rssi === 'number').map(({ beacon, rssi }) => `${beacon} ${rssi}`);
    return ts >= fromMs && ts < toMs && kept.length > 0 ? [[ts, kept.join(','), kind, who]] : [];
  }).sort((a, b) => a[0] - b[0]));
}

/** The environment of a Node-RED of its own in `folder`. */
async function environment(folder, { mqttPort = 1, influxUrl = 'http://127.0.0.1:1' } = {}) {
  const building = path.join(folder, 'building.json');
  fs.writeFileSync(building, JSON.stringify(smallBuilding()));
  return {
    PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    HTTP_HOST: '127.0.0.1', HTTP_PORT: String(await freePort()), MQTT_HOST: '127.0.0.1', MQTT_PORT: String(mqttPort),
    MQTT_NODERED_PASSWORD: 'word', INFLUX_URL: influxUrl, INFLUX_READ_TOKEN: 'token', SPOOL_URL: 'http://127.0.0.1:1', SDA_API_KEY: 'key', SDA_ADMIN_USER: 'admin',
    SDA_ADMIN_PASSWORD: 'secret-word', SDA_VIEWER_USER: 'viewer', SDA_VIEWER_PASSWORD: 'look-word', SDA_BUILDING: building, SDA_REGISTRY_DIR: path.join(folder, 'registry'), SDA_USER_DIR: path.join(folder, 'user'),
  };
}

function nodeRed(env) {
  fs.mkdirSync(env.SDA_USER_DIR, { recursive: true });
  const program = new Program(process.execPath,
    [path.join(FLOWS, 'node_modules/node-red/red.js'), '--settings', path.join(FLOWS, 'settings.js')], { env, cwd: env.SDA_USER_DIR });
  program.url = `http://127.0.0.1:${env.HTTP_PORT}`;
  program.ready = () => until('Node-RED answers', async () => (await fetch(`${program.url}/health`)).ok)
    .catch((error) => { throw new Error(`${error.message}\n${program.output}`); });
  return program;
}

module.exports = { freePort, until, Program, Broker, createDatabase, environment, nodeRed };
