// @ts-check
'use strict';

const { atMost, between, BETWEEN, time } = require('./influxql');

/** @typedef {{ts: number, level: string, room: string, beacon: string, rssi: number}} Placed ts: epoch ms */

/** What works in the background has time. */
const BACKGROUND_TIMEOUT_MS = 20_000;
const FIELDS = '"level", "room", "beacon", "rssi"';

/** @param {import('.').Influx} influx */
function createPeople(influx) {
  /**
   * Where somebody was.
   * @param {string} staffId @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<Placed[]>} ascending
   */
  async function placesOf(staffId, fromMs, toMs, count) {
    const [series] = await influx.query('locations',
      `SELECT ${FIELDS} FROM "location" WHERE "staff_id" = $staff AND ${BETWEEN} ORDER BY time ASC${atMost(count)}`,
      { staff: staffId, ...between(fromMs, toMs) });
    return (series?.rows ?? []).map(([ts, level, room, beacon, rssi]) => ({ ts, level, room, beacon, rssi }));
  }

  /** Whether anything is stored of somebody since a time. @param {string} staffId @param {number} fromMs */
  async function hasPlaces(staffId, fromMs) {
    const series = await influx.query('locations',
      'SELECT "rssi" FROM "location" WHERE "staff_id" = $staff AND time >= $from ORDER BY time DESC LIMIT 1',
      { staff: staffId, from: time(fromMs) });
    return series.length > 0;
  }

  /** Everybody of whom a location or stay is stored. @returns {Promise<string[]>} */
  async function staffIds() {
    const found = await influx.query('locations', 'SHOW TAG VALUES FROM "location", "stay" WITH KEY = "staff_id"', {}, BACKGROUND_TIMEOUT_MS);
    return [...new Set(found.flatMap(({ rows }) => rows.map(([, id]) => String(id))))];
  }

  return { placesOf, hasPlaces, staffIds };
}

module.exports = { createPeople };
