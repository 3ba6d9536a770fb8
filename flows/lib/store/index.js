// @ts-check
'use strict';

const { createDevices } = require('./devices');
const { createInflux, StoreUnavailable } = require('./influx');
const { createPeople } = require('./people');
const { createReadings } = require('./readings');
const { createStays } = require('./stays');
const { createStoreGuard, StoreBusy } = require('./store-guard');
const { createMeasured } = require('./telemetry');

/**
 * Every question that the flows ask the database: everything bound, windows of `/api/v1` half-open and with at most `count` rows.
 * @typedef {import('../locator').Location} Location
 * @typedef {Omit<Location, keyof import('../locator').Sureness|'corrected'>} Sighting where somebody was, without how sure that is
 * @typedef {import('../locator').Stay} Stay
 */

const FIELDS = '"level", "room", "beacon", "rssi"';
const STAY_FIELDS = '"level", "room", "enter_ms", "leave_ms", "duration_s"';

/** What works in the background has time. */
const BACKGROUND_TIMEOUT_MS = 20_000;
/** Ten thousand people take it a second or two. */
const EVERYBODY_MS = 8000;
/** More records than this of one answer may keep its caller, and so the database, busy for a while. */
const LONG_RECORDS = 20_000;

/**
 * @typedef {import('../past/history').LocationList & {staffId: string}} StaffLocations
 * @typedef {{phones: string[], gateways: boolean}} Only readings of these phones; of all gateways or of none
 * @typedef {ReturnType<typeof createStore>} Store
 * @typedef {Pick<import('./store-guard').StoreGuard, 'query'|'pieces'>} Influx
 * @param {Influx & Pick<import('./store-guard').StoreGuard, 'probe'>} influx
 */
function createStore(influx) {
  /**
   * Where people were, one after the other by falling `staff_id`, each newest first, piece by piece.
   * @param {string[]|null} staffIds null: everybody
   * @param {number} fromMs inclusive
   * @param {number} toMs inclusive
   * @param {number} records so many there may be
   * @returns {AsyncGenerator<StaffLocations, void, void>}
   */
  async function* locations(staffIds, fromMs, toMs, records) {
    const who = staffIds?.map((_, i) => `"staff_id" = $staff${i}`).join(' OR ');
    const bound = Object.fromEntries(staffIds?.map((id, i) => [`staff${i}`, id]) ?? []);
    const found = influx.pieces('locations',
      `SELECT "level", "room" FROM "location" WHERE ${who ? `(${who}) AND ` : ''}time >= $from AND time <= $to GROUP BY "staff_id" ORDER BY time DESC`,
      { ...bound, from: time(fromMs), to: time(toMs) }, { long: records > LONG_RECORDS });
    for await (const piece of found) for (const { tags, rows } of piece) yield { staffId: tags.staff_id ?? '', ...toLocationList(rows) };
  }

  /**
   * The latest location of everybody within a time.
   * @param {number} fromMs inclusive
   * @param {number} toMs exclusive
   * @returns {Promise<Sighting[]>}
   */
  async function latest(fromMs, toMs) {
    const series = await influx.query('locations',
      `SELECT ${FIELDS} FROM "location" WHERE time >= $from AND time < $to GROUP BY "staff_id" ORDER BY time DESC LIMIT 1`,
      { from: time(fromMs), to: time(toMs) }, EVERYBODY_MS);
    return series.flatMap(({ tags, rows }) => rows.map((row) => toLocation(tags.staff_id ?? '', row)));
  }

  /**
   * Time of the newest heartbeat of the flows that was stored beside locations, epoch ms: what was published before it is stored.
   * @param {number} fromMs
   * @returns {Promise<number|null>}
   */
  async function newestHeartbeat(fromMs) {
    const series = await influx.probe(({ query }) => query('locations',
      'SELECT "uptime_s" FROM "flows_health" WHERE time >= $from ORDER BY time DESC LIMIT 1', { from: time(fromMs) }));
    return series[0]?.rows[0]?.[0] ?? null;
  }

  /**
   * Up to when everything was located, as the flows said last; 0 in a heartbeat is "not known yet".
   * @param {number} fromMs @param {number} toMs of the heartbeats to look at
   * @returns {Promise<number|null>} epoch ms
   */
  async function settledMs(fromMs, toMs) {
    const series = await influx.query('health',
      'SELECT last("settled_ms") FROM "flows_health" WHERE time >= $from AND time < $to AND "settled_ms" > 0',
      { from: time(fromMs), to: time(toMs) }, BACKGROUND_TIMEOUT_MS);
    return series[0]?.rows[0]?.[1] ?? null;
  }

  /** Time of the newest location, epoch ms. @param {number} fromMs @returns {Promise<number|null>} */
  async function newestLocation(fromMs) {
    const series = await influx.query('locations', 'SELECT last("rssi") FROM "location" WHERE time >= $from',
      { from: time(fromMs) }, BACKGROUND_TIMEOUT_MS);
    return series[0]?.rows[0]?.[0] ?? null;
  }

  /**
   * What gateways said of themselves since a time, and what each had said last before it.
   * @param {number} fromMs
   * @returns {Promise<{gateway: string, up: boolean, ts: number}[]>}
   */
  async function gatewayStates(fromMs) {
    const since = { from: time(fromMs) };
    const [before, after] = await Promise.all([
      influx.query('health', 'SELECT last("state") FROM "gateway_status" WHERE time < $from GROUP BY "gateway"', since, BACKGROUND_TIMEOUT_MS),
      influx.query('health', 'SELECT "state" FROM "gateway_status" WHERE time >= $from GROUP BY "gateway"', since, BACKGROUND_TIMEOUT_MS)]);
    return [...before, ...after].flatMap(({ tags, rows }) =>
      rows.map(([ts, state]) => ({ gateway: tags.gateway ?? '', up: state === 'online', ts })));
  }

  /**
   * Stays that began within a time; those taken back are not among them.
   * @param {number} fromMs inclusive @param {number} toMs exclusive
   * @param {string} [staffId] everybody's, if not given
   * @returns {Promise<Stay[]>} ascending for each person
   */
  async function stays(fromMs, toMs, staffId) {
    const series = await influx.query('locations',
      `SELECT ${STAY_FIELDS} FROM "stay" WHERE time >= $from AND time < $to AND "duration_s" > 0` +
      `${staffId === undefined ? '' : ' AND "staff_id" = $staff'} GROUP BY "staff_id"`,
      { from: time(fromMs), to: time(toMs), ...(staffId === undefined ? {} : { staff: staffId }) }, BACKGROUND_TIMEOUT_MS);
    return series.flatMap(({ tags, rows }) => rows.map((row) => toStay(tags.staff_id ?? '', row)));
  }

  /** Somebody's newest stay that began within a time. @param {string} staffId @param {number} fromMs @param {number} toMs exclusive */
  async function lastStay(staffId, fromMs, toMs) {
    const [series] = await influx.query('locations',
      `SELECT ${STAY_FIELDS} FROM "stay" WHERE "staff_id" = $staff AND time >= $from AND time < $to AND "duration_s" > 0 ` +
      'ORDER BY time DESC LIMIT 1', { staff: staffId, from: time(fromMs), to: time(toMs) }, BACKGROUND_TIMEOUT_MS);
    return series?.rows[0] ? toStay(staffId, series.rows[0]) : null;
  }

  /** Somebody's first location within a time. @param {string} staffId @param {number} fromMs @param {number} toMs exclusive */
  async function firstLocation(staffId, fromMs, toMs) {
    const [series] = await influx.query('locations',
      `SELECT ${FIELDS} FROM "location" WHERE "staff_id" = $staff AND time >= $from AND time < $to ORDER BY time ASC LIMIT 1`,
      { staff: staffId, from: time(fromMs), to: time(toMs) }, BACKGROUND_TIMEOUT_MS);
    return series?.rows[0] ? toLocation(staffId, series.rows[0]) : null;
  }

  return {
    locations, latest, newestLocation, newestHeartbeat, settledMs, gatewayStates,
    stays, lastStay, firstLocation,
    ...createReadings(influx), ...createPeople(influx), ...createStays(influx), ...createDevices(influx), ...createMeasured(influx),
  };
}

/** A bound time is text: as a number it would be nanoseconds, which are no safe integer. @param {number} ms */
const time = (ms) => new Date(ms).toISOString();

/** @param {any[][]} rows @returns {import('../past/history').LocationList} */
function toLocationList(rows) {
  /** @type {import('../past/history').LocationList} */
  const list = { ms: [], places: [] };
  let place = { level: '', room: '' };
  for (const [ms, level, room] of rows) {
    if (room !== place.room || level !== place.level) place = { level, room };
    list.ms.push(ms);
    list.places.push(place);
  }
  return list;
}

/** @param {string} staffId @param {any[]} row @returns {Sighting} */
const toLocation = (staffId, [ts, level, room, beacon, rssi]) => ({ ts, staff_id: staffId, level, room, beacon, rssi });

/** @param {string} staffId @param {any[]} row @returns {Stay} */
const toStay = (staffId, [ts, level, room, enterMs, leaveMs, durationS]) => ({
  ts, staff_id: staffId, level, room, enter_ms: enterMs, leave_ms: leaveMs, duration_s: durationS,
});

module.exports = { createStore, createStoreGuard, createInflux, StoreUnavailable, StoreBusy };
