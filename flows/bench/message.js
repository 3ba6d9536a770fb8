// @ts-check
'use strict';

/**
 * What a message costs: CPU of a whole Node-RED with our flows, from the broker's socket to the outbox. Broker and database are played
 * within this process, and the clock is: so the machine may be busy with other work. Phones that the building does not know send 4
 * readings a second each, as in the laboratory's scenario `size`; all packets are made beforehand. Prints one line of JSON.
 * node bench/message.js [--rate 5000] [--seconds 6] [--warm 4] [--flows <folder of another version>] [--profile <file>]
 */

const { once } = require('node:events');
const fs = require('node:fs');
const inspector = require('node:inspector/promises');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { mock } = require('node:test');
const { parseArgs } = require('node:util');

const [realTimeout, realInterval] = [setTimeout, setInterval]; // before the clock is played
const BURST_MS = 5;
const START_MS = Date.now();
const READINGS = 4;
const { values: options } = parseArgs({ options: {
  rate: { type: 'string', default: '5000' }, seconds: { type: 'string', default: '6' }, warm: { type: 'string', default: '4' },
  flows: { type: 'string', default: path.join(__dirname, '..') }, profile: { type: 'string' },
} });
const [rate, seconds, warm] = [options.rate, options.seconds, options.warm].map(Number);
const flows = path.resolve(options.flows);
const { generate } = require(path.join(flows, 'node_modules', 'mqtt-packet'));
const { createDatabase, environment } = require(path.join(flows, 'test', 'support', 'stack'));
const demo = path.join(flows, 'building', 'demo.json');
const { beacons } = JSON.parse(fs.readFileSync(demo, 'utf8'));

/** What a phone at a place hears: its own beacon strongly, others of the level weakly; the readings of a payload. @param {number} n */
function readingsOf(n) {
  const own = beacons[n % beacons.length];
  const others = beacons.filter(({ id, level }) => level === own.level && id !== own.id).slice(0, READINGS - 1);
  return [`{"beacon":"${own.id}","rssi":-50}`, ...others.map(({ id }) => `{"beacon":"${id}","rssi":-85}`)].join();
}

/** Packets of a burst. @param {number} first number of its first message @param {number} count @param {number} ts */
function burst(first, count, ts) {
  return Buffer.concat(Array.from({ length: count }, (_, k) => {
    const n = first + k;
    const payload = `{"v":1,"ts":${ts},"seq":${n},"readings":[${readings[n % rate]}]}`;
    return generate({ cmd: 'publish', topic: `sda/v1/phone/bench-${n % rate}/readings`, payload, qos: 1, messageId: 1 + (n % 65_000), retain: false, dup: false });
  }));
}
const readings = Array.from({ length: rate }, (_, n) => readingsOf(n));

/** A broker for one client: acknowledges what it publishes, and counts what it acknowledges. */
async function playBroker() {
  const broker = { port: 0, acknowledged: 0, seen: /** @type {any[]} */ ([]), socket: /** @type {net.Socket|null} */ (null) };
  const server = net.createServer((socket) => {
    broker.socket = socket;
    let rest = Buffer.alloc(0);
    socket.on('data', (data) => { rest = take(broker, Buffer.concat([rest, data])); });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  broker.port = /** @type {net.AddressInfo} */ (server.address()).port;
  return broker;
}

/** @param {any} broker @param {Buffer} data packets @returns {Buffer} what is left */
function take(broker, data) {
  let at = 0;
  for (;;) {
    let [length, bytes] = [0, 1];
    for (let shift = 0; ; shift += 7, bytes += 1) {
      if (at + bytes >= data.length) return data.subarray(at);
      length |= (data[at + bytes] & 0x7f) << shift;
      if (data[at + bytes] < 0x80) break;
    }
    const [from, end] = [at + bytes + 1, at + bytes + 1 + length];
    if (end > data.length) return data.subarray(at);
    answer(broker, data[at] >> 4, data.subarray(from, end));
    at = end;
  }
}

/** @param {any} broker @param {number} type of the packet @param {Buffer} body */
function answer(broker, type, body) {
  if (type === 4) broker.acknowledged += 1;
  if (type === 1) broker.socket.write(generate({ cmd: 'connack', returnCode: 0, sessionPresent: false }));
  if (type === 8) broker.socket.write(generate({ cmd: 'suback', messageId: body.readUInt16BE(0), granted: [1] }));
  if (type === 12) broker.socket.write(generate({ cmd: 'pingresp' }));
  if (type !== 3) return;
  const topicEnd = 2 + body.readUInt16BE(0);
  const [topic, text] = [body.toString('utf8', 2, topicEnd), body.subarray(topicEnd + 2)];
  broker.socket.write(generate({ cmd: 'puback', messageId: body.readUInt16BE(topicEnd) }));
  if (!topic.endsWith('flows/health') && !topic.includes('_flows')) return;
  broker.seen.push({ topic, text: String(text), get data() { return JSON.parse(this.text); } });
}

/** Turns of the event loop until something is so. @param {() => boolean} isSo */
async function turnsUntil(isSo) {
  while (!isSo()) await new Promise((resolve) => { setImmediate(resolve); });
}

/** @param {any} broker @param {Buffer[]} bursts */
async function play(broker, bursts) {
  const count = (rate * BURST_MS) / 1000;
  const before = process.cpuUsage();
  for (const packets of bursts) {
    const due = broker.acknowledged + count;
    broker.socket.write(packets);
    await turnsUntil(() => broker.acknowledged >= due);
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => { setImmediate(resolve); }); // from check to locate
    mock.timers.tick(BURST_MS);
  }
  const { user, system } = process.cpuUsage(before);
  const messages = bursts.length * count;
  return { messages, us: Math.round((user + system) * 10 / messages) / 10, user: Math.round(user * 10 / messages) / 10 };
}

async function run() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true }));
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: START_MS });
  performance.now = () => Date.now() - START_MS;
  const ticking = realInterval(() => mock.timers.tick(BURST_MS), BURST_MS);
  const broker = await playBroker();
  const database = await createDatabase({ seen: broker.seen });
  Object.assign(process.env, await environment(folder, { mqttPort: broker.port, influxUrl: database.url }), { SDA_BUILDING: demo });
  fs.mkdirSync(path.join(folder, 'user'));
  process.argv.splice(2, Infinity, '--settings', path.join(flows, 'settings.js'));
  process.chdir(path.join(folder, 'user'));
  require(path.join(flows, 'node_modules', 'node-red', 'red.js'));
  const health = async () => (await fetch(`http://127.0.0.1:${process.env.HTTP_PORT}/health`)).json();
  for (;;) {
    const parts = await health().then((report) => report.parts, () => undefined);
    if (parts?.rebuild.state === 'idle') break;
    await new Promise((resolve) => { realTimeout(resolve, 50); });
  }
  clearInterval(ticking);
  const count = (rate * BURST_MS) / 1000;
  const bursts = Array.from({ length: ((warm + seconds) * 1000) / BURST_MS }, (_, n) => burst(n * count, count, Date.now() + n * BURST_MS));
  const session = new inspector.Session();
  await play(broker, bursts.splice(0, (warm * 1000) / BURST_MS));
  if (options.profile) {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  }
  const report = await play(broker, bursts);
  if (options.profile) fs.writeFileSync(options.profile, JSON.stringify((await session.post('Profiler.stop')).profile));
  const { locations, located_later } = broker.seen.findLast(({ topic }) => topic.endsWith('health')).data;
  console.log(JSON.stringify({ ...report, locations, located_later }));
  process.exit(0);
}

run().catch((error) => {
  console.error(error);
  process.exit(1);
});
