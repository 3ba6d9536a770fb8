// @ts-check
'use strict';

/**
 * Health of everything that the flows depend on.
 * @typedef {{status: 'up'|'degraded', reason?: string, remedy?: string, [key: string]: unknown}} Part
 */

/**
 * The answer of /health.
 * @typedef {ReturnType<typeof createHealth>} Health
 * @param {{site: import('../site').Site, probe: import('./heartbeat').Probe, rebuild: Pick<import('../past/rebuild').Rebuild, 'part'>,
 *   version: string}} context
 */
function createHealth({ site, probe, rebuild, version }) {
  /** @type {Map<string, (nowMs: number) => Part>} */
  const extraParts = new Map();
  const { live } = site;
  const overload = createOverload({ queue: live.queue, counters: () => live.counters(), liveLagMs: () => live.lag.read().p50_ms });

  /** @param {number} nowMs @returns {Part} */
  function broker(nowMs) {
    const { waiting, in_flight: inFlight } = site.broker.outbox.counters();
    const part = { waiting: waiting + inFlight };
    const unansweredMs = site.broker.outbox.unansweredMs(nowMs);
    const reason = !site.connected() ? 'there is no connection to the broker'
      : unansweredMs >= UNANSWERED_MS ? `the broker has not acknowledged what was sent ${Math.round(unansweredMs / 1000)} s ago` : '';
    return reason === '' ? { status: 'up', ...part } : {
      status: 'degraded', ...part, reason, remedy: 'look at `make status` and at the log of the broker',
    };
  }

  /** @param {boolean} anonymous @param {number} nowMs @returns {Part} */
  function building(anonymous, nowMs) {
    const now = site.building();
    return {
      ...buildingState(site.buildingFaults, anonymous),
      ...warned(now.warnings, anonymous),
      name: now.name, levels: now.levels.length, rooms: now.rooms.size,
      beacons: now.beacons.size, gateways: now.gateways.size, staff: now.staff.size,
      plan_in_use: inUse(site.devices.learnedVersions, nowMs)?.plan ?? [],
      unlisted_gateways: site.devices.gateways.unlisted().length, simulated: site.live.simulated.playing(nowMs),
      ...wrongClocks(site.clocks.wrong(nowMs), anonymous),
    };
  }

  return {
    /** Compares what comes in with what is located; called with each heartbeat. @param {number} nowMs */
    tick: overload.tick,
    figures: overload.figures,
    /** Adds a part to the report. @param {string} name @param {(nowMs: number) => Part} read */
    addPart: (name, read) => { extraParts.set(name, read); },
    /**
     * @param {number} nowMs
     * @param {{stranger?: boolean}} [options] stranger: an unknown caller, who gets the number of faults without texts
     */
    report(nowMs, { stranger: anonymous = false } = {}) {
      /** @type {Record<string, Part>} */
      const parts = {
        broker: broker(nowMs), live: overload.part(nowMs), influxdb: probe.influxdb(), ingest: probe.ingest(nowMs), rebuild: rebuild.part(),
        building: building(anonymous, nowMs),
        ...Object.fromEntries([...extraParts].map(([name, read]) => [name, read(nowMs)])),
      };
      const up = Object.values(parts).every((part) => part.status === 'up');
      return { status: up ? 'up' : 'degraded', version, uptime_s: Math.round((nowMs - site.startedMs) / 1000), parts };
    },
  };
}

/** An acknowledgement takes milliseconds, and something is sent every four seconds. */
const UNANSWERED_MS = 4000;
/** Faults in the answer; the log has all of them. */
const FAULTS_SHOWN = 100;

/** The learned version that holds now. @param {readonly import('../locator').LearnedVersion[]} versions @param {number} nowMs */
const inUse = (versions, nowMs) => versions.findLast(({ from_ms: fromMs }) => fromMs <= nowMs);

/** @param {string[]} faults of the building file @param {boolean} anonymous @returns {Part & {faults?: string[]}} */
function buildingState(faults, anonymous) {
  if (faults.length === 0) return { status: 'up' };
  return {
    status: 'degraded',
    reason: 'the building file was changed and is refused; the building of before stays in use',
    remedy: 'correct the file, it is read again by itself; to check one: node bin/building.js check FILE',
    faults_count: faults.length,
    ...(anonymous ? {} : { faults: faults.slice(0, FAULTS_SHOWN) }),
  };
}

/**
 * Warnings of what an earlier version took and a new edit may not bring. The building works, so the part is up.
 * @param {string[]} warnings @param {boolean} anonymous @returns {{warnings_count?: number, warnings?: string[]}}
 */
function warned(warnings, anonymous) {
  if (warnings.length === 0) return {};
  return { warnings_count: warnings.length, ...(anonymous ? {} : { warnings: warnings.slice(0, FAULTS_SHOWN) }) };
}

/**
 * Receivers whose clock is off, which is corrected: the part is up.
 * @param {import('../clocks').WrongClock[]} wrong @param {boolean} anonymous
 */
const wrongClocks = (wrong, anonymous) => (wrong.length === 0 ? {}
  : { wrong_clocks_count: wrong.length, ...(anonymous ? {} : { wrong_clocks: wrong.slice(0, FAULTS_SHOWN) }) });

/**
 * Figures of /health itself.
 * @param {Health} health
 * @param {import('./heartbeat').Probe} probe
 * @param {() => number} clock
 * @returns {import('./figures').Figure[]}
 */
const healthFigures = (health, probe, clock) => [
  ...health.figures,
  { name: 'part_up', kind: 'gauge', label: 'part', help: '1: the part is up, 0: it is degraded; /health says why',
    read: () => Object.fromEntries(Object.entries(health.report(clock()).parts).map(([name, { status }]) => [name, Number(status === 'up')])) },
  { name: 'store_lag_ms', kind: 'gauge', help: 'From the broker into InfluxDB and out again, of the newest heartbeat that came back',
    read: () => /** @type {number|null} */ (probe.ingest(clock()).store_lag_ms ?? null) },
];

/**
 * Payload of the heartbeat: all figures. `settled_ms`: everything before this time is located; 0: not known. It is read where the
 * record of coverage is lost.
 * @param {import('./figures').Figures} figures
 * @param {Pick<import('../past/coverage').Coverage, 'settledMs'>} coverage
 * @param {number} nowMs
 * @returns {Record<string, number> & {ts: number}}
 */
function heartbeat(figures, coverage, nowMs) {
  figures.roll();
  return { ts: nowMs, settled_ms: coverage.settledMs(nowMs), ...figures.flat() };
}

/**
 * Whether more comes in than the flows can locate. Then the newest batch of each receiver goes first, and the others are located later.
 * @typedef {{ts: number, messages: number, located_later: number}} Sample ts: epoch ms; counters since the start
 * @typedef {ReturnType<typeof createOverload>} Overload
 */

/** Rates are of this time. */
const WINDOW_MS = 30_000;
/** An overload that comes and goes is one; but a moment of it raises no alert, which comes after ten seconds. */
const HOLD_MS = 5000;
/** So old is what is located in time: the second that it is about. */
const IN_TIME_MS = 1000;

/**
 * @param {object} deps
 * @param {Pick<import('../live/newest-first').NewestFirst, 'isBehind'|'waitedMs'|'size'>} deps.queue
 * @param {() => {messages: number, located_later: number}} deps.counters
 * @param {() => number|null} deps.liveLagMs median of the last interval; null: nothing was located
 */
function createOverload({ queue, counters, liveLagMs }) {
  /** @type {Sample[]} */
  let samples = [];
  let skipped = 0;
  let skippedMs = -Infinity;

  /** Whether something was skipped just now: a queue that only is long for a moment is none. @param {number} nowMs */
  function isOverloaded(nowMs) {
    const { located_later: later } = counters();
    if (later > skipped) [skipped, skippedMs] = [later, nowMs];
    return nowMs - skippedMs < HOLD_MS;
  }

  return {
    /** To be called every few seconds. @param {number} nowMs */
    tick(nowMs) {
      isOverloaded(nowMs);
      const { messages, located_later: later } = counters();
      samples = [...samples.filter(({ ts }) => nowMs - ts <= WINDOW_MS), { ts: nowMs, messages, located_later: later }];
    },
    /** Part of /health. @param {number} nowMs @returns {Part} */
    part(nowMs) {
      const overloaded = isOverloaded(nowMs);
      const { messages, located_later: later } = counters();
      const rates = ratesOf([...samples, { ts: nowMs, messages, located_later: later }]);
      const oldMs = Math.max(queue.waitedMs(), (liveLagMs() ?? 0) - IN_TIME_MS, 0);
      const figures = { overloaded, ...rates, behind_by_s: Math.round(oldMs / 100) / 10, waiting: queue.size(), located_later: later };
      if (!overloaded) return { status: 'up', ...figures };
      return { status: 'degraded', ...figures, reason: reasonOf(figures),
        remedy: 'more comes in than this machine can locate: fewer messages, or a larger machine; each receiver\'s newest batch is '
          + 'located at once, and the others from the database when this is over' };
    },
    /** @type {import('./figures').Figure[]} */
    figures: [
      { name: 'located_later', kind: 'counter', help: 'Batches that the live view left out under overload; they are located from the database',
        read: () => counters().located_later },
      { name: 'live_waiting', kind: 'gauge', help: 'Checked batches that wait to be located', read: () => queue.size() },
      { name: 'newest_first', kind: 'gauge', help: '1: more comes in than can be located, so each receiver\'s newest batch goes first',
        read: () => Number(queue.isBehind()) },
    ],
  };
}

/** "overloaded: offered 9000/s, taken 6000/s, behind by 0.8 s; located later: 90000 batches".
 * @param {{offered_per_s: number|null, taken_per_s: number|null, behind_by_s: number, located_later: number}} figures */
const reasonOf = ({ offered_per_s: offered, taken_per_s: taken, behind_by_s: behind, located_later: later }) =>
  `overloaded: offered ${offered ?? '?'}/s, taken ${taken ?? '?'}/s, behind by ${behind} s; located later: ${later} batches`;

/** @param {Sample[]} samples ascending @returns {{offered_per_s: number|null, taken_per_s: number|null}} messages a second, whole */
function ratesOf(samples) {
  const [first, last] = [/** @type {Sample} */ (samples[0]), /** @type {Sample} */ (samples.at(-1))];
  const seconds = (last.ts - first.ts) / 1000;
  if (seconds < 1) return { offered_per_s: null, taken_per_s: null };
  const [offered, later] = [last.messages - first.messages, last.located_later - first.located_later];
  return { offered_per_s: Math.round(offered / seconds), taken_per_s: Math.round(Math.max(offered - later, 0) / seconds) };
}

module.exports = { createHealth, healthFigures, heartbeat, createOverload, HOLD_MS };
