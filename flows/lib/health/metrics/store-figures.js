// @ts-check
'use strict';

/**
 * Figures of queries to the database and of the history in memory.
 * @typedef {import('./figures').Figure} Figure
 * @param {{storeGuard: Pick<import('../../store/store-guard').StoreGuard, 'counters'>, history: Pick<import('../../past/history').History,
 *   'counters'>}} options
 * @returns {Figure[]}
 */
function storeFigures({ storeGuard, history }) {
  const counters = () => storeGuard.counters();
  return [
    { name: 'store_questions', kind: 'counter', help: 'Queries to InfluxDB for callers', read: () => counters().asked },
    { name: 'store_refused', kind: 'counter', label: 'reason', flat: 'sum', help: 'Queries that got no answer: too many at once (busy), '
      + 'InfluxDB was known to be away (away), or it failed (failed)',
    read: () => ({ busy: counters().busy, away: counters().broken, failed: counters().failed }) },
    { name: 'store_breaker_open', kind: 'gauge', help: '1: InfluxDB counts as away, only the heartbeat queries it', read: () => counters().open },
    { name: 'store_asking', kind: 'gauge', help: 'Queries that InfluxDB works on', read: () => counters().asking },
    { name: 'store_waiting', kind: 'gauge', help: 'Queries that wait for one of these to end', read: () => counters().waiting },
    { name: 'history_people', kind: 'gauge', help: 'People whose last minutes are in memory', read: () => history.counters().people },
    { name: 'history_pages', kind: 'gauge', help: 'Pages of 384 bytes that these take', read: () => history.counters().pages },
    { name: 'history_left_out', kind: 'counter', help: 'Locations that had no room in memory, which are queried from the database',
      read: () => history.counters().left_out },
  ];
}

module.exports = { storeFigures };
