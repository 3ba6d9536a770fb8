// @ts-check
'use strict';

const { LRUCache } = require('lru-cache');
const { Day, DAY_MS, MINUTE_MS } = require('./day');

/**
 * A cache of days of minutes, so that a final day is queried once. Late readings may still change a younger day, which is
 * cached for the rest of the minute only. Bounded by bytes; the least recently used days go first.
 * @typedef {import('../../store/telemetry').Point} Point
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
 * @param {Pick<import('../../store').Store, 'minutes'|'freshMinutes'>} store
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

module.exports = { createDays };
