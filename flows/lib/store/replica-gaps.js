// @ts-check
'use strict';

const { between, BETWEEN } = require('./influxql');

/**
 * Finds gaps in the past of one of two databases, by the heartbeats in them. One that was away for too long, or has lost its disk, has
 * fewer in an hour.
 */

const HOUR_MS = 3_600_000;
/** Heartbeats are kept for 30 days, in shards of 7 that go at once: so far back both have all of them. */
const LOOK_BACK_MS = 22 * 24 * HOUR_MS;
/** What is on its way into one of them. */
const SETTLED_MS = 60_000;
/** A restart may lose one or two of an hour's 720. */
const TOLERATED = 6;
/** The bucket's points are few, but of 22 days. */
const BACKGROUND_TIMEOUT_MS = 10_000;

/** @typedef {Map<number, number>} Hours heartbeats by the beginning of their hour, epoch ms */

/**
 * @param {Pick<import('./influx').Influx, 'query'>} influx
 * @param {number} toMs exclusive
 * @returns {Promise<Hours>}
 */
async function heartbeatsByHour(influx, toMs) {
  const fromMs = Math.floor((toMs - LOOK_BACK_MS) / HOUR_MS) * HOUR_MS;
  const [series] = await influx.query('health', `SELECT count("uptime_s") FROM "flows_health" WHERE ${BETWEEN} GROUP BY time(1h) fill(none)`,
    between(fromMs, toMs), BACKGROUND_TIMEOUT_MS);
  return new Map((series?.rows ?? []).map(([hourMs, count]) => [hourMs, count]));
}

/** The number of hours in which `mine` has fewer heartbeats than `others`. @param {Hours} mine @param {Hours} others */
const countMissingHours = (mine, others) => [...others].filter(([hourMs, count]) => count - (mine.get(hourMs) ?? 0) > TOLERATED).length;

module.exports = { heartbeatsByHour, countMissingHours, SETTLED_MS };
