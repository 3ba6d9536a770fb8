// @ts-check
'use strict';

const { PROBABLE_BELOW, isSure } = require('../shared/probable');
const { BETWEEN, atMost, between, time } = require('./influx');

/**
 * Questions about people: where they were, and their stays in rooms.
 * @typedef {import('../locator').Location} Location
 * @typedef {Omit<Location, keyof import('../locator').Sureness|'corrected'>} Sighting where somebody was, without how sure that is
 * @typedef {Omit<Location, 'staff_id'>} Placed ts: epoch ms; what an earlier version located has no probability
 * @typedef {import('../past/history').LocationList & {staffId: string}} StaffLocations
 * @typedef {import('../locator').Stay} Stay
 * @typedef {import('../past/views').StoredStay} StoredStay
 */

/** Work in the background has time. */
const BACKGROUND_TIMEOUT_MS = 20_000;
/** Ten thousand people take it a second or two. */
const EVERYBODY_MS = 8000;
/** Questions about everybody may take longer than those about one. */
const QUERY_TIMEOUT_MS = 3000;
/** More records than this of one answer may keep its caller, and so the database, busy for a while. */
const LONG_RECORDS = 20_000;
/** So far back a stay may have begun: as long as locations are kept. */
const LOOK_BACK_MS = 30 * 86_400_000;

const FIELDS = '"level", "room", "beacon", "rssi"';
const PLACED_FIELDS = `${FIELDS}, "sure_pct", "runner_up", "corrected"`;
const STAY_FIELDS = '"level", "room", "enter_ms", "leave_ms"';
/** A stay that was taken back has no length. */
const LASTING = '"duration_s" > 0';
const DOUBTFUL = ` AND ("sure_pct" < ${Math.round(PROBABLE_BELOW * 100)} OR "corrected" = true)`;

/** @param {import('./index').Influx} influx */
function createLocations(influx) {
  /**
   * Where people were, one after the other by falling `staff_id`, each newest first, piece by piece.
   * @param {string[]|null} of null: everybody
   * @param {number} fromMs inclusive
   * @param {number} toMs inclusive
   * @param {number} records so many there may be
   * @returns {AsyncGenerator<StaffLocations, void, void>}
   */
  async function* locations(of, fromMs, toMs, records) {
    const found = influx.pieces('locations',
      `SELECT "level", "room" FROM "location" WHERE ${of ? `${anyOf('staff_id', of)} AND ` : ''}time >= $from AND time <= $to GROUP BY "staff_id" ORDER BY time DESC`,
      { ...bound('staff_id', of ?? []), from: time(fromMs), to: time(toMs) }, { long: records > LONG_RECORDS });
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

  /** Time of the newest location, epoch ms. @param {number} fromMs @returns {Promise<number|null>} */
  async function newestLocation(fromMs) {
    const series = await influx.query('locations', 'SELECT last("rssi") FROM "location" WHERE time >= $from',
      { from: time(fromMs) }, BACKGROUND_TIMEOUT_MS);
    return series[0]?.rows[0]?.[0] ?? null;
  }

  /** Somebody's first location within a time. @param {string} staffId @param {number} fromMs @param {number} toMs exclusive */
  async function firstLocation(staffId, fromMs, toMs) {
    const [series] = await influx.query('locations',
      `SELECT ${FIELDS} FROM "location" WHERE "staff_id" = $staff AND time >= $from AND time < $to ORDER BY time ASC LIMIT 1`,
      { staff: staffId, from: time(fromMs), to: time(toMs) }, BACKGROUND_TIMEOUT_MS);
    return series?.rows[0] ? toLocation(staffId, series.rows[0]) : null;
  }

  /**
   * Where somebody was.
   * @param {string} staffId @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @param {boolean} [isDoubtful] only where the room is probable or was corrected
   * @returns {Promise<Placed[]>} ascending
   */
  async function placesOf(staffId, fromMs, toMs, count, isDoubtful = false) {
    const [series] = await influx.query('locations',
      `SELECT ${PLACED_FIELDS} FROM "location" WHERE "staff_id" = $staff AND ${BETWEEN}${isDoubtful ? DOUBTFUL : ''} ORDER BY time ASC${atMost(count)}`,
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

  return { locations, latest, newestLocation, firstLocation, placesOf, hasPlaces, staffIds };
}

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
const toWholeStay = (staffId, [ts, level, room, enterMs, leaveMs, durationS]) => ({
  ts, staff_id: staffId, level, room, enter_ms: enterMs, leave_ms: leaveMs, duration_s: durationS,
});

/** A point that is written again keeps the fields that it lacks then: who is sure has no runner-up. @param {any[]} row @returns {Placed} */
const toPlaced = ([ts, level, room, beacon, rssi, pct, runnerUp, corrected]) => ({
  ts, level, room, beacon, rssi, probability: pct === null ? null : pct / 100,
  runner_up: pct === null || isSure(pct / 100) || !runnerUp ? null : runnerUp, ...(corrected ? { corrected: true } : {}),
});

/**
 * Stays lie at their time of entering. Nobody has two at once, so of the stays before a window only somebody's last one can
 * reach into it.
 * @param {import('./index').Influx} influx
 */
function createStays(influx) {
  /**
   * Stays that began within a time; those taken back are not among them.
   * @param {number} fromMs inclusive @param {number} toMs exclusive
   * @param {string} [staffId] everybody's, if not given
   * @returns {Promise<Stay[]>} ascending for each person
   */
  async function stays(fromMs, toMs, staffId) {
    const series = await influx.query('locations',
      `SELECT ${STAY_FIELDS}, "duration_s" FROM "stay" WHERE time >= $from AND time < $to AND ${LASTING}` +
      `${staffId === undefined ? '' : ' AND "staff_id" = $staff'} GROUP BY "staff_id"`,
      { from: time(fromMs), to: time(toMs), ...(staffId === undefined ? {} : { staff: staffId }) }, BACKGROUND_TIMEOUT_MS);
    return series.flatMap(({ tags, rows }) => rows.map((row) => toWholeStay(tags.staff_id ?? '', row)));
  }

  /** Somebody's newest stay that began within a time. @param {string} staffId @param {number} fromMs @param {number} toMs exclusive */
  async function lastStay(staffId, fromMs, toMs) {
    const [series] = await influx.query('locations',
      `SELECT ${STAY_FIELDS}, "duration_s" FROM "stay" WHERE "staff_id" = $staff AND time >= $from AND time < $to AND ${LASTING} ` +
      'ORDER BY time DESC LIMIT 1', { staff: staffId, from: time(fromMs), to: time(toMs) }, BACKGROUND_TIMEOUT_MS);
    return series?.rows[0] ? toWholeStay(staffId, series.rows[0]) : null;
  }

  /**
   * The stays that began within a time, of some people (null: everybody), on one level where one is named.
   * @param {{staff: string[]|null, level?: string}} only @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<StoredStay[]>} ascending
   */
  async function staysOf({ staff, level }, fromMs, toMs, count) {
    const [series] = await influx.query('locations',
      `SELECT "staff_id", ${STAY_FIELDS} FROM "stay" WHERE ${staff ? `${anyOf('staff_id', staff)} AND ` : ''}${level === undefined ? '' : '"level" = $level AND '}` +
      `${LASTING} AND ${BETWEEN} ORDER BY time ASC${atMost(count)}`,
      { ...bound('staff_id', staff ?? []), ...(level === undefined ? {} : { level }), ...between(fromMs, toMs) }, staff ? 0 : QUERY_TIMEOUT_MS);
    return (series?.rows ?? []).map(toStayOf);
  }

  /**
   * The stays of some people (null: everybody) that reach into a time from before it.
   * @param {string[]|null} staff @param {number} fromMs
   * @returns {Promise<StoredStay[]>} of each none or one
   */
  async function staysInto(staff, fromMs) {
    const series = await influx.query('locations',
      `SELECT ${STAY_FIELDS} FROM "stay" WHERE ${staff ? `${anyOf('staff_id', staff)} AND ` : ''}${LASTING} AND ${BETWEEN} ` +
      'GROUP BY "staff_id" ORDER BY time DESC LIMIT 1',
      { ...bound('staff_id', staff ?? []), ...between(fromMs - LOOK_BACK_MS, fromMs) }, staff ? 0 : QUERY_TIMEOUT_MS);
    return series.flatMap(({ tags, rows }) => rows.map((row) => toStay(tags.staff_id ?? '', row))).filter(({ leave_ms: leave }) => leave > fromMs);
  }

  /**
   * The stays that began within a time, of everybody, piece by piece, ascending.
   * @param {string[]|null} rooms null: in all of them
   * @param {number} fromMs @param {number} toMs exclusive
   * @returns {AsyncGenerator<StoredStay[], void, void>}
   */
  async function* everyStay(rooms, fromMs, toMs) {
    const found = influx.pieces('locations',
      `SELECT "staff_id", ${STAY_FIELDS} FROM "stay" WHERE ${rooms ? `${anyOf('room', rooms)} AND ` : ''}${LASTING} AND ${BETWEEN}`,
      { ...bound('room', rooms ?? []), ...between(fromMs, toMs) }, { long: true, firstMs: QUERY_TIMEOUT_MS });
    for await (const piece of found) for (const { rows } of piece) yield rows.map(toStayOf);
  }

  /**
   * The stays in a room that began within a time.
   * @param {string} room @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<StoredStay[]>} the latest first
   */
  async function staysIn(room, fromMs, toMs, count) {
    const [series] = await influx.query('locations',
      `SELECT "staff_id", ${STAY_FIELDS} FROM "stay" WHERE ${anyOf('room', [room])} AND ${LASTING} AND ${BETWEEN} ORDER BY time DESC${atMost(count)}`,
      { ...bound('room', [room]), ...between(fromMs, toMs) }, QUERY_TIMEOUT_MS);
    return (series?.rows ?? []).map(toStayOf);
  }

  return { stays, lastStay, staysOf, staysInto, everyStay, staysIn };
}

/** @param {'staff_id'|'room'} name @param {string[]} values */
const anyOf = (name, values) => `(${values.map((_, i) => `"${name}" = $${name}${i}`).join(' OR ')})`;
/** @param {'staff_id'|'room'} name @param {string[]} values */
const bound = (name, values) => Object.fromEntries(values.map((value, i) => [`${name}${i}`, value]));

/** @param {any[]} row with the staff member first */
const toStayOf = ([ts, staffId, ...rest]) => toStay(staffId, [ts, ...rest]);

/** @param {string} staffId @param {any[]} row @returns {StoredStay} */
const toStay = (staffId, [, level, room, enterMs, leaveMs]) => ({ staff_id: staffId, level, room, enter_ms: enterMs, leave_ms: leaveMs });

module.exports = { createLocations, createStays };
