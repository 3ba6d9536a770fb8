// @ts-check
'use strict';

const path = require('node:path');
const { FILE } = require('./keys/file');
const { createKeys } = require('./keys');
const { createLimits } = require('./limits');
const { createAudit } = require('./audit');
const { accessFigures, createHttpFigures } = require('../health/own-figures');
const { createPrometheus } = require('../health/figures');
const { watchPressure } = require('./pressure');
const { createUnlisted } = require('../intake/unlisted');

/**
 * What decides who may ask, and counts it: keys, limits, the audit log, pressure, people without an entry in the building file; their
 * parts of /health and their figures.
 * @typedef {import('./keys/ring').KeyRecord} KeyRecord
 * @param {{userDir: string, ratePerS: number, trustedRatePerS: number}} config
 * @param {{figures: import('../health/figures').Figures, health: Pick<import('../health').Health, 'addPart'>,
 *   site: import('../site').Site, hosts: Pick<import('./hosts').Hosts, 'refused'>, version: string,
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

module.exports = { createGuards };
