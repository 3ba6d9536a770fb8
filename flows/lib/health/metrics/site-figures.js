// @ts-check
'use strict';

/**
 * Figures of a site: messages in, results, queues and losses.
 * @typedef {import('./figures').Figure} Figure
 */

/** @type {Record<string, string>} */
const COUNTERS = {
  messages: 'Messages of readings that came from the broker',
  readings: 'Readings in them that were taken',
  unregistered: 'Readings of beacons that the building file does not list, which are dropped',
  locations: 'Locations that were found and published',
  late: 'Locations of a time that was over already, and new for it',
  late_known: 'Locations of a time that was over already, and was published before',
  stays: 'Stays that were published',
  events: 'Events that were published',
};

const LAG = 'From the reading by which somebody was located (where several were gathered: the beginning of their second) to the publication';

/** @param {import('../../site').Site} site @param {() => number} clock @returns {Figure[]} */
function siteFigures(site, clock) {
  const states = () => {
    const counts = { present: 0, stale: 0, lost: 0 };
    for (const { state } of site.live.presences()) counts[state] += 1;
    return counts;
  };
  const outbox = () => site.broker.outbox.counters();
  return [
    ...Object.entries(COUNTERS).map(([name, help]) => /** @type {Figure} */ ({
      name, help, kind: 'counter', read: () => /** @type {any} */ (site.live.counters())[name],
    })),
    { name: 'inbox_waiting', kind: 'gauge', help: 'Messages of readings that have come and wait to be checked', read: () => site.live.unchecked() },
    { name: 'refused', kind: 'counter', label: 'reason', flat: 'sum', help: 'Readings that were refused', read: () => site.live.refusals.byReason() },
    { name: 'staff', kind: 'gauge', label: 'state', help: 'People by state', read: states },
    { name: 'gateways', kind: 'gauge', label: 'state', help: 'Gateways of the building file by state', read: () => gatewaysBy(site, clock()) },
    { name: 'gateway_messages_refused', kind: 'counter', help: 'Messages about the state or health of gateways that were none',
      read: site.devices.gateways.refused },
    { name: 'session_takeovers', kind: 'counter', help: "Sessions at the broker that one connection took from another: two devices with one account, "
      + 'or one that lost its connection unnoticed', read: site.devices.takeovers.total },
    { name: 'gateway_dropped', kind: 'counter', label: 'reason', flat: 'sum', help: 'Readings that gateways had collected and lost, as they report',
      read: site.devices.gateways.lost },
    { name: 'outbox_waiting', kind: 'gauge', help: 'Messages to the broker that wait or are on their way',
      read: () => outbox().waiting + outbox().in_flight },
    { name: 'outbox_dropped', kind: 'counter', help: 'Messages to the broker that were lost because too many waited', read: () => outbox().dropped },
    { name: 'outbox_resent', kind: 'counter', help: 'Messages that were sent again because the broker did not acknowledge them',
      read: () => outbox().resent },
    { name: 'outbox_replayed', kind: 'counter', help: 'Messages that were published again after a reconnect, since a killed broker forgets the latest',
      read: () => outbox().replayed },
    { name: 'live_lag_p50_ms', kind: 'gauge', help: `${LAG}, median of the last interval`, read: () => site.live.lag.read().p50_ms },
    { name: 'live_lag_p99_ms', kind: 'gauge', help: `${LAG}, 99th percentile`, read: () => site.live.lag.read().p99_ms },
    { name: 'live_lag_max_ms', kind: 'gauge', help: `${LAG}, largest`, read: () => site.live.lag.read().max_ms },
  ];
}

/** @param {import('../../site').Site} site @param {number} nowMs */
function gatewaysBy(site, nowMs) {
  /** @type {Record<string, number>} */
  const counts = { online: 0, offline: 0, silent: 0, unknown: 0 };
  for (const id of site.building().gateways.keys()) {
    const state = site.devices.gateways.of(id, nowMs)?.state ?? 'unknown';
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

module.exports = { siteFigures };
