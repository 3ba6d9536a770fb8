// @ts-check
'use strict';

/**
 * Who may ask, as one entry: what a request passes, in the order of docs/access.md. Nothing outside this folder loads its files
 * one by one, but for the command `make key`, which needs the keys alone.
 */

const path = require('node:path');
const { createHttpFigures, createPrometheus } = require('../health/figures');
const { accessFigures } = require('../health/own-figures');
const { createUnlisted } = require('../live/unlisted');
const { createAudit } = require('./audit');
const { readAudit, size } = require('./audit-read');
const { createClients, createHosts, createTrust, DIRECT, isLoopback } = require('./clients');
const { auditWritten, callerOf, createAccess, lookUpOf, ON_BEHALF_OF, openToAll, requireLogin, sameSecret } = require('./guard');
const { ENV_NAME, FILE, KeyError, KeyFileError, NameTaken, RIGHTS, createKeyReader, createKeys, parseExpiry, readKeys } = require('./keys');
const { createAttempts, createLimits, watchPressure } = require('./limits');
const { createLogin, createSessions } = require('./sessions');

/**
 * Makes keys, limits, the audit log, the measure of pressure, and the list of people without an entry in the building file, with their
 * parts of /health and their figures.
 * @typedef {import('./keys').KeyRecord} KeyRecord
 * @param {{userDir: string, ratePerS: number, trustedRatePerS: number}} config
 * @param {{figures: import('../health/figures').Figures, health: Pick<import('../health').Health, 'addPart'>,
 *   site: import('../site').Site, hosts: Pick<import('./clients').Hosts, 'refused'>, version: string,
 *   clock: () => number, logger: {log: (text: string) => void, warn: (text: string) => void}}} deps
 */
function createGuards(config, { site, figures, health, hosts, version, clock, logger }) {
  const audit = createAudit({ folder: path.join(config.userDir, 'audit'), clock, warn: logger.warn });
  const keys = createKeys({ file: path.join(config.userDir, FILE), clock, logger, changed: byHand });
  const limits = createLimits(config);
  const unlisted = createUnlisted({ file: path.join(config.userDir, 'unlisted.json'), site, clock, warn: logger.warn });
  const prometheus = createPrometheus(figures, version);
  const http = createHttpFigures(prometheus.latencies);
  const pressure = watchPressure();
  const takenOff = [figures.add(http.figures, http.roll), figures.add(accessFigures({ audit, limits, keys, hosts })),
    figures.add(pressure.figures), figures.add(unlisted.figures)];
  health.addPart('keys', keys.part);
  health.addPart('audit', audit.part);

  /** `make key` has changed them. @param {KeyRecord[]} added @param {KeyRecord[]} gone */
  function byHand(added, gone) {
    for (const { name, id, rights } of added) audit.adminAction('key_added', null, `${name} (${id}): ${rights.join(', ')}`);
    for (const { name, id } of gone) audit.adminAction('key_revoked', null, `${name} (${id})`);
  }

  return {
    guards: { keys, limits, audit, unlisted, pressure, metrics: { ...prometheus, watch: http.watch } },
    /** About once a second. */
    tick() {
      keys.follow();
      audit.tick();
      unlisted.tick();
    },
    /** @returns {Promise<void>} when all that was gathered is written */
    async close() {
      for (const takeOff of takenOff) takeOff();
      pressure.stop();
      await Promise.all([audit.close(), unlisted.close()]);
    },
  };
}

module.exports = {
  // 1. host names that are answered; 5. from which address a request comes, and 6. whether that address needs no key
  createHosts, createClients, createTrust, DIRECT, isLoopback,
  // 6. keys, and the login of people
  createKeys, createKeyReader, readKeys, parseExpiry, KeyError, KeyFileError, NameTaken, ENV_NAME, KEY_FILE: FILE,
  createSessions, createAttempts, createLogin, sameSecret,
  // 8. rights, and the guard that each route begins with
  RIGHTS, createAccess, openToAll, requireLogin, callerOf, lookUpOf, auditWritten, ON_BEHALF_OF,
  // 11. who looked up whose history: reading it back
  readAudit, sizeOfSubjects: size,
  // 4., 6., 7. and 11. together
  createGuards,
};
