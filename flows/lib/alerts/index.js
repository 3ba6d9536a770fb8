// @ts-check
'use strict';

const fs = require('node:fs');
const { replaceFile } = require('../shared/whole-file');
const { createAlertList } = require('./alert-list');
const { eventOf } = require('./events');
const { KINDS } = require('./kinds');

/**
 * The alerts of a site, persisted in a small file, so that acknowledgements survive a restart.
 * @typedef {import('./alert-list').Alert} Alert
 * @typedef {ReturnType<typeof createAlerts>} Alerts
 * @param {object} options
 * @param {import('../site').Site} options.site
 * @param {(nowMs: number) => Record<string, import('../health').Part>} options.parts parts of /health; a missing part counts as up
 * @param {() => import('./kinds/certificate').Certificate[]} [options.certificates] certificates of our servers
 * @param {string} options.file
 * @param {() => number} options.clock epoch ms
 * @param {(text: string) => void} options.warn
 */
function createAlerts({ site, parts, certificates = () => [], file, clock, warn }) {
  const list = createAlertList(KINDS, site.startedMs, load(file, warn), (alert, nowMs) => {
    const event = eventOf(alert, site, nowMs);
    if (event) site.publishEvent(event, nowMs);
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
      building: site.building(), gateways: site.gateways, beacons: site.beacons, refusals: site.refusals,
      takeovers: site.takeovers, clocks: site.clocks,
      presences: site.presences(), published: site.publishedPresences.recent(nowMs), isGone: site.publishedPresences.isGone,
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
   * @param {{state?: import('./groups').State, untilMs?: number}} [seen] what somebody has seen; all unless it says
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

module.exports = { createAlerts };
