// @ts-check
'use strict';

const { isDemo } = require('../building');
const { offsetsInUse } = require('../devices/learned');
const { growth, percentile, rates } = require('../health/figures');
const { EXTERNAL_COUNTERS } = require('../health/loss-ledger');
const { LATEST_MS } = require('../past/history');
const { compareIds } = require('../past/views');
const { isProbable } = require('../shared/probable');

/** Health is read this often. */
const HEALTH_MS = 1000;

/**
 * Topics that pages can watch: `name` or `name:argument`. A new topic needs a function that builds its data, and a
 * line here. Every snapshot has the status too, so that a page needs one topic only.
 * @typedef {{site: import('../site').Site, alerts: Pick<import('../alerts').Alerts, 'groups'|'open'|'dropped'|'version'>,
 *   trend: Pick<import('../health/figures').Trend, 'samples'>,
 *   keys?: {records: () => {rights: Iterable<string>, expires_ms: number|null}[]},
 *   losses?: Pick<import('../health/loss-ledger').LossLedger, 'byName'>,
 *   health: (nowMs: number) => {parts: Record<string, import('../health').Part>}}} Context
 * @typedef {{everyMs: number, data: (context: Context, argument: string, nowMs: number,
 *   presences: Presence[]) => object}} Topic
 * @typedef {ReturnType<typeof createTopics>} Topics
 */

/** @type {Record<string, Topic>} everyMs: shortest interval, in steps of the tick of 200 ms */
const TOPICS = {
  status: { everyMs: 1000, data: () => ({}) },
  floor: { everyMs: 200, data: floor },
  staff: { everyMs: 1000, data: everybody },
  devices: { everyMs: 1000, data: devices },
  system: { everyMs: 1000, data: system },
};

/** @param {Context} context */
function createTopics(context) {
  const { site } = context;
  const status = createStatus(context);
  /** @type {{of: import('../building').Building|null, view: ReturnType<typeof buildingView>|null}} */
  const cachedView = { of: null, view: null };
  const cachedPresences = { version: '', all: /** @type {Presence[]} */ ([]) };

  /** Read once for all topics of a tick. @param {number} nowMs */
  function presencesAt(nowMs) {
    const version = `${nowMs} ${site.live.version()} ${site.live.counters().messages}`;
    if (cachedPresences.version !== version) {
      // a batch of days ago loses nobody now
      const all = site.live.presences().filter(({ state, ts }) => state !== 'lost' || nowMs - ts <= LATEST_MS);
      Object.assign(cachedPresences, { version, all });
    }
    return cachedPresences.all;
  }

  /** @param {string} topic @returns {[Topic, string]} an unknown topic has the status only */
  function find(topic) {
    const [name = '', argument = ''] = topic.split(':', 2);
    return [Object.hasOwn(TOPICS, name) ? /** @type {Topic} */ (TOPICS[name]) : /** @type {Topic} */ (TOPICS.status), argument];
  }

  return {
    /** The building as pages need it. */
    building() {
      const building = site.building();
      if (cachedView.of !== building) Object.assign(cachedView, { of: building, view: buildingView(building) });
      return /** @type {ReturnType<typeof buildingView>} */ (cachedView.view);
    },
    /** @param {string} topic */
    everyMs: (topic) => find(topic)[0].everyMs,
    /** The data of a topic is unchanged while its stamp is. @param {string} _topic */
    stamp: (_topic) => `${site.live.version()} ${site.live.counters().messages} ${site.connected()}`,
    /**
     * @param {string} topic
     * @param {number} nowMs
     * @returns {{stamp: string, snapshot: {topic: string, ts: number, status: object}}}
     */
    build(topic, nowMs) {
      const [{ data }, argument] = find(topic);
      const presences = presencesAt(nowMs);
      const snapshot = { topic, ts: nowMs, status: status(nowMs, presences), ...data(context, argument, nowMs, presences) };
      return { stamp: this.stamp(topic), snapshot };
    },
  };
}

const WARNINGS_SHOWN = 50;

/**
 * The building as pages draw it; sent once, and again after a change.
 * @param {import('../building').Building} building
 */
function buildingView({ digest, name, levels, gateways, staff, warnings }) {
  const all = [...gateways.values()];
  return {
    digest,
    name,
    levels: levels.map((level) => ({
      id: level.id,
      name: level.name,
      width_m: level.width_m,
      height_m: level.height_m,
      /** name of the plan picture; null: none */
      plan: level.plan ?? null,
      schematic: level.schematic === true,
      rooms: level.rooms.map(({ id, name: roomName, kind = 'room', limit = null, polygon, open_edges }) => (
        { id, name: roomName, kind, limit, polygon, open_edges })),
      gateways: all.filter((gateway) => gateway.level === level.id).map(({ id, room, x_m, y_m }) => ({ id, room, x_m, y_m })),
    })),
    /** names by id */
    staff: Object.fromEntries([...staff.values()].map((person) => [person.id, person.name])),
    /** what an earlier version took and a new edit may not bring */
    warnings: { count: warnings.length, first: warnings.slice(0, WARNINGS_SHOWN) },
  };
}

/**
 * People and gateway states of one level, and lost people of the whole building.
 * @param {Context} context
 * @param {string} level id; an unknown id stands for the first level
 * @param {number} nowMs
 * @param {Presence[]} presences
 */
function floor({ site }, level, nowMs, presences) {
  const { levels, gateways } = site.building();
  const shown = levels.some(({ id }) => id === level) ? level : levels[0]?.id;
  const ofLevel = [...gateways.values()].filter((gateway) => gateway.level === shown);
  return {
    level: shown,
    people: people(presences, (one) => one.level === shown && one.state !== 'lost'),
    lost: people(presences, ({ state }) => state === 'lost'),
    /** states by id, without gateways of which nothing is known yet */
    gateways: Object.fromEntries(ofLevel.flatMap(({ id }) => {
      const known = site.devices.gateways.of(id, nowMs);
      return known ? [[id, known.state]] : [];
    })),
  };
}

/**
 * Everybody of the last quarter of an hour, with the last RSSI and the battery of their tag (of several tags: the weakest).
 * @param {Context} context
 * @param {string} _argument
 * @param {number} nowMs
 * @param {Presence[]} presences
 */
function everybody({ site }, _argument, nowMs, presences) {
  const latest = new Map(site.memory.history.latestSince(nowMs - LATEST_MS).map((location) => [location.staff_id, location]));
  const members = site.building().staff;
  return {
    people: people(presences, () => true).map((one) => {
      const { rssi = null, beacon = null } = latest.get(one.id) ?? {};
      return { ...one, rssi, beacon, battery_mv: weakestBattery(site, members.get(one.id)?.tags ?? []) };
    }),
  };
}

/** @param {import('../site').Site} site @param {string[]} tags @returns {number|null} mV */
function weakestBattery(site, tags) {
  const known = tags.map((tag) => site.devices.beacons.of(tag)?.battery_mv ?? null).filter((mv) => mv !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/**
 * A person as pages show them; times in epoch ms. probability and runner_up only of whose room is probable: thousands of others
 * need not carry them.
 * @typedef {import('../locator').Presence} Presence
 * @typedef {{id: string, level: string, room: string, since: number, ts: number, state: string, probability?: number|null,
 *   runner_up?: string|null}} Person
 * @param {Presence} presence
 * @returns {Person}
 */
const personOf = ({ staff_id: id, level, room, since, ts, state, probability, runner_up: runnerUp }) => (
  { id, level, room, since, ts, state, ...(isProbable(probability) ? { probability, runner_up: runnerUp } : {}) });

/** @param {Presence[]} presences @param {(presence: Presence) => boolean} filter @returns {Person[]} by id */
const people = (presences, filter) => presences.filter(filter).map(personOf).sort((a, b) => compareIds(a.id, b.id));

/** Figures of a gateway that the page shows. */
const FIGURES = /** @type {const} */ (['queued', 'dropped', 'scan_restarts', 'clock_offset_ms', 'clock_synchronised', 'cpu_temperature_c', 'uptime_s']);

const NO_STATE = Object.freeze({ state: 'unknown', since: null, version: null, health: null, reading_ms: null, readings_per_s: 0 });

/**
 * State of the gateways, the alerts by kind, accounts whose sessions are taken over, phones whose clock is off, and unregistered
 * beacons that are received.
 * @param {Context} context
 * @param {string} _argument
 * @param {number} nowMs
 */
function devices({ site, alerts }, _argument, nowMs) {
  const listed = site.building().gateways;
  const ids = [...listed.keys(), ...site.devices.gateways.unlisted()].sort(compareIds);
  const offsetOf = offsetsInUse(site, nowMs);
  return {
    alerts: { groups: alerts.groups(), open: alerts.open(), dropped: alerts.dropped(), version: alerts.version() },
    gateways: ids.map((id) => {
      const { level = null, room = null } = listed.get(id) ?? {};
      const { state, since, version, health, reading_ms, readings_per_s: rate } = site.devices.gateways.of(id, nowMs) ?? NO_STATE;
      return { id, listed: listed.has(id), level, room, state, since, version, reading_ms, readings_per_s: Math.round(rate * 100) / 100,
        rssi_bias_db: site.devices.learning.bias('gateway', id), learned_offset: offsetOf('gateway', id), clock_wrong: site.clocks.of('gateway', id),
        health_ms: health?.ts ?? null, ...Object.fromEntries(FIGURES.map((name) => [name, health?.[name] ?? null])) };
    }),
    takeovers: site.devices.takeovers.list(nowMs),
    wrong_clocks: site.clocks.wrong(nowMs).filter(({ kind }) => kind === 'phone'),
    strangers: site.devices.beacons.unregistered().map(({ beacon, heard_ms, kind, receiver, rssi, count }) => (
      { beacon, heard_ms, kind, receiver, rssi, count })),
  };
}

/**
 * The status for every page: people on each level, and the parts of health.
 * @param {Context} context
 */
function createStatus({ site, alerts, health, keys }) {
  let healthMs = -Infinity;
  let received = { messages: 0, ms: /** @type {number|null} */ (null) };
  /** @type {{id: string, status: string, reason?: string, remedy?: string}[]} */
  let parts = [];

  /** @param {number} nowMs */
  function readHealth(nowMs) {
    healthMs = nowMs;
    parts = Object.entries(health(nowMs).parts).map(([id, { status, reason, remedy }]) => ({ id, status, reason, remedy }));
  }

  /**
   * @param {number} nowMs
   * @param {Presence[]} presences
   * @returns {{building: string, counts: Record<string, number>, lost: number, heard_ms: number|null, alerts: number,
   *   simulated: number, steps: Steps, parts: typeof parts}}
   *   counts by level id, without lost people; heard_ms: when the last readings came in, null: none since the start; alerts: active
   *   and not acknowledged; simulated: people here that a simulator plays
   */
  return (nowMs, presences) => {
    if (nowMs - healthMs >= HEALTH_MS) readHealth(nowMs);
    const { messages } = site.live.counters();
    if (messages !== received.messages) received = { messages, ms: nowMs };
    /** @type {Record<string, number>} */
    const counts = {};
    let lost = 0;
    for (const { level, state } of presences) {
      if (state === 'lost') lost += 1;
      else counts[level] = (counts[level] ?? 0) + 1;
    }
    return { building: site.building().digest, counts, lost, heard_ms: received.ms, alerts: alerts.open(),
      simulated: site.live.simulated.count(presences, nowMs), steps: stepsDone(site, keys?.records() ?? [], nowMs), parts };
  };
}

/**
 * Set-up steps of a new installation that are done, derived from the present state; nothing is stored.
 * @typedef {{building: boolean, receivers: boolean, staff: boolean, hacs: boolean}} Steps
 */

/**
 * @param {import('../site').Site} site
 * @param {{rights: Iterable<string>, expires_ms: number|null}[]} keys
 * @param {number} nowMs
 * @returns {Steps} building: it is not the demo, and has a room and a device; receivers: a gateway or a phone has sent something;
 *   staff: a building of one's own has staff; hacs: a valid key has the right history
 */
function stepsDone(site, keys, nowMs) {
  const { digest, rooms, gateways, beacons, staff } = site.building();
  const isOwn = !isDemo(digest);
  const hasGateway = [...gateways.keys()].some((id) => {
    const { state = 'unknown', version = null } = site.devices.gateways.of(id, nowMs) ?? {};
    return state !== 'unknown' && !String(version).startsWith('simulator/');
  });
  return {
    building: isOwn && rooms.size > 0 && beacons.size + gateways.size > 0,
    receivers: site.live.receivedMs() !== null || hasGateway,
    staff: isOwn && staff.size > 0,
    hacs: keys.some(({ rights, expires_ms: ends }) => [...rights].includes('history') && (ends === null || ends > nowMs)),
  };
}

/** Figures of refusals and losses (lib/health), without a label and with one. */
const SINGLE = ['located_later', 'unregistered', 'gateway_messages_refused', 'http_limited', 'http_misdirected', 'http_shed',
  'unlisted_refused', 'outbox_dropped', 'audit_dropped', 'broker_dropped'];
const LABELLED = /^(refused|store_refused|ingest_dropped|spool_dropped|gateway_dropped)_/;
const MEMORY = /^memory_bytes_(.+)$/;

/**
 * Rates and lags of intake and storage, refusals, losses and memory: over the last quarter of an hour, as of the newest heartbeat.
 * The state of the parts is in the status of every snapshot.
 * @param {Context} context @param {string} [_argument] @param {number} [nowMs]
 */
function system({ site, trend, losses }, _argument, nowMs) {
  const samples = trend.samples();
  const newest = samples.at(-1) ?? null;
  const valueOf = (/** @type {string} */ name) => newest?.[name] ?? null;
  const each = (/** @type {string} */ name) => samples.map((sample) => sample[name] ?? null);
  /** losses, over restarts; other figures count since the start */
  const month = losses?.byName(nowMs ?? newest?.ts ?? 0) ?? {};
  const storeLags = each('store_lag_ms');
  const measured = storeLags.filter((ms) => ms !== null);
  return {
    started_ms: site.startedMs,
    /** times of the samples; the lists of `trends` have a value for each, null: not known */
    ts_ms: samples.map(({ ts }) => ts),
    trends: {
      messages_per_s: rounded(rates(samples, 'messages')),
      stored_per_s: rounded(rates(samples, 'stored_batches', ({ stored_timestamp_s: at }) => (at === undefined ? undefined : at * 1000))),
      live_lag_p50_ms: rounded(each('live_lag_p50_ms')),
      live_lag_p99_ms: rounded(each('live_lag_p99_ms')),
      store_lag_ms: storeLags,
    },
    store_lag: { p50_ms: percentile(measured, 0.5), p99_ms: percentile(measured, 0.99), count: measured.length },
    counts: [...new Set([...Object.keys(newest ?? {}), ...Object.keys(month)])]
      .filter((name) => SINGLE.includes(name) || LABELLED.test(name))
      // external counters are unknown until they arrive
      .map((name) => ({ name, total: month[name] ?? valueOf(name) ?? 0, lately: growth(samples, name, !EXTERNAL_COUNTERS.test(name)) })),
    memory_bytes: { flows: valueOf('rss_bytes'), ...Object.fromEntries(Object.keys(newest ?? {}).flatMap((name) => {
      const [, part] = MEMORY.exec(name) ?? [];
      return part ? [[part, valueOf(name)]] : [];
    })) },
    busy_pct: valueOf('loop_busy_pct'),
    gateways: Object.fromEntries(['online', 'offline', 'silent', 'unknown'].map((state) => [state, valueOf(`gateways_${state}`)])),
  };
}

/** Rounded to a tenth. @param {(number|null)[]} values */
const rounded = (values) => values.map((value) => (value === null ? null : Math.round(value * 10) / 10));

module.exports = { createTopics, stepsDone, system };
