// @ts-check
'use strict';

const { atMost, between, BETWEEN, time } = require('./influxql');
const { PROBABLE_BELOW, isSure } = require('../shared/probable');

/** @typedef {Omit<import('../locator').Location, 'staff_id'>} Placed ts: epoch ms; what an earlier version located has no probability */

/** What works in the background has time. */
const BACKGROUND_TIMEOUT_MS = 20_000;
const FIELDS = '"level", "room", "beacon", "rssi", "sure_pct", "runner_up", "corrected"';
const DOUBTFUL = ` AND ("sure_pct" < ${Math.round(PROBABLE_BELOW * 100)} OR "corrected" = true)`;

/** @param {import('.').Influx} influx */
function createPeople(influx) {
  /**
   * Where somebody was.
   * @param {string} staffId @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @param {boolean} [isDoubtful] only where the room is probable or was corrected
   * @returns {Promise<Placed[]>} ascending
   */
  async function placesOf(staffId, fromMs, toMs, count, isDoubtful = false) {
    const [series] = await influx.query('locations',
      `SELECT ${FIELDS} FROM "location" WHERE "staff_id" = $staff AND ${BETWEEN}${isDoubtful ? DOUBTFUL : ''} ORDER BY time ASC${atMost(count)}`,
      { staff: staffId, ...between(fromMs, toMs) });
    return (series?.rows ?? []).map(toPlaced);
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

/** A point that is written again keeps the fields that it lacks then: who is sure has no runner-up. @param {any[]} row @returns {Placed} */
const toPlaced = ([ts, level, room, beacon, rssi, pct, runnerUp, corrected]) => ({
  ts, level, room, beacon, rssi, probability: pct === null ? null : pct / 100,
  runner_up: pct === null || isSure(pct / 100) || !runnerUp ? null : runnerUp, ...(corrected ? { corrected: true } : {}),
});

module.exports = { createPeople };
