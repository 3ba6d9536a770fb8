// @ts-check
'use strict';

const { atMost, between, BETWEEN } = require('./influxql');

/**
 * @typedef {{ts: number, type: string, subject: string, level?: string, room?: string, count?: number, limit?: number,
 *   reason?: string, battery_mv?: number}} StoredEvent
 */

const EVENT_FIELDS = /** @type {const} */ (['level', 'room', 'count', 'limit', 'reason', 'battery_mv']);
const QUERY_TIMEOUT_MS = 3000;

/** @param {import('.').Influx} influx */
function createDevices(influx) {
  /**
   * What a gateway reported of itself.
   * @param {string} gateway @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<({ts: number} & Record<string, number|string>)[]>} ascending; what was not reported is left out
   */
  async function figuresOf(gateway, fromMs, toMs, count) {
    const [series] = await influx.query('health',
      `SELECT * FROM "gateway_health" WHERE "gateway" = $gateway AND ${BETWEEN} ORDER BY time ASC${atMost(count)}`,
      { gateway, ...between(fromMs, toMs) });
    return (series?.rows ?? []).map((row) => {
      const reported = series?.columns.map((name, i) => [name === 'time' ? 'ts' : name, row[i]]) ?? [];
      return Object.fromEntries(reported.filter(([name, value]) => value !== null && name !== 'gateway'));
    });
  }

  /**
   * When a gateway came and went.
   * @param {string} gateway @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<{ts: number, state: string, version: string|null}[]>} ascending
   */
  async function statusesOf(gateway, fromMs, toMs, count) {
    const [series] = await influx.query('health',
      `SELECT "state", "version" FROM "gateway_status" WHERE "gateway" = $gateway AND ${BETWEEN} ORDER BY time ASC${atMost(count)}`,
      { gateway, ...between(fromMs, toMs) });
    return (series?.rows ?? []).map(([ts, state, version]) => ({ ts, state, version }));
  }

  /**
   * @param {{type?: string, subject?: string}} only
   * @param {number} fromMs @param {number} toMs exclusive @param {number} count
   * @returns {Promise<StoredEvent[]>} newest first
   */
  async function events(only, fromMs, toMs, count) {
    const named = Object.entries(only).filter(([, value]) => value !== undefined);
    const where = named.map(([name]) => `"${name}" = $${name} AND `).join('');
    const [series] = await influx.query('locations',
      `SELECT "type", "subject", ${fields()} FROM "event" WHERE ${where}${BETWEEN} ORDER BY time DESC${atMost(count)}`,
      { ...Object.fromEntries(named), ...between(fromMs, toMs) }, QUERY_TIMEOUT_MS);
    return (series?.rows ?? []).map(toEvent);
  }

  return { figuresOf, statusesOf, events };
}

const fields = () => EVENT_FIELDS.map((name) => `"${name}"`).join(', ');

/** @param {any[]} row @returns {StoredEvent} without what it does not have */
const toEvent = ([ts, type, subject, ...rest]) => ({
  ts, type, subject, ...Object.fromEntries(EVENT_FIELDS.map((name, i) => [name, rest[i]]).filter(([, value]) => value !== null)),
});

/** An event that was published, as it comes back from the database. @param {any} event with its subject @returns {StoredEvent} */
const asStored = (event) => toEvent([event.ts, event.type, event.subject, ...EVENT_FIELDS.map((name) => event[name] ?? null)]);

module.exports = { createDevices, asStored };
