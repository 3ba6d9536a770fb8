// @ts-check
'use strict';

const { createOverload } = require('./overload');

/**
 * Health of everything that the flows depend on.
 * @typedef {{status: 'up'|'degraded', reason?: string, remedy?: string, [key: string]: unknown}} Part
 */

/**
 * The answer of /health.
 * @typedef {ReturnType<typeof createHealth>} Health
 * @param {{site: import('../site').Site, probe: import('./heartbeat').Probe, rebuild: Pick<import('../rebuild').Rebuild, 'part'>,
 *   version: string}} context
 */
function createHealth({ site, probe, rebuild, version }) {
  /** @type {Map<string, (nowMs: number) => Part>} */
  const extraParts = new Map();
  const overload = createOverload({ queue: site.queue, counters: site.counters, liveLagMs: () => site.liveLag.read().p50_ms });

  /** @param {number} nowMs @returns {Part} */
  function broker(nowMs) {
    const { waiting, in_flight: inFlight } = site.outbox.counters();
    const part = { waiting: waiting + inFlight };
    const unansweredMs = site.outbox.unansweredMs(nowMs);
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
      ...buildingState(site.buildingFaults(), anonymous),
      ...warned(now.warnings, anonymous),
      name: now.name, levels: now.levels.length, rooms: now.rooms.size,
      beacons: now.beacons.size, gateways: now.gateways.size, staff: now.staff.size,
      plan_in_use: inUse(site.learnedVersions, nowMs)?.plan ?? [],
      unlisted_gateways: site.strangers().gateways.length, simulated: site.simulated.playing(nowMs),
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

/** What was learned that holds now. @param {readonly import('../locator').LearnedVersion[]} versions @param {number} nowMs */
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
 * What an earlier version took and a new edit may not bring. The building works, so the part is up.
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
 * @returns {import('./metrics/figures').Figure[]}
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
 * @param {import('./metrics/figures').Figures} figures
 * @param {Pick<import('../coverage').Coverage, 'settledMs'>} coverage
 * @param {number} nowMs
 * @returns {Record<string, number> & {ts: number}}
 */
function heartbeat(figures, coverage, nowMs) {
  figures.roll();
  return { ts: nowMs, settled_ms: coverage.settledMs(nowMs), ...figures.flat() };
}

module.exports = { createHealth, healthFigures, heartbeat };
