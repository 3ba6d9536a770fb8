// @ts-check
'use strict';

const { atMost, between, BETWEEN, time } = require('./influxql');

/** @typedef {{ts: number, level: string, room: string, beacon: string, rssi: number}} Placed ts: epoch ms */

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

  return { placesOf, hasPlaces };
}

module.exports = { createPeople };
