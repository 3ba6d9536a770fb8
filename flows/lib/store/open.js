// @ts-check
'use strict';

const path = require('node:path');
const { createStateFile } = require('../shared/state-file');
const { createInflux, StoreUnavailable } = require('./influx');
const { createReplicas } = require('./replicas');
const { createStore } = require('./index');
const { createStoreGuard } = require('./store-guard');

/**
 * The one or two databases that are configured. With one, nothing of `replicas` is there.
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
 * What the databases that are up have, or that which is read from.
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
 * What both databases have, where none of them is away or lacks anything.
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

module.exports = { openStores, unionOfStores, unionIfBothUp };
