// @ts-check
'use strict';

const fs = require('node:fs');
const { replaceFile } = require('../shared/whole-file');
const { createAlertList } = require('./alert-list');
const { KINDS } = require('./kinds');

/**
 * The alerts of a site, persisted in a small file, so that acknowledgements survive a restart.
 * @typedef {import('./alert-list').Alert} Alert
 * @typedef {ReturnType<typeof createAlerts>} Alerts
 * @param {object} options
 * @param {import('../site').Site} options.site
 * @param {(nowMs: number) => Record<string, import('../health').Part>} options.parts parts of /health; a missing part counts as up
 * @param {() => import('./kinds').Certificate[]} [options.certificates] certificates of our servers
 * @param {string} options.file
 * @param {() => number} options.clock epoch ms
 * @param {(text: string) => void} options.warn
 */
function createAlerts({ site, parts, certificates = () => [], file, clock, warn }) {
  const list = createAlertList(KINDS, site.startedMs, load(file, warn), (alert, nowMs) => {
    const event = eventOf(alert, site, nowMs);
    if (event) site.live.publishEvents([event], nowMs);
  });
  let savedVersion = list.version();
  let watchedMs = site.startedMs;
  /** @type {Promise<void>} */
  let saving = Promise.resolve();
  let warned = '';

  /** Saves the alerts if they changed. @returns {Promise<void>} */
  function save() {
    saving = saving.catch(() => {}).then(async () => {
      const version = list.version();
      if (version === savedVersion) return;
      await replaceFile(file, `${JSON.stringify({ v: 1, alerts: list.list() })}\n`, 0o600);
      savedVersion = version;
    });
    return saving;
  }

  /** Raises and ends alerts and saves them; called every second or two. @param {number} nowMs @returns {Promise<void>} */
  function evaluate(nowMs) {
    const connected = site.connected();
    if (!connected) watchedMs = nowMs;
    const { ingest = UP, live = UP, clock: ownClock = UP, losses = UP } = parts(nowMs);
    list.evaluate({
      building: site.building(), gateways: site.devices.gateways, beacons: site.devices.beacons, refusals: site.live.refusals,
      takeovers: site.devices.takeovers, clocks: site.clocks, presences: site.live.presences(),
      published: site.live.published.recent(nowMs), isGone: (id) => site.live.published.isGone(id),
      connected, watchedMs, ingest, live, clock: ownClock, losses, certificates: certificates(),
    }, nowMs);
    return save().then(() => { warned = ''; }, (error) => {
      if (error.message !== warned) warn(`${file}: the alerts will not survive a restart: ${error.message}`);
      warned = error.message;
    });
  }

  /**
   * @param {string} id @param {string} by
   * @returns {Promise<Alert|null>} when it is saved; null: there is no such alert
   */
  async function acknowledge(id, by) {
    const alert = list.acknowledge(id, by, clock());
    if (alert) await save();
    return alert;
  }

  /**
   * @param {string} kind @param {string} by
   * @param {{state?: import('./alert-list').State, untilMs?: number}} [seen] what somebody has seen; all unless it says
   * @returns {Promise<number|null>} how many, when they are saved; null: no such kind
   */
  async function acknowledgeAll(kind, by, seen) {
    const count = list.acknowledgeAll(kind, by, clock(), seen);
    if (count) await save();
    return count;
  }

  const { list: all, groups, open, dropped, version: versionOf } = list;
  return { evaluate, acknowledge, acknowledgeAll, list: all, groups, open, dropped, version: versionOf };
}

/** @type {import('../health').Part} */
const UP = { status: 'up' };

/** @param {string} file @param {(text: string) => void} warn @returns {Alert[]} */
function load(file, warn) {
  try {
    const { alerts } = JSON.parse(fs.readFileSync(file, 'utf8'));
    return alerts.filter((/** @type {any} */ { id, kind, subject, since }) => id === `${kind}:${subject}` && Number.isFinite(since))
      .flatMap(fromOlder);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') warn(`${file} cannot be read, the list of alerts starts empty: ${error}`);
    return [];
  }
}

/**
 * An alert of an older file: one could stand for many people, and `changed_ms` was missing.
 * @param {Alert & {subjects?: string[]}} alert @returns {Alert[]}
 */
function fromOlder({ subjects = [], ...alert }) {
  const dated = { ...alert, changed_ms: alert.changed_ms ?? alert.ended_ms ?? alert.raised_ms };
  if (subjects.length === 0) return [dated];
  return subjects.map((id) => ({ ...dated, id: `${alert.kind}:${id}`, subject: id, text: `SDA ${id} is not heard any more.` }));
}

/**
 * Events of alerts, for subscribers that do not read the list of alerts: gateways down and up again, batteries low and
 * replaced. Events of crowded rooms and lost people come from the parts that detect them.
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

module.exports = { createAlerts };
