// @ts-check
'use strict';

const path = require('node:path');
const { createStateFile } = require('../shared/state-file');
const { StoreUnavailable, createInflux, time } = require('./influx');
const { createLocations, createStays } = require('./people');
const { createDevices, createMeasured, createReadings } = require('./readings');
const { createReplicas } = require('./replicas');
const { StoreBusy, createStoreGuard } = require('./store-guard');

/**
 * Opens the one or two databases that are configured. With one, nothing of `replicas` is there.
 * @typedef {ReturnType<typeof openStores>} Stores
 * @param {Pick<import('../config').Config, 'influxUrl'|'influxToken'|'secondStore'|'userDir'>} config
 * @param {{clock: () => number, warn: (text: string) => void, log: (text: string) => void}} deps
 */
function openStores({ influxUrl, influxToken, secondStore, userDir }, { clock, warn, log }) {
  const first = openOne(influxUrl, influxToken);
  if (!secondStore) return { ...first, each: [first], replicas: null, close: first.influx.close };
  const second = openOne(secondStore.influxUrl, secondStore.influxToken);
  const replicas = createReplicas([memberOf(first), memberOf(second)],
    { clock, log, stateFile: createStateFile(path.join(userDir, 'stores.json'), warn) });
  return {
    guard: replicas,
    store: {
      ...createStore(replicas), newestHeartbeat: replicas.newestHeartbeat,
      /** Of both, since what is wrong in one of them only is to be corrected as well. @type {typeof first.store.stays} */
      stays: (...question) => unionOfStores(replicas, [first, second].map(({ store }) => () => store.stays(...question))),
      /** Of both, since the other may be read from next. @type {typeof first.store.staffIds} */
      staffIds: () => unionIfBothUp(replicas, [first, second].map(({ store }) => store.staffIds)),
    },
    each: [first, second],
    replicas,
    close() {
      first.influx.close();
      second.influx.close();
    },
  };
}

/**
 * Answers of the databases that are up, or of that which is read from.
 * @template T
 * @param {Pick<import('./replicas').Replicas, 'current'|'stateOf'>} replicas @param {(() => Promise<T[]>)[]} questions
 * @returns {Promise<T[]>} what both have in the same form comes once
 */
async function unionOfStores({ current, stateOf }, questions) {
  const asked = questions.filter((_, index) => index === current() || stateOf(index).status === 'up');
  const answers = await Promise.all(asked.map((ask) => ask()));
  return [...new Map(answers.flat().map((one) => [JSON.stringify(one), one])).values()];
}

/**
 * Answers of both databases, where none of them is away or lacks anything.
 * @type {typeof unionOfStores}
 * @throws {StoreUnavailable}
 */
async function unionIfBothUp(replicas, questions) {
  const index = [0, 1].find((one) => replicas.stateOf(one).status !== 'up');
  if (index !== undefined) throw new StoreUnavailable(`store ${index + 1}: ${replicas.stateOf(index).reason}`);
  return unionOfStores(replicas, questions);
}

/** @param {string} url @param {string} token */
function openOne(url, token) {
  const influx = createInflux({ url, token });
  const guard = createStoreGuard(influx);
  return { influx, guard, store: createStore(guard), query: guard.query, metrics: influx.metrics };
}

/** @param {ReturnType<typeof openOne>} one @returns {import('./replicas').Member} */
const memberOf = ({ guard, store }) => ({ guard, newestHeartbeat: store.newestHeartbeat });

/** Work in the background has time. */
const BACKGROUND_TIMEOUT_MS = 20_000;

/**
 * Every question that the flows ask the database: everything bound, windows of `/api/v1` half-open and with at most `count` rows.
 * @typedef {ReturnType<typeof createStore>} Store
 * @typedef {Pick<import('./store-guard').StoreGuard, 'query'|'pieces'>} Influx
 * @typedef {import('./people').Sighting} Sighting
 * @typedef {import('./people').StaffLocations} StaffLocations
 * @typedef {import('./readings').Only} Only
 * @param {Influx & Pick<import('./store-guard').StoreGuard, 'probe'>} influx
 */
function createStore(influx) {
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

  /**
   * States that gateways reported since a time, and the last of each before it.
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

  return {
    newestHeartbeat, settledMs, gatewayStates,
    ...createLocations(influx), ...createStays(influx), ...createReadings(influx), ...createDevices(influx), ...createMeasured(influx),
  };
}

module.exports = { openStores, unionOfStores, unionIfBothUp, createInflux, createStore, createStoreGuard, StoreUnavailable, StoreBusy };
