// @ts-check
'use strict';

const fs = require('node:fs');
const { replaceFile } = require('../shared/whole-file');
const { createBook } = require('./book');
const { eventOf } = require('./events');
const { KINDS } = require('./kinds');

/**
 * The alerts of a site, kept in a small file: what was acknowledged stays so over a restart.
 * @typedef {import('./book').Alert} Alert
 * @typedef {ReturnType<typeof createAlerts>} Alerts
 * @param {object} means
 * @param {import('../site').Site} means.site
 * @param {(nowMs: number) => Record<string, import('../health').Part>} means.parts of health; those that are not there are up
 * @param {() => import('./kinds/certificate').Certificate[]} [means.certificates] that are shown to others
 * @param {string} means.file
 * @param {() => number} means.clock
 * @param {(text: string) => void} means.warn
 */
function createAlerts({ site, parts, certificates = () => [], file, clock, warn }) {
  const book = createBook(KINDS, site.startedMs, load(file, warn), (alert, nowMs) => {
    const event = eventOf(alert, site, nowMs);
    if (event) site.publishEvent(event, nowMs);
  });
  let savedVersion = book.version();
  let watchedMs = site.startedMs;
  /** @type {Promise<void>} */
  let saving = Promise.resolve();
  let warned = '';

  /** Write down what there is, if that is new. @returns {Promise<void>} */
  function save() {
    saving = saving.catch(() => {}).then(async () => {
      const version = book.version();
      if (version === savedVersion) return;
      await replaceFile(file, `${JSON.stringify({ v: 1, alerts: book.list() }, null, 1)}\n`, 0o600);
      savedVersion = version;
    });
    return saving;
  }

  /** Every second or two. @param {number} nowMs */
  function look(nowMs) {
    const connected = site.outbox.connected();
    if (!connected) watchedMs = nowMs;
    const { ingest = UP, clock: ownClock = UP, losses = UP } = parts(nowMs);
    book.look({
      building: site.building(), gateways: site.gateways, beacons: site.beacons, refusals: site.refusals, presences: site.presences(),
      connected, watchedMs, ingest, clock: ownClock, losses, certificates: certificates(),
    }, nowMs);
    return save().then(() => { warned = ''; }, (error) => {
      if (error.message !== warned) warn(`${file}: the alerts are not kept over a restart: ${error.message}`);
      warned = error.message;
    });
  }

  /**
   * @param {string} id @param {string} by
   * @returns {Promise<Alert|null>} null: there is none; else it is kept
   */
  async function acknowledge(id, by) {
    const alert = book.acknowledge(id, by, clock());
    if (alert) await save();
    return alert;
  }

  /** @param {string} kind @param {string} by @returns {Promise<number|null>} how many, which are kept; null: no such kind */
  async function acknowledgeAll(kind, by) {
    const count = book.acknowledgeAll(kind, by, clock());
    if (count) await save();
    return count;
  }

  return { look, acknowledge, acknowledgeAll, list: book.list, open: book.open, dropped: book.dropped, version: book.version };
}

/** @type {import('../health').Part} */
const UP = { status: 'up' };

/** @param {string} file @param {(text: string) => void} warn @returns {Alert[]} */
function load(file, warn) {
  try {
    const { alerts } = JSON.parse(fs.readFileSync(file, 'utf8'));
    return alerts.filter((/** @type {any} */ { id, kind, subject, since }) => id === `${kind}:${subject}` && Number.isFinite(since))
      .map((/** @type {Alert} */ alert) => ({ ...alert, subjects: alert.subjects ?? [] })); // there were none before
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') warn(`${file} is not read, all alerts begin anew: ${error}`);
    return [];
  }
}

module.exports = { createAlerts };
