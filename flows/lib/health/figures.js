// @ts-check
'use strict';

const { createHistogram } = require('node:perf_hooks');
const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = require('prom-client');

/**
 * Registry of the flows' own figures: flat numbers for the heartbeat, which Telegraf writes to the bucket `health`, and the same
 * figures for Prometheus (`createPrometheus`). Names end with their unit (`_ms`, `_s`, `_bytes`).
 * @typedef {object} Figure
 * @property {string} name
 * @property {'counter'|'gauge'} kind a counter only grows, from 0 at each start
 * @property {string} help one sentence
 * @property {string} [label] what the parts of a figure differ by: `reason`, `part`; few values, never a person
 * @property {'sum'|'none'} [flat] sum: the heartbeat has the sum of the parts too; none: not in the heartbeat
 * @property {() => number|null|Record<string, number>} read null: not known; with a label: a number for each of its values
 * @typedef {ReturnType<typeof createFigures>} Figures
 */

const NAME = /^[a-z][a-z0-9_]*$/;

function createFigures() {
  /** @type {Map<string, Figure>} */
  const figures = new Map();
  /** @type {Set<() => void>} */
  const rolls = new Set();

  /** @param {Figure} figure @returns {[string, number][]} */
  function flatOf({ name, label, flat, read }) {
    const value = read();
    if (flat === 'none' || value === null) return [];
    if (label === undefined) return [[name, /** @type {number} */ (value)]];
    const parts = Object.entries(/** @type {Record<string, number>} */ (value));
    const each = parts.map(([key, number]) => /** @type {[string, number]} */ ([`${name}_${nameOf(key)}`, number]));
    return flat === 'sum' ? [[name, parts.reduce((sum, [, number]) => sum + number, 0)], ...each] : each;
  }

  return {
    /**
     * @param {Figure[]} more
     * @param {() => void} [roll] closes the interval of interval figures
     * @returns {() => void} removes them
     * @throws {Error} where a name is invalid or taken
     */
    add(more, roll = () => {}) {
      for (const figure of more) {
        if (!NAME.test(figure.name) || figures.has(figure.name)) throw new Error(`a figure cannot be named "${figure.name}", or there is one already`);
        figures.set(figure.name, figure);
      }
      rolls.add(roll);
      return () => {
        for (const { name } of more) figures.delete(name);
        rolls.delete(roll);
      };
    },
    /** Closes the interval and starts the next; called with each heartbeat. */
    roll: () => { for (const roll of rolls) roll(); },
    /** @returns {Figure[]} */
    all: () => [...figures.values()],
    /** All figures under flat names. @returns {Record<string, number>} */
    flat: () => Object.fromEntries([...figures.values()].flatMap(flatOf).filter(([, number]) => Number.isFinite(number))),
  };
}

/** A label value as part of a name; the route `/` becomes `root`. @param {string} text */
const nameOf = (text) => text.toLowerCase().match(/[a-z0-9]+/g)?.join('_') ?? 'root';

/**
 * The figures in Prometheus' text format, with base units in the names as Prometheus asks for: `store_lag_ms` becomes
 * `sda_store_lag_seconds`, the counter `readings` `sda_readings_total`.
 */

/** Seconds, from a read of memory to the longest time-out. */
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** @param {{all: () => Figure[]}} figures @param {string} version */
function createPrometheus(figures, version) {
  const register = new Registry();
  collectDefaultMetrics({ register });
  new Gauge({ name: 'sda_build_info', help: 'Which version runs', labelNames: ['version'], registers: [register] }).set({ version }, 1);
  const latencies = new Histogram({
    name: 'sda_http_request_duration_seconds', help: 'How long answers took', labelNames: ['route'], buckets: BUCKETS_S, registers: [register],
  });
  /** @type {Set<string>} */
  const known = new Set();

  /** @param {Figure} figure */
  function describe({ name, kind, help, label, read }) {
    known.add(name);
    const isTime = name.endsWith('_ms');
    const Kind = kind === 'counter' ? Counter : Gauge;
    new Kind({
      name: `sda_${name.replace(/_ms$/, '_seconds').replace(/_s$/, '_seconds')}${kind === 'counter' ? '_total' : ''}`,
      help: `${help}.`,
      labelNames: label === undefined ? [] : [label],
      registers: [register],
      collect() {
        this.reset(); // label values that are gone are no longer reported
        const value = read();
        if (value === null) {
          if (label === undefined) this.remove(); // unknown is not 0, which `reset` has set
          return;
        }
        const each = typeof value === 'number' ? [/** @type {const} */ (['', value])] : Object.entries(value);
        for (const [key, number] of each) this.inc(label === undefined ? {} : { [label]: key }, isTime ? number / 1000 : number);
      },
    });
  }

  return {
    latencies: { observe: (/** @type {string} */ route, /** @type {number} */ seconds) => latencies.observe({ route }, seconds) },
    contentType: register.contentType,
    /** @returns {Promise<string>} */
    text() {
      for (const figure of figures.all()) if (!known.has(figure.name)) describe(figure);
      return register.metrics();
    },
  };
}

/**
 * A histogram of durations by interval: median, 99th percentile and maximum of the interval that was closed last. Recording
 * costs a tenth of a microsecond and no memory.
 * @typedef {ReturnType<typeof createIntervalHistogram>} IntervalHistogram
 * @typedef {{p50_ms: number|null, p99_ms: number|null, max_ms: number|null, count: number}} Percentiles null: no values
 */

/** Recorded in microseconds, to keep fractions of a millisecond; an hour is the largest value. */
const MAX_US = 3_600_000_000;
const NONE = Object.freeze({ p50_ms: null, p99_ms: null, max_ms: null, count: 0 });

function createIntervalHistogram() {
  const histogram = createHistogram({ lowest: 1, highest: MAX_US, figures: 2 });
  /** @type {Percentiles} */
  let closed = NONE;
  return {
    /** @param {number} ms negative ones count as 0 */
    add: (ms) => histogram.record(Math.min(MAX_US, Math.max(1, Math.round(ms * 1000)))),
    /** Closes the interval and starts the next. */
    roll() {
      closed = histogram.count === 0 ? NONE : {
        p50_ms: histogram.percentile(50) / 1000, p99_ms: histogram.percentile(99) / 1000, max_ms: histogram.max / 1000,
        count: histogram.count,
      };
      histogram.reset();
    },
    /** @returns {Percentiles} */
    read: () => closed,
  };
}

/** Increase of a counter between two values; a counter starts at 0 again with its process. @param {number} before @param {number} now */
const counterIncrease = (before, now) => (now >= before ? now - before : now);

/**
 * The figures of the last quarter of an hour, one sample a heartbeat, for the system page.
 * @typedef {Record<string, number> & {ts: number}} Sample flat figures by name; ts: when they were read, epoch ms
 * @typedef {ReturnType<typeof createTrend>} Trend
 */

const KEPT_MS = 15 * 60_000;
/** One every five seconds and some more; a clock that jumps must not fill the memory. */
const SAMPLES_MAX = 200;

function createTrend() {
  /** @type {Sample[]} */
  let samples = [];
  return {
    /** @param {Sample} sample */
    add(sample) {
      samples = [...samples.filter(({ ts }) => ts < sample.ts && sample.ts - ts <= KEPT_MS), sample].slice(-SAMPLES_MAX);
    },
    /** Oldest first. @returns {readonly Sample[]} */
    samples: () => samples,
  };
}

/**
 * Rate of a counter, a value for each sample.
 * @param {readonly Sample[]} samples
 * @param {string} name
 * @param {(sample: Sample) => number|undefined} [timeOf] when it was counted, epoch ms
 * @returns {(number|null)[]} per second; null: not known
 */
function rates(samples, name, timeOf = ({ ts }) => ts) {
  /** @type {{ms: number, count: number}|null} */
  let before = null;
  return samples.map((sample) => {
    const [ms, count] = [timeOf(sample), sample[name]];
    if (ms === undefined || count === undefined || ms === before?.ms) return null;
    const rate = before && ms > before.ms ? (counterIncrease(before.count, count) * 1000) / (ms - before.ms) : null;
    before = { ms, count };
    return rate;
  });
}

/**
 * Increase of a counter within the samples.
 * @param {readonly Sample[]} samples
 * @param {string} name
 * @param {boolean} isOwn a missing value of our own counters is 0, of external counters unknown
 */
function growth(samples, name, isOwn) {
  /** @type {number|undefined} */
  let before;
  let sum = 0;
  for (const sample of samples) {
    const count = sample[name] ?? (isOwn ? 0 : undefined);
    if (count === undefined) continue;
    if (before !== undefined) sum += counterIncrease(before, count);
    before = count;
  }
  return sum;
}

/**
 * Percentile of values (nearest rank).
 * @param {number[]} values
 * @param {number} share 0 … 1
 * @returns {number|null} null: no values
 */
function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

/**
 * Figures of the HTTP API: answers by route and status, latencies, requests by caller.
 * @typedef {ReturnType<typeof createHttpFigures>} HttpFigures
 */

/** Status of a request whose caller closed the connection early, as in nginx. */
const CLIENT_CLOSED = 499;
/** Label of requests that no route answered. */
const NO_ROUTE = 'none';

/** @param {{observe: (route: string, seconds: number) => void}} latencies of all answers */
function createHttpFigures(latencies) {
  /** @type {Map<string, IntervalHistogram>} by route */
  const routes = new Map();
  /** @type {Record<string, number>} */
  const byStatus = Object.create(null);
  /** @type {Record<string, number>} */
  const byRoute = Object.create(null);
  /** @type {Record<string, number>} */
  const byCaller = Object.create(null);

  /** @param {string} route */
  function histogramOf(route) {
    const known = routes.get(route) ?? createIntervalHistogram();
    routes.set(route, known);
    return known;
  }

  /**
   * @param {string} route as declared, never text of a caller
   * @param {number} status
   * @param {number} ms
   * @param {import('../access/guard').Caller|undefined} caller
   */
  function answered(route, status, ms, caller) {
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    byRoute[route] = (byRoute[route] ?? 0) + 1;
    const name = caller === undefined ? 'unknown' : caller.kind === 'key' ? caller.name : caller.kind;
    byCaller[name] = (byCaller[name] ?? 0) + 1;
    histogramOf(route).add(ms);
    latencies.observe(route, ms / 1000);
  }

  /**
   * Stands before everything that is answered. The guard of a route writes its name into `response.locals.route`.
   * @type {import('express').RequestHandler}
   */
  function watch(_request, response, next) {
    const began = performance.now();
    response.once('close', () => {
      const { route, caller } = response.locals;
      answered(route ?? NO_ROUTE, response.writableFinished ? response.statusCode : CLIENT_CLOSED, performance.now() - began, caller);
    });
    next();
  }

  /** @param {'p50_ms'|'p99_ms'} which */
  const each = (which) => () => {
    /** @type {Record<string, number>} */
    const values = {};
    for (const [route, histogram] of routes) {
      const value = histogram.read()[which];
      if (value !== null) values[route] = value;
    }
    return values;
  };

  /** @type {Figure[]} */
  const figures = [
    { name: 'http_answers', kind: 'counter', label: 'status', flat: 'sum', help: 'Answers by status; 499: the caller had gone', read: () => byStatus },
    { name: 'http_requests', kind: 'counter', label: 'route', help: 'Requests by route', read: () => byRoute },
    { name: 'http_callers', kind: 'counter', label: 'caller', flat: 'none', help: 'Requests by key; those without are trusted, login or unknown',
      read: () => byCaller },
    { name: 'http_p50_ms', kind: 'gauge', label: 'route', help: 'How long an answer took, median of the last interval', read: each('p50_ms') },
    { name: 'http_p99_ms', kind: 'gauge', label: 'route', help: 'How long an answer took, 99th percentile', read: each('p99_ms') },
  ];

  return { watch, answered, figures, roll: () => { for (const histogram of routes.values()) histogram.roll(); } };
}

module.exports = {
  createFigures, createPrometheus, createHttpFigures, createIntervalHistogram, counterIncrease,
  createTrend, rates, growth, percentile, KEPT_MS,
};
