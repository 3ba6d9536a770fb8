// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { LRUCache } = require('lru-cache');

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 86_400_000;

/**
 * Telemetry of beacons by minute or hour, as text of points.
 * @typedef {import('../store/readings').Point} Point
 * @typedef {{texts: Buffer[], lastMs: number|null, digest: string}} Found texts: points with a comma before each; lastMs: time of
 *   the last point where more follow, else null; digest: the same for the same points
 */

/**
 * @param {Pick<import('../store').Store, 'minutes'|'freshMinutes'>} store
 * @param {() => number} clock
 */
function createTelemetry(store, clock) {
  const days = createDays(store, clock);

  /**
   * Minutes that start in [fromMs, toMs).
   * @param {string} beacon @param {number} fromMs @param {number} toMs exclusive @param {number} limit
   * @returns {Promise<Found>}
   */
  async function minutes(beacon, fromMs, toMs, limit) {
    /** @type {Buffer[]} */
    const texts = [];
    const digest = createHash('sha1');
    let [left, lastMs] = [limit, 0];
    for (const day of fromMs < toMs ? await days.between(beacon, fromMs, toMs) : []) {
      const [from, end] = [day.indexFrom(fromMs), day.indexFrom(toMs)];
      const to = Math.min(end, from + left);
      if (to > from) {
        texts.push(day.slice(from, to));
        digest.update(/** @type {Buffer} */ (texts.at(-1)));
        lastMs = day.msAt(to - 1);
        left -= to - from;
      }
      if (end > to) return { texts, lastMs, digest: digest.digest('base64url') };
    }
    return { texts, lastMs: null, digest: digest.digest('base64url') };
  }

  /**
   * Complete hours that start in [fromMs, toMs), each the mean of its minutes.
   * @param {string} beacon @param {number} fromMs @param {number} toMs exclusive @param {number} limit
   * @returns {Promise<Found>}
   */
  async function hours(beacon, fromMs, toMs, limit) {
    const firstMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
    const endMs = Math.min(Math.ceil(toMs / HOUR_MS), Math.floor(clock() / HOUR_MS)) * HOUR_MS;
    /** @type {Map<number, {sums: number[], counts: number[]}>} */
    const byHour = new Map();
    for (const day of firstMs < endMs ? await days.between(beacon, firstMs, endMs) : []) {
      for (const [ts, ...values] of day.points(day.indexFrom(firstMs), day.indexFrom(endMs))) {
        add(byHour, Math.floor(ts / HOUR_MS) * HOUR_MS, values);
      }
    }
    const points = [...byHour].map(([ts, { sums, counts }]) => [ts, ...sums.map((sum, i) => (counts[i] ? sum / counts[i] : null))]);
    const text = Buffer.from(points.slice(0, limit).map((point) => `,${encode(point)}`).join(''));
    const lastMs = points.length > limit ? /** @type {number} */ (points[limit - 1]?.[0]) : null;
    return { texts: [text], lastMs, digest: createHash('sha1').update(text).digest('base64url') };
  }

  return { minutes, hours, bytes: days.bytes };
}

/** @param {Map<number, {sums: number[], counts: number[]}>} byHour @param {number} ts @param {(number|null)[]} values */
function add(byHour, ts, values) {
  let hour = byHour.get(ts);
  if (!hour) byHour.set(ts, hour = { sums: [0, 0, 0], counts: [0, 0, 0] });
  const { sums, counts } = hour;
  values.forEach((value, i) => {
    if (value === null) return;
    sums[i] = (sums[i] ?? 0) + value;
    counts[i] = (counts[i] ?? 0) + 1;
  });
}

/**
 * A cache of days of minutes, so that a final day is queried once. Late readings may still change a younger day, which is
 * cached for the rest of the minute only. Bounded by bytes; the least recently used days go first.
 * @typedef {{day: Promise<Day>, untilMs: number}} CachedDay untilMs: valid until, epoch ms
 */

/** Sixteen months of single beacons, or a day of 500 of them. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Readings come up to 7 days late, and the Flux task computes their minutes within a day more. */
const FINAL_AFTER_MS = 8 * DAY_MS + 3_600_000;
/** The task has computed minutes older than this; younger ones are computed here. */
const TASK_LAG_MS = 5 * MINUTE_MS;
/** Weight of a day that is still being read. */
const READING_BYTES = 64 * 1024;

/**
 * @param {Pick<import('../store').Store, 'minutes'|'freshMinutes'>} store
 * @param {() => number} clock
 * @param {number} [cacheBytes]
 */
function createDays(store, clock, cacheBytes = CACHE_BYTES) {
  /** @type {LRUCache<string, CachedDay & {bytes: number}>} */
  const cache = new LRUCache({ maxSize: cacheBytes, sizeCalculation: ({ bytes }) => bytes });

  /**
   * @param {string} beacon
   * @param {number} fromMs @param {number} toMs exclusive
   * @returns {Promise<Day[]>} every day that overlaps the time, ascending
   */
  function between(beacon, fromMs, toMs) {
    const nowMs = clock();
    /** @type {Promise<Day>[]} */
    const days = [];
    /** @type {number[]} consecutive days that are not cached */
    const missing = [];
    for (let startMs = Math.floor(fromMs / DAY_MS) * DAY_MS; startMs < toMs; startMs += DAY_MS) {
      const known = cache.get(`${beacon} ${startMs}`);
      if (known && known.untilMs > nowMs) days.push(...read(beacon, missing.splice(0), nowMs), known.day);
      else missing.push(startMs);
    }
    return Promise.all([...days, ...read(beacon, missing, nowMs)]);
  }

  /**
   * One query for consecutive days.
   * @param {string} beacon @param {number[]} starts @param {number} nowMs
   * @returns {Promise<Day>[]}
   */
  function read(beacon, starts, nowMs) {
    const [first, last] = [starts[0], starts.at(-1)];
    if (first === undefined || last === undefined) return [];
    const found = points(beacon, first, last + DAY_MS, nowMs);
    return starts.map((startMs) => {
      const key = `${beacon} ${startMs}`;
      const untilMs = startMs + DAY_MS + FINAL_AFTER_MS < nowMs ? Infinity : Math.floor(nowMs / MINUTE_MS + 1) * MINUTE_MS;
      const day = found.then((byDay) => new Day(startMs, byDay.get(startMs) ?? []));
      cache.set(key, { day, untilMs, bytes: READING_BYTES });
      day.then(
        ({ bytes }) => { if (cache.peek(key)?.day === day) cache.set(key, { day, untilMs, bytes }); },
        () => { if (cache.peek(key)?.day === day) cache.delete(key); },
      );
      return day;
    });
  }

  /** @param {string} beacon @param {number} fromMs @param {number} toMs @param {number} nowMs @returns {Promise<Map<number, Point[]>>} */
  async function points(beacon, fromMs, toMs, nowMs) {
    /** @type {Map<number, Point[]>} */
    const byDay = new Map();
    const addPoints = (/** @type {Point[]} */ found) => {
      for (const point of found) {
        const startMs = Math.floor(point[0] / DAY_MS) * DAY_MS;
        const list = byDay.get(startMs);
        if (list) list.push(point);
        else byDay.set(startMs, [point]);
      }
    };
    const completeMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS; // the current minute is not complete
    const freshMs = Math.min(Math.max(completeMs - TASK_LAG_MS, fromMs), toMs);
    const untilMs = Math.min(completeMs, toMs);
    const fresh = freshMs < untilMs ? store.freshMinutes(beacon, freshMs, untilMs) : Promise.resolve([]);
    fresh.catch(() => {}); // awaited below, where it counts
    for await (const piece of store.minutes(beacon, fromMs, freshMs)) addPoints(piece);
    addPoints(await fresh);
    return byDay;
  }

  return { between, bytes: () => cache.calculatedSize };
}

/**
 * The minutes of one beacon and one UTC day, encoded once: the text of all points as in an answer, and the offset of each
 * point, so that any part of the day is a slice.
 */

const MINUTES = 1440;

class Day {
  /**
   * @param {number} startMs of the day
   * @param {Point[]} points ascending, of this day; the last point of a minute counts
   */
  constructor(startMs, points) {
    const byMinute = new Map(points.map((point) => [Math.floor((point[0] - startMs) / MINUTE_MS), point]));
    const texts = [...byMinute.values()].map((point) => `,${encode(point)}`);
    this.startMs = startMs;
    this.minutes = Uint16Array.from(byMinute.keys());
    this.offsets = new Uint32Array(texts.length + 1);
    texts.forEach((text, i) => { this.offsets[i + 1] = /** @type {number} */ (this.offsets[i]) + text.length; });
    /** All points, each with a comma before it; plain ASCII. */
    this.text = Buffer.from(texts.join(''), 'latin1');
  }

  get count() {
    return this.minutes.length;
  }

  /** Approximate memory. */
  get bytes() {
    return this.text.length + this.offsets.byteLength + this.minutes.byteLength + 512;
  }

  /** Index of the first point at or after a time, epoch ms. @param {number} ms */
  indexFrom(ms) {
    const minute = Math.max(0, Math.min(MINUTES, Math.ceil((ms - this.startMs) / MINUTE_MS)));
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (/** @type {number} */ (this.minutes[middle]) < minute) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Text of the points in [from, to). @param {number} from @param {number} to */
  slice(from, to) {
    return this.text.subarray(this.offsets[from], this.offsets[to]);
  }

  /** Start of the minute of a point, epoch ms. @param {number} index */
  msAt(index) {
    return this.startMs + /** @type {number} */ (this.minutes[index]) * MINUTE_MS;
  }

  /** Points in [from, to) as numbers. @param {number} from @param {number} to @returns {Point[]} */
  points(from, to) {
    return JSON.parse(`[${this.slice(from, to).toString('latin1').slice(1)}]`);
  }
}

/** @param {readonly (number|string|null)[]} point rounded to two decimals; battery to whole mV */
function encode([ts, ...values]) {
  const [receiver, rest] = typeof values[0] === 'string' ? [`${JSON.stringify(values[0])},`, values.slice(1)] : ['', values];
  const texts = rest.map((value, i) => (typeof value !== 'number' ? 'null' : i === 0 ? Math.round(value) : Math.round(value * 100) / 100));
  return `[${ts},${receiver}${texts.join()}]`;
}

module.exports = { createTelemetry, createDays, Day, encode, MINUTE_MS, DAY_MS };
