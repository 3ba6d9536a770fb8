// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { createDays } = require('./days');
const { encode, MINUTE_MS } = require('./day');

/**
 * Telemetry of beacons by minute or hour, as text of points.
 * @typedef {import('../../store/telemetry').Point} Point
 * @typedef {{texts: Buffer[], lastMs: number|null, digest: string}} Found texts: points with a comma before each; lastMs: time of
 *   the last point where more follow, else null; digest: the same for the same points
 */

const HOUR_MS = 60 * MINUTE_MS;

/**
 * @param {Pick<import('../../store').Store, 'minutes'|'freshMinutes'>} store
 * @param {() => number} clock
 */
function createTelemetry(store, clock) {
  const days = createDays(store, clock);

  /**
   * Minutes that start in [fromMs, toMs).
   * @param {string} beacon @param {number} fromMs @param {number} toMs exclusive @param {number} limit
   * @returns {Promise<Found>}
   */
  async function minutes(beacon, fromMs, toMs, limit) {
    /** @type {Buffer[]} */
    const texts = [];
    const digest = createHash('sha1');
    let [left, lastMs] = [limit, 0];
    for (const day of fromMs < toMs ? await days.between(beacon, fromMs, toMs) : []) {
      const [from, end] = [day.indexFrom(fromMs), day.indexFrom(toMs)];
      const to = Math.min(end, from + left);
      if (to > from) {
        texts.push(day.slice(from, to));
        digest.update(/** @type {Buffer} */ (texts.at(-1)));
        lastMs = day.msAt(to - 1);
        left -= to - from;
      }
      if (end > to) return { texts, lastMs, digest: digest.digest('base64url') };
    }
    return { texts, lastMs: null, digest: digest.digest('base64url') };
  }

  /**
   * Complete hours that start in [fromMs, toMs), each the mean of its minutes.
   * @param {string} beacon @param {number} fromMs @param {number} toMs exclusive @param {number} limit
   * @returns {Promise<Found>}
   */
  async function hours(beacon, fromMs, toMs, limit) {
    const firstMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
    const endMs = Math.min(Math.ceil(toMs / HOUR_MS), Math.floor(clock() / HOUR_MS)) * HOUR_MS;
    /** @type {Map<number, {sums: number[], counts: number[]}>} */
    const byHour = new Map();
    for (const day of firstMs < endMs ? await days.between(beacon, firstMs, endMs) : []) {
      for (const [ts, ...values] of day.points(day.indexFrom(firstMs), day.indexFrom(endMs))) {
        add(byHour, Math.floor(ts / HOUR_MS) * HOUR_MS, values);
      }
    }
    const points = [...byHour].map(([ts, { sums, counts }]) => [ts, ...sums.map((sum, i) => (counts[i] ? sum / counts[i] : null))]);
    const text = Buffer.from(points.slice(0, limit).map((point) => `,${encode(point)}`).join(''));
    const lastMs = points.length > limit ? /** @type {number} */ (points[limit - 1]?.[0]) : null;
    return { texts: [text], lastMs, digest: createHash('sha1').update(text).digest('base64url') };
  }

  return { minutes, hours, bytes: days.bytes };
}

/** @param {Map<number, {sums: number[], counts: number[]}>} byHour @param {number} ts @param {(number|null)[]} values */
function add(byHour, ts, values) {
  let hour = byHour.get(ts);
  if (!hour) byHour.set(ts, hour = { sums: [0, 0, 0], counts: [0, 0, 0] });
  const { sums, counts } = hour;
  values.forEach((value, i) => {
    if (value === null) return;
    sums[i] = (sums[i] ?? 0) + value;
    counts[i] = (counts[i] ?? 0) + 1;
  });
}

module.exports = { createTelemetry };
