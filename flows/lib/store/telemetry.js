// @ts-check
'use strict';

const { atMost, between, BETWEEN } = require('./influxql');

/**
 * @typedef {[ts: number, batteryMv: number|null, temperatureC: number|null, humidityPct: number|null]} Point ts: epoch ms
 * @typedef {[ts: number, receiver: string, batteryMv: number|null, temperatureC: number|null, humidityPct: number|null]} RawPoint
 */

const FIELDS = ['battery_mv', 'temperature_c', 'humidity_pct'];
const NAMED = FIELDS.map((name) => `"${name}"`).join(', ');
/** A month of minutes is 44,640 rows. */
const QUERY_TIMEOUT_MS = 3000;

/** @param {import('.').Influx} influx */
function createMeasured(influx) {
  /**
   * Each minute, as the task of `influx/` has worked it out, piece by piece.
   * @param {string} beacon @param {number} fromMs @param {number} toMs exclusive
   * @returns {AsyncGenerator<Point[], void, void>} ascending
   */
  async function* minutes(beacon, fromMs, toMs) {
    const found = influx.pieces('telemetry', `SELECT ${NAMED} FROM "telemetry" WHERE "beacon" = $beacon AND ${BETWEEN}`,
      { beacon, ...between(fromMs, toMs) });
    for await (const piece of found) for (const { rows } of piece) yield /** @type {any} */ (rows);
  }

  /**
   * The minutes that the task has not come to yet, by its rule.
   * @param {string} beacon @param {number} fromMs @param {number} toMs exclusive; both at the beginning of a minute
   * @returns {Promise<Point[]>} ascending
   */
  async function freshMinutes(beacon, fromMs, toMs) {
    const means = FIELDS.map((name) => `mean("${name}")`).join(', ');
    const [series] = await influx.query('readings',
      `SELECT ${means} FROM "measured" WHERE "beacon" = $beacon AND ${BETWEEN} GROUP BY time(1m) fill(none)`,
      { beacon, ...between(fromMs, toMs) });
    return /** @type {any} */ (series?.rows ?? []);
  }

  /**
   * Every reading that measured something. Earlier versions stored it as a point of `reading`.
   * @param {string} beacon @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<RawPoint[]>} ascending
   */
  async function rawPoints(beacon, fromMs, toMs, count) {
    const found = await Promise.all(['measured', 'reading'].map((from) => influx.query('readings',
      `SELECT "receiver", ${NAMED} FROM "${from}" WHERE "beacon" = $beacon AND ${BETWEEN} ORDER BY time ASC${atMost(count)}`,
      { beacon, ...between(fromMs, toMs) }, QUERY_TIMEOUT_MS)));
    const rows = /** @type {RawPoint[]} */ (found.flatMap(([series]) => series?.rows ?? []));
    return rows.sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1)).slice(0, count);
  }

  return { minutes, freshMinutes, rawPoints };
}

module.exports = { createMeasured };
