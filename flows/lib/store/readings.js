// @ts-check
'use strict';

const { BETWEEN, atMost, between, time } = require('./influx');

/**
 * Questions about stored readings. A batch is one point of the measurement `batch`. Earlier versions stored each reading as a point
 * of `reading`, with its beacon as a tag; those are read too, until they are past their retention.
 * @typedef {import('../live/batches').Row} Row
 * @typedef {{phones: string[], gateways: boolean}} Only only readings of these phones; of all gateways or of none
 * @typedef {{beacon: string, ts: number, kind: 'gateway'|'phone', receiver: string, rssi: number}} Heard
 */

/** Work in the background has time. */
const BACKGROUND_TIMEOUT_MS = 20_000;
/** Of unfolded rows; a batch has up to 500. */
const PIECE_ROWS = 2000;
const PIECE_BATCHES = 500;

/** @param {import('./index').Influx} influx */
function createReadings(influx) {
  /**
   * All readings of a time, in its order; the next piece is read when `take` is done with the one before.
   * @param {number} fromMs inclusive
   * @param {number} toMs exclusive
   * @param {(rows: Row[]) => Promise<void>} take
   * @param {Only|null} [only]
   */
  async function readings(fromMs, toMs, take, only = null) {
    const ask = (/** @type {string} */ what) => influx.pieces('readings', `SELECT ${what} WHERE ${ofReceivers(only)}${BETWEEN}`,
      { ...receivers(only), ...between(fromMs, toMs) }, { firstMs: BACKGROUND_TIMEOUT_MS, rows: PIECE_BATCHES });
    const batches = unfolded(ask('"readings", "kind", "receiver" FROM "batch"'));
    const single = rowsOf(ask('"rssi", "kind", "receiver", "beacon" FROM "reading"'));
    for await (const rows of merged(batches, single)) await take(rows);
  }

  /**
   * Time of the first reading, epoch ms.
   * @param {number} fromMs @param {number} toMs exclusive @param {Only|null} [only] @returns {Promise<number|null>}
   */
  async function firstReading(fromMs, toMs, only = null) {
    const found = await Promise.all([['readings', 'batch'], ['rssi', 'reading']].map(([field, from]) => influx.query('readings',
      `SELECT first("${field}") FROM "${from}" WHERE ${ofReceivers(only)}${BETWEEN}`,
      { ...receivers(only), ...between(fromMs, toMs) }, BACKGROUND_TIMEOUT_MS)));
    const times = found.flatMap(([series]) => series?.rows[0]?.[0] ?? []);
    return times.length > 0 ? Math.min(...times) : null;
  }

  /**
   * The last reading of each beacon, to the minute.
   * @param {number} fromMs
   * @returns {Promise<Heard[]>}
   */
  async function lastHeard(fromMs) {
    const found = await Promise.all(['heard', 'reading'].map((from) => influx.query('readings',
      `SELECT last("rssi"), "kind", "receiver" FROM "${from}" WHERE time >= $from GROUP BY "beacon"`, { from: time(fromMs) }, BACKGROUND_TIMEOUT_MS)));
    return found.flat().flatMap(({ tags, rows }) =>
      rows.map(([ts, rssi, kind, receiver]) => ({ beacon: tags.beacon ?? '', ts, kind, receiver, rssi })));
  }

  /** Time of the newest probe of the flows that is stored, epoch ms; all readings that came before it are, too. @param {number} fromMs */
  async function newestProbe(fromMs) {
    const series = await influx.query('readings', 'SELECT last("ms") FROM "probe" WHERE time >= $from', { from: time(fromMs) }, BACKGROUND_TIMEOUT_MS);
    return series[0]?.rows[0]?.[1] ?? null;
  }

  return { readings, firstReading, newestProbe, lastHeard };
}

/** @typedef {AsyncGenerator<Row[], void, void>} Rows pieces in ascending time, none of them empty */

/** @param {import('./influx').Pieces} pieces @returns {Rows} */
async function* rowsOf(pieces) {
  for await (const piece of pieces) for (const { rows } of piece) if (rows.length > 0) yield /** @type {any} */ (rows);
}

/** Batches as rows of their readings. @param {import('./influx').Pieces} pieces @returns {Rows} */
async function* unfolded(pieces) {
  /** @type {Row[]} */
  let rows = [];
  for await (const piece of pieces) {
    for (const [ts, text, kind, receiver] of piece.flatMap((series) => series.rows)) {
      for (const [beacon, rssi] of readingsOf(text)) rows.push([ts, rssi, kind, receiver, beacon]);
      if (rows.length < PIECE_ROWS) continue;
      yield rows;
      rows = [];
    }
  }
  if (rows.length > 0) yield rows;
}

/** The text of a batch: `<beacon> <rssi>,<beacon> <rssi>`. @param {string} text @returns {[beacon: string, rssi: number][]} */
function readingsOf(text) {
  if (text === '') return []; // of a person who was deleted
  return text.split(',').map((reading) => {
    const space = reading.indexOf(' ');
    return [reading.slice(0, space), Number(reading.slice(space + 1))];
  });
}

/** Two answers in one order of time. @param {Rows} first @param {Rows} second @returns {Rows} */
async function* merged(first, second) {
  try {
    let [one, other] = await Promise.all([first.next(), second.next()]);
    while (!one.done && !other.done) {
      const ms = Math.min(lastMs(one.value), lastMs(other.value));
      const rows = [...taken(one.value, ms), ...taken(other.value, ms)].sort((a, b) => a[0] - b[0]);
      yield rows;
      if (one.value.length === 0) one = await first.next();
      if (other.value.length === 0) other = await second.next();
    }
    if (!one.done) yield one.value;
    if (!other.done) yield other.value;
    yield* first;
    yield* second;
  } finally {
    await Promise.all([first.return(), second.return()]);
  }
}

/** @param {Row[]} rows */
const lastMs = (rows) => rows.at(-1)?.[0] ?? Infinity;

/** Takes out what is not later. @param {Row[]} rows @param {number} ms */
function taken(rows, ms) {
  const later = rows.findIndex(([ts]) => ts > ms);
  return rows.splice(0, later < 0 ? rows.length : later);
}

/** @param {Only|null} only */
function ofReceivers(only) {
  if (only === null) return '';
  const phones = only.phones.map((_, i) => `"receiver" = $phone${i}`).join(' OR ');
  return `(${[...(only.gateways ? ['"kind" = \'gateway\''] : []), ...(phones ? [`"kind" = 'phone' AND (${phones})`] : [])].join(' OR ')}) AND `;
}

/** @param {Only|null} only */
const receivers = (only) => Object.fromEntries(only?.phones.map((id, i) => [`phone${i}`, id]) ?? []);

/**
 * @typedef {[ts: number, batteryMv: number|null, temperatureC: number|null, humidityPct: number|null]} Point ts: epoch ms
 * @typedef {[ts: number, receiver: string, batteryMv: number|null, temperatureC: number|null, humidityPct: number|null]} RawPoint
 */

const FIELDS = ['battery_mv', 'temperature_c', 'humidity_pct'];
const NAMED = FIELDS.map((name) => `"${name}"`).join(', ');
/** A month of minutes is 44,640 rows. */
const QUERY_TIMEOUT_MS = 3000;

/** @param {import('./index').Influx} influx */
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

/**
 * @typedef {{ts: number, type: string, subject: string, level?: string, room?: string, count?: number, limit?: number,
 *   reason?: string, battery_mv?: number}} StoredEvent
 */

const EVENT_FIELDS = /** @type {const} */ (['level', 'room', 'count', 'limit', 'reason', 'battery_mv']);

/** @param {import('./index').Influx} influx */
function createDevices(influx) {
  /**
   * Figures that a gateway reported of itself.
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

module.exports = { createReadings, createMeasured, createDevices, asStored };
