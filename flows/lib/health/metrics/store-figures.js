// @ts-check
'use strict';

/**
 * What is asked of memory and of the database, and what was refused because too much was.
 * @typedef {import('./figures').Figure} Figure
 * @param {{storeGuard: Pick<import('../../store/store-guard').StoreGuard, 'counters'>, history: Pick<import('../../history').History,
 *   'counters'>}} means
 * @returns {Figure[]}
 */
function storeFigures({ storeGuard, history }) {
  const asked = () => storeGuard.counters();
  return [
    { name: 'store_questions', kind: 'counter', help: 'Questions to InfluxDB for callers', read: () => asked().asked },
    { name: 'store_refused', kind: 'counter', label: 'reason', flat: 'sum', help: 'Questions that got no answer: too many asked at once (busy), '
      + 'InfluxDB was known to be away (away), or it failed (failed)',
    read: () => ({ busy: asked().busy, away: asked().broken, failed: asked().failed }) },
    { name: 'store_breaker_open', kind: 'gauge', help: '1: InfluxDB counts as away, only the heartbeat asks it', read: () => asked().open },
    { name: 'store_asking', kind: 'gauge', help: 'Questions that InfluxDB works on', read: () => asked().asking },
    { name: 'store_waiting', kind: 'gauge', help: 'Questions that wait for one of these to end', read: () => asked().waiting },
    { name: 'history_people', kind: 'gauge', help: 'People whose last minutes are in memory', read: () => history.counters().people },
    { name: 'history_pages', kind: 'gauge', help: 'Pages of 384 bytes that these take', read: () => history.counters().pages },
    { name: 'history_left_out', kind: 'counter', help: 'Locations that had no room in memory, for which the database is asked',
      read: () => history.counters().left_out },
  ];
}

module.exports = { storeFigures };
