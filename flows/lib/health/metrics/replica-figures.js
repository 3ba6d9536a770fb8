// @ts-check
'use strict';

const { createSpool } = require('../spool');
const { createParts } = require('./parts');

/**
 * Figures of a second database: which one is read from, and those of its own Telegraf, spool and InfluxDB under `replica_…`.
 * @typedef {import('./figures').Figure} Figure
 */

const OF_ITS_OWN = ['memory_bytes', 'ingest_waiting', 'ingest_dropped', 'stored_batches', 'spool_waiting_bytes', 'spool_dropped'];

/**
 * @param {object} second
 * @param {import('../../store/replicas').Replicas} second.replicas
 * @param {Pick<import('../../store/influx').Influx, 'query'|'metrics'>} second.opened
 * @param {string} second.url of its spool
 * @param {() => number} second.clock
 */
function createSecondStore({ replicas, opened, url, clock }) {
  const spool = createSpool({ url, clock });
  const parts = createParts({ ...opened, connected: () => false, clock });
  const own = [...parts.figures, ...spool.figures].filter(({ name }) => OF_ITS_OWN.includes(name));
  /** @param {(index: number) => number} read @returns {Record<string, number>} by the store's number */
  const ofEach = (read) => ({ 1: read(0), 2: read(1) });
  /** @type {Figure[]} */
  const figures = [
    { name: 'store_read_from', kind: 'gauge', label: 'store', help: '1: the flows read from this InfluxDB',
      read: () => ofEach((index) => Number(replicas.current() === index)) },
    { name: 'store_up', kind: 'gauge', label: 'store', help: '1: this InfluxDB answers, has all of the past and is not behind the other one',
      read: () => ofEach((index) => Number(replicas.stateOf(index).status === 'up')) },
    { name: 'store_lacking_hours', kind: 'gauge', label: 'store', help: 'Hours of the past that the other InfluxDB has and this one has not',
      read: () => ofEach((index) => replicas.stateOf(index).lacking_hours) },
    { name: 'store_switches', kind: 'counter', help: 'How often the flows went over to the other InfluxDB', read: replicas.switches },
    ...own.map((figure) => ({ ...figure, name: `replica_${figure.name}`, help: `Of the second store: ${figure.help}` })),
  ];

  return {
    figures,
    /** Of its spool; null: not known at the moment. */
    status: spool.status,
    waitedMs: spool.waitedMs,
    silentMs: spool.silentMs,
    /** Reads that of its spool; called every second. */
    pollSpool: spool.poll,
    /** Reads its figures; called every few seconds. */
    poll: parts.poll,
  };
}

module.exports = { createSecondStore };
