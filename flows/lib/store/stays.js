// @ts-check
'use strict';

const { atMost, between, BETWEEN } = require('./influxql');

/**
 * Stays lie at their time of entering. Nobody has two at once, so of the stays before a window only somebody's last one can
 * reach into it.
 * @typedef {import('../past/views').StoredStay} StoredStay
 */

const FIELDS = '"level", "room", "enter_ms", "leave_ms"';
/** One that was taken back has no length. */
const LASTING = '"duration_s" > 0';
/** So far back a stay may have begun: as long as locations are kept. */
const LOOK_BACK_MS = 30 * 86_400_000;
/** Questions about everybody may take longer than those about one. */
const QUERY_TIMEOUT_MS = 3000;

/** @param {import('.').Influx} influx */
function createStays(influx) {
  /**
   * The stays that began within a time, of some people (null: everybody), on one level where one is named.
   * @param {{staff: string[]|null, level?: string}} only @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<StoredStay[]>} ascending
   */
  async function staysOf({ staff, level }, fromMs, toMs, count) {
    const [series] = await influx.query('locations',
      `SELECT "staff_id", ${FIELDS} FROM "stay" WHERE ${staff ? `${anyOf('staff_id', staff)} AND ` : ''}${level === undefined ? '' : '"level" = $level AND '}` +
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
      `SELECT ${FIELDS} FROM "stay" WHERE ${staff ? `${anyOf('staff_id', staff)} AND ` : ''}${LASTING} AND ${BETWEEN} ` +
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
      `SELECT "staff_id", ${FIELDS} FROM "stay" WHERE ${rooms ? `${anyOf('room', rooms)} AND ` : ''}${LASTING} AND ${BETWEEN}`,
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
      `SELECT "staff_id", ${FIELDS} FROM "stay" WHERE ${anyOf('room', [room])} AND ${LASTING} AND ${BETWEEN} ORDER BY time DESC${atMost(count)}`,
      { ...bound('room', [room]), ...between(fromMs, toMs) }, QUERY_TIMEOUT_MS);
    return (series?.rows ?? []).map(toStayOf);
  }

  return { staysOf, staysInto, everyStay, staysIn };
}

/** @param {'staff_id'|'room'} name @param {string[]} values */
const anyOf = (name, values) => `(${values.map((_, i) => `"${name}" = $${name}${i}`).join(' OR ')})`;
/** @param {'staff_id'|'room'} name @param {string[]} values */
const bound = (name, values) => Object.fromEntries(values.map((value, i) => [`${name}${i}`, value]));

/** @param {any[]} row with the staff member first */
const toStayOf = ([ts, staffId, ...rest]) => toStay(staffId, [ts, ...rest]);

/** @param {string} staffId @param {any[]} row @returns {StoredStay} */
const toStay = (staffId, [, level, room, enterMs, leaveMs]) => ({ staff_id: staffId, level, room, enter_ms: enterMs, leave_ms: leaveMs });

module.exports = { createStays };
