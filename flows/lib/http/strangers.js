// @ts-check
'use strict';

/**
 * `/api/v1/strangers`: what was heard that nobody registered.
 * @param {{site: import('../site').Site, clock: () => number}} context
 */
function listStrangers({ site, clock }) {
  const nowMs = clock();
  const beacons = site.devices.beacons.unregistered().map(({ beacon, first_ms, heard_ms, kind, receiver, rssi, count }) => (
    { beacon, first_ms, heard_ms, kind, receiver, rssi, count }));
  const gateways = site.devices.gateways.unlisted().map((gateway) => {
    const { state = 'unknown', since = null, reading_ms = null } = site.devices.gateways.of(gateway, nowMs) ?? {};
    return { gateway, state, since, reading_ms };
  });
  return { beacons, gateways };
}

module.exports = { listStrangers };
