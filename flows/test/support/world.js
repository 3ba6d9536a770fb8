'use strict';

const { createBuilding } = require('../../lib/building');
const { createCheckpoints } = require('../../lib/past/checkpoints');
const { Clocks } = require('../../lib/clocks');
const { Past } = require('../../lib/past');
const { PROBE_TOPIC } = require('../../lib/live/readings');
const { Site } = require('../../lib/site');
const { StoreUnavailable } = require('../../lib/store');
const { house } = require('../locator/house');
const { createEther, PLACES } = require('../locator/radio');
const { smallBuilding, BEACONS } = require('./building');
const { receive } = require('./receive');

const LAG_MS = 300; // from a receiver into the database

/** A seeded sequence of numbers from 0 to 1. */
function random(seed) {
  let state = seed * 2654435761 >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Phones that walk from room to room, a batch every 1 to 3 s: [{ms, topic, payload}] ascending, a function of the seed; the
 * beacon of the room is louder than the others by `contrastDb`. */
function walks(seed, { people, fromMs, toMs, leaves = {}, contrastDb = 20 }) {
  const rooms = Object.keys(BEACONS).filter((key) => key.length === 1);
  const sent = [];
  for (let person = 0; person < people; person += 1) {
    const next = random(seed * 1000 + person);
    const everyMs = 1000 + Math.floor(next() * 2000);
    let room = rooms[Math.floor(next() * rooms.length)];
    for (let ms = fromMs + Math.floor(next() * everyMs); ms < Math.min(toMs, leaves[person] ?? toMs); ms += everyMs) {
      if (next() < 0.05) room = rooms[Math.floor(next() * rooms.length)];
      const readings = rooms.map((one) => ({ beacon: BEACONS[one], rssi: (one === room ? contrastDb : 0) - 75 - Math.floor(next() * 15) }));
      sent.push({ ms, atMs: ms, kind: 'phone', receiver: String(person), payload: Buffer.from(JSON.stringify({ ts: ms, readings })) });
    }
  }
  return sent.sort((a, b) => a.ms - b.ms);
}

/**
 * Tags that wander through the house of the locator's tests: what each gateway sends of all of them in a second, in the form
 * of `walks`, on its way for up to 120 ms.
 */
function taggedWalks(seed, { fromMs, toMs, tags }) {
  const ether = createEther(house(), seed);
  const next = random(seed);
  const rooms = Object.keys(PLACES);
  const at = tags.map((_, i) => rooms[i]);
  const sent = new Map();
  for (let ms = fromMs; ms < toMs; ms += 1000) {
    tags.forEach((tag, i) => {
      if (next() < 0.04) at[i] = rooms[Math.floor(next() * rooms.length)];
      for (const { receiver, ts, readings } of ether.gateways(PLACES[at[i]], ms, tag)) {
        const key = `${ts} ${receiver}`;
        const batch = sent.get(key) ?? { ms: ts, atMs: ts + Math.floor(next() * 120), kind: 'gateway', receiver, readings: [] };
        batch.readings.push(...readings);
        sent.set(key, batch);
      }
    });
  }
  return [...sent.values()].map(({ readings, ...one }) => ({ ...one, payload: Buffer.from(JSON.stringify({ ts: one.ms, readings })) }))
    .sort((a, b) => a.atMs - b.atMs);
}

/** Broker, Telegraf and InfluxDB, played in virtual time: what was sent arrives, is stored, and can be asked for. */
class World {
  constructor(sent, startMs, file = smallBuilding()) {
    Object.assign(this, { sent, now: startMs, delivered: 0, away: () => false, locations: new Map(), stays: new Map(), events: new Map(),
      retained: new Map(), settled: 0, probes: [], offsets: [],
      breakOff: 0, readMsAMinute: 0, ingestIsUp: () => true, kept: null, checkpoints: new Map(), queue: [], states: [], versions: [],
      offsetsOfClocks: null, begun: false, bound: Infinity, dropped: 0, stalled: () => false });
    this.keep(file);
  }

  /** A Node-RED that begins now. `session`: whether the broker kept for it what was sent while it was away. */
  start({ session = true } = {}) {
    if (!session) this.queue = [];
    const clocks = new Clocks({ read: () => this.offsetsOfClocks, write: async (value) => {
      this.offsetsOfClocks = JSON.parse(JSON.stringify(value));
      this.begun = true;
      return true;
    } });
    const site = new Site(createBuilding(this.versions.at(-1).file), this.now, { clock: () => this.now, clocks });
    site.devices.learnedVersions.push(...this.offsets);
    this.log = [];
    const log = (text) => this.log.push(text);
    const read = async (version) => ({ building: this.versions[version].file });
    const versions = async () => ({ list: () => this.versions.toReversed(), read });
    const sleep = this.sleep = (ms) => new Promise((resolve) => { this.soon(() => resolve(this.pass(ms))); });
    const store = this.store();
    const record = {
      load: () => this.kept ?? { gaps: {}, requests: {}, repeats: {}, missed: {}, live: null, tries: 0 },
      save: async (kept) => { this.kept = JSON.parse(JSON.stringify(kept)); },
    };
    const logger = { log, warn: log };
    const past = new Past({ site, store, versions, record, checkpoints: createCheckpoints(this.files(), log), folder: null,
      keepsOrder: this.keepsOrder, clock: () => this.now, logger, sleep });
    site.broker.outbox.attach({ connected: () => true, connection: () => this.connection, send: (message) => {
      this.take(message);
      this.soon(() => site.broker.outbox.acknowledge(message.sda_id, this.now));
    } });
    Object.assign(this, { site, past, rebuild: past.rebuild, coverage: past.coverage, flushMs: this.now, startedMs: this.now,
      beatMs: 0, sentMs: 0, beats: [] });
    past.start();
    for (const [id, up] of new Map(this.states.map((state) => [state.gateway, state.up]))) site.live.setGateway(id, up, this.now);
    return this;
  }

  /** Another building file is a version, and in use at once. */
  keep(file) {
    const building = createBuilding(file);
    this.versions.push({ version: this.versions.length, ts: this.now, digest: building.digest, file });
    this.site?.setBuilding(building, this.now);
  }

  /** Other learned offsets of devices are on disk, and hold from a minute later on. */
  correct(offsets) {
    const version = { from_ms: this.now + 60_000, offsets };
    this.offsets.push(version);
    this.site?.devices.learnedVersions.push(version);
  }

  /** A gateway says that it is there, or the broker that it is gone. */
  gateway(id, up) {
    this.states.push({ gateway: id, up, ts: this.now });
    this.site?.live.setGateway(id, up, this.now);
  }

  /** SIGKILL: what was found since the last flush is gone. */
  kill() {
    this.past?.stop();
    this.site?.broker.outbox.attach(null);
    Object.assign(this, { site: null, past: null, rebuild: null });
  }

  /** `work` is done when the code under test has no more to do at this moment. */
  soon(work) {
    this.begun = true;
    setImmediate(work);
  }

  pass(ms) {
    const endMs = this.now + Math.max(1, Math.ceil(ms));
    while (this.now < endMs) {
      this.now = Math.min(endMs, this.nextMs());
      for (; this.sent[this.delivered]?.atMs <= this.now; this.delivered += 1) this.enqueue(this.sent[this.delivered]);
      if (!this.site || this.stalled(this.now)) continue;
      if (this.bound < Infinity) this.ofBroker();
      for (const { kind, receiver, payload } of this.queue.splice(0)) receive(this.site, `sda/v1/${kind}/${receiver}/readings`, payload, this.now);
      if (this.now % 1000 === 0) this.site.tick(this.now);
      if (this.now % 2000 === 0) {
        this.past.tick();
        this.begun = true;
      }
      if (this.now % 250 === 0) {
        this.site.flush(this.now);
        this.beat();
      }
    }
  }

  /** The broker keeps a message for the flows, if there is room. */
  enqueue(message) {
    if (this.queue.length < this.bound) this.queue.push(message);
    else this.dropped += 1;
  }

  /** What the broker says of itself, and the flows' look at it. */
  ofBroker() {
    if (this.now % 10_000 === 0) {
      this.site.bus.emit('brokerUptime', this.now / 1000, this.now);
      if (this.dropped > 0) this.site.bus.emit('brokerDropped', this.dropped, this.now);
    }
  }

  /** The next millisecond in which anything happens. */
  nextMs() {
    if (this.queue.length > 0) return this.now + 1;
    const roundMs = (Math.floor(this.now / 250) + 1) * 250;
    const next = this.sent[this.delivered];
    return next ? Math.max(this.now + 1, Math.min(roundMs, Math.ceil(next.atMs))) : roundMs;
  }

  /** A heartbeat every five seconds, which comes back when everything works. */
  beat() {
    if (this.now % 5000 === 0 || this.coverage.awaitsHeartbeat(this.now, this.sentMs)) this.beats.push(this.sentMs = this.now);
    const readBackMs = this.beats.findLast((ms) => ms + LAG_MS <= this.now) ?? 0;
    if (this.ingestIsUp() && !this.away() && readBackMs >= this.startedMs) this.beatMs = readBackMs;
    this.coverage.tick(this.beatMs, this.now);
  }

  /** Whether a time is answered. @param who null: everybody and each one */
  isComplete(fromMs, toMs, who = []) {
    return this.coverage.completeUntil(fromMs, toMs, who, this.now) === Math.min(toMs, this.now);
  }

  take({ topic, payload, retain }) {
    const data = JSON.parse(payload);
    if (retain) this.retained.set(topic, data);
    if (topic === PROBE_TOPIC) {
      this.probes.push(data.ts);
      if (this.bound < Infinity) this.enqueue({ kind: 'phone', receiver: '_flows', payload: Buffer.from(payload) });
    }
    if (topic === 'sda/v1/events') this.events.set(`${data.ts} ${data.type} ${data.subject}`, data);
    if (topic !== 'sda/v1/locations') return;
    for (const location of data.locations) this.locations.set(`${location.staff_id} ${location.ts}`, location);
    for (const stay of data.stays) this.stays.set(`${stay.staff_id} ${stay.ts}`, stay);
  }

  /** The folder of checkpoints. */
  files() {
    const { checkpoints } = this; // null: none are kept
    return checkpoints && { list: async () => [...checkpoints.keys()], read: async (ms) => checkpoints.get(ms),
      write: async (ms, bytes) => { checkpoints.set(ms, bytes); }, remove: async (ms) => { checkpoints.delete(ms); } };
  }

  /** What the flows ask the database. */
  store() {
    const answer = (value) => (this.away() ? Promise.reject(new StoreUnavailable('InfluxDB is away')) : Promise.resolve(value()));
    const isStored = ({ atMs, unstored, storedMs = atMs + LAG_MS }) => !unstored && storedMs <= this.now;
    // The broker and Telegraf keep the order.
    const isThrough = (ms) => this.ingestIsUp() && ms + LAG_MS <= this.now &&
      this.sent.every((one) => one.unstored || one.atMs > ms || isStored(one));
    const within = (fromMs, toMs) => this.sent.filter((one) => isStored(one) && one.ms >= fromMs && one.ms < toMs)
      .sort((a, b) => a.ms - b.ms);
    const concerns = ({ kind, receiver }, only) => only === null || (kind === 'gateway' ? only.gateways : only.phones.includes(receiver));
    const stored = (map, staffId, fromMs, toMs) => [...map.values()]
      .filter(({ staff_id: id, ts }) => (staffId === undefined || id === staffId) && ts >= fromMs && ts < toMs).sort((a, b) => a.ts - b.ts);
    const lasting = (...args) => stored(this.stays, ...args).filter(({ duration_s: seconds }) => seconds > 0);
    return {
      settledMs: () => answer(() => this.settled || null),
      newestLocation: () => answer(() => [...this.locations.values()].reduce((ms, { ts }) => Math.max(ms, ts), 0) || null),
      firstReading: (fromMs, toMs, only = null) => answer(() => within(fromMs, toMs).find((one) => concerns(one, only))?.ms ?? null),
      gatewayStates: () => answer(() => this.states.slice()),
      newestProbe: (fromMs) => answer(() => this.probes.findLast((ms) => ms >= fromMs && isThrough(ms)) ?? null),
      stays: (fromMs, toMs, staffId) => answer(() => lasting(staffId, fromMs, toMs)),
      lastStay: (staffId, fromMs, toMs) => answer(() => lasting(staffId, fromMs, toMs).at(-1) ?? null),
      firstLocation: (staffId, fromMs, toMs) => answer(() => stored(this.locations, staffId, fromMs, toMs)[0] ?? null),
      readings: async (fromMs, toMs, take, only = null) => {
        if (this.readMsAMinute > 0) await this.sleep((toMs - fromMs) / 60_000 * this.readMsAMinute);
        const found = await answer(() => within(fromMs, toMs).filter((one) => concerns(one, only)));
        const rows = found.flatMap(({ ms, kind, receiver, payload }) => JSON.parse(payload).readings
          .map(({ beacon, rssi }) => [ms, rssi, kind, receiver, beacon]));
        for (let at = 0; at < rows.length; at += 7) { // pieces that end in the middle of a batch
          await take(rows.slice(at, at + 7));
          if (this.breakOff > 0 && at > 50) {
            this.breakOff -= 1;
            throw new StoreUnavailable('broke off');
          }
        }
      },
    };
  }

  async until(done, limitMs = 6 * 3_600_000) {
    const endMs = this.now + limitMs;
    while (!done()) {
      if (this.now > endMs) throw new Error(`not within ${limitMs} ms of virtual time: ${this.log.join('\n')} ${JSON.stringify(this.rebuild.part())}`);
      if (this.begun || this.rebuild?.part().state !== 'idle') { // else a turn of the event loop finds nothing to do
        this.begun = false;
        await new Promise((resolve) => { setImmediate(resolve); });
      }
      this.pass(5);
    }
  }

  idle() {
    return this.until(() => this.rebuild.part().state === 'idle');
  }

  /** The stored events of a time, one line each. */
  eventsOf(fromMs, toMs) {
    return [...this.events].filter(([, { ts }]) => ts >= fromMs && ts < toMs).map(([key, { room }]) => `${key} ${room}`).sort();
  }

  /** Everything that is stored of a time, in a form that can be compared. */
  history(fromMs, toMs) {
    const in_ = ({ ts }) => ts >= fromMs && ts < toMs;
    const lines = (map, line) => [...map.values()].filter(in_).map(line).sort();
    return {
      locations: lines(this.locations, ({ staff_id: id, ts, room, rssi, beacon }) => `${id} ${ts} ${room} ${beacon} ${rssi}`),
      stays: lines(new Map([...this.stays].filter(([, { duration_s: seconds }]) => seconds > 0)),
        ({ staff_id: id, room, enter_ms: enter, leave_ms: leave }) => `${id} ${enter} ${leave} ${room}`),
    };
  }
}

module.exports = { World, random, walks, taggedWalks };
