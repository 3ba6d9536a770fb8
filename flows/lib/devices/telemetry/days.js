// @ts-check
'use strict';

const { LRUCache } = require('lru-cache');
const { Day, DAY_MS, MINUTE_MS } = require('./day');

/**
 * Days of minutes in memory, so that what is over is asked of the database once. A day changes as long as late readings may
 * come to it: until then it is good for the rest of a minute. Bounded by bytes; the days used longest ago go first.
 * @typedef {import('../../store/telemetry').Point} Point
 * @typedef {{day: Promise<Day>, untilMs: number}} Kept
 */

/** Sixteen months of single beacons, or a day of 500 of them. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** Readings come up to 7 days late, and the task that works minutes out has been everywhere within a day more. */
const FINAL_AFTER_MS = 8 * DAY_MS + 3_600_000;
/** The task has come to what is older than this; before that minutes are worked out here. */
const TASK_LAG_MS = 5 * MINUTE_MS;
/** Weight of a day that is still being read. */
const ASKED_BYTES = 64 * 1024;

/**
 * @param {Pick<import('../../store').Store, 'minutes'|'freshMinutes'>} archive
 * @param {() => number} clock
 * @param {number} [keptBytes]
 */
function createDays(archive, clock, keptBytes = KEPT_BYTES) {
  /** @type {LRUCache<string, Kept & {bytes: number}>} */
  const kept = new LRUCache({ maxSize: keptBytes, sizeCalculation: ({ bytes }) => bytes });

  /**
   * @param {string} beacon
   * @param {number} fromMs @param {number} toMs exclusive
   * @returns {Promise<Day[]>} every day that the time touches, ascending
   */
  function between(beacon, fromMs, toMs) {
    const nowMs = clock();
    /** @type {Promise<Day>[]} */
    const days = [];
    /** @type {number[]} days that are missing, next to each other */
    const missing = [];
    for (let startMs = Math.floor(fromMs / DAY_MS) * DAY_MS; startMs < toMs; startMs += DAY_MS) {
      const known = kept.get(`${beacon} ${startMs}`);
      if (known && known.untilMs > nowMs) days.push(...read(beacon, missing.splice(0), nowMs), known.day);
      else missing.push(startMs);
    }
    return Promise.all([...days, ...read(beacon, missing, nowMs)]);
  }

  /**
   * One question for days next to each other.
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
      kept.set(key, { day, untilMs, bytes: ASKED_BYTES });
      day.then(
        ({ bytes }) => { if (kept.peek(key)?.day === day) kept.set(key, { day, untilMs, bytes }); },
        () => { if (kept.peek(key)?.day === day) kept.delete(key); },
      );
      return day;
    });
  }

  /** @param {string} beacon @param {number} fromMs @param {number} toMs @param {number} nowMs @returns {Promise<Map<number, Point[]>>} */
  async function points(beacon, fromMs, toMs, nowMs) {
    /** @type {Map<number, Point[]>} */
    const byDay = new Map();
    const take = (/** @type {Point[]} */ found) => {
      for (const point of found) {
        const startMs = Math.floor(point[0] / DAY_MS) * DAY_MS;
        const list = byDay.get(startMs);
        if (list) list.push(point);
        else byDay.set(startMs, [point]);
      }
    };
    const overMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS; // the minute that runs is not told
    const freshMs = Math.min(Math.max(overMs - TASK_LAG_MS, fromMs), toMs);
    const untilMs = Math.min(overMs, toMs);
    const fresh = freshMs < untilMs ? archive.freshMinutes(beacon, freshMs, untilMs) : Promise.resolve([]);
    fresh.catch(() => {}); // awaited below, where it counts
    for await (const piece of archive.minutes(beacon, fromMs, freshMs)) take(piece);
    take(await fresh);
    return byDay;
  }

  return { between, bytes: () => kept.calculatedSize };
}

module.exports = { createDays, KEPT_BYTES };
