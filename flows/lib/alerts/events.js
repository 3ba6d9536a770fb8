// @ts-check
'use strict';

/**
 * Events of alerts, for subscribers that do not read the list of alerts: gateways down and up again, batteries low and
 * replaced. Events of crowded rooms and lost people come from the parts that detect them.
 * @typedef {import('./alert-list').Alert} Alert
 * @typedef {{ts: number, type: string, gateway?: string, beacon?: string, staff_id?: string, level?: string, room?: string,
 *   reason?: string, battery_mv?: number}} AlertEvent ts: epoch ms by our clock, when it was noticed
 * @param {Alert} alert raised just now, or ended
 * @param {Pick<import('../site').Site, 'building'|'devices'>} site
 * @param {number} nowMs
 * @returns {AlertEvent|null} null: this alert has no event
 */
function eventOf({ kind, subject, ended_ms: ended }, site, nowMs) {
  const building = site.building();
  if (kind === 'gateway_down') {
    const gateway = building.gateways.get(subject);
    if (!gateway) return null; // it left the building, which does not mean that it is up
    const { state } = site.devices.gateways.of(subject, nowMs) ?? {};
    return { ts: nowMs, type: ended === null ? 'gateway_down' : 'gateway_up', gateway: subject, level: gateway.level, room: gateway.room, reason: state };
  }
  const mv = site.devices.beacons.of(subject)?.battery_mv ?? null;
  if (kind !== 'battery_low' || mv === null || !building.isRegistered(subject)) return null;
  const { level, room } = building.beacons.get(subject) ?? {};
  const staffId = building.tagOwner.get(subject);
  const owner = staffId === undefined ? { level, room } : { staff_id: staffId };
  return { ts: nowMs, type: ended === null ? 'battery_low' : 'battery_ok', beacon: subject, ...owner, battery_mv: mv };
}

module.exports = { eventOf };
