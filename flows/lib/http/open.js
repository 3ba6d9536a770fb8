// @ts-check
'use strict';

const { createAccess, createGuards } = require('../access');
const { createTelemetry } = require('../devices/telemetry');
const { createHacs } = require('./hacs');
const { createMiddleware, createRouter } = require('./index');

/**
 * All routes of HTTP: `/api`, `/health`, `/metrics`, the login and the pages; the nodes of the HACS routes and of a user's own ask `access`
 * and `hacs`.
 * @param {object} deps
 * @param {import('../app').Front} deps.front
 * @param {import('../site').Site} deps.site
 * @param {import('../store').Store} deps.store
 * @param {import('../past').Past} deps.past
 * @param {ReturnType<typeof import('../building/in-use').openBuilding>} deps.building
 * @param {import('../health/watch').HealthWatch} deps.health
 * @param {import('../alerts').Alerts} deps.alerts
 * @param {import('../recordings').Recordings} deps.recordings
 * @param {string} deps.version
 * @param {() => number} deps.clock
 * @param {import('../app').Logger} deps.logger
 */
function openHttp({ front, site, store, past, building, health, alerts, recordings, version, clock, logger }) {
  const { config, clients, hosts, trusted, sessions } = front;
  const { editor, pictures, reloader } = building;
  const { coverage, rebuild, knownSeed } = past;
  const { guards, tick, close } = createGuards(config,
    { site, figures: health.figures, health: health.health, hosts, version, clock, logger });
  site.bus.on('recordingEnded', (what, { name, id, staff_id: staff }, why) => {
    guards.audit.adminAction(what, null, `${name} (${id}): staff ${staff}, ${why}`);
  });
  const context = {
    refuseIncomplete: coverage.refuseIncomplete, refuseIncompleteStays: coverage.refuseIncompleteStays,
    completeUntil: coverage.completeUntil, settledMs: coverage.settledMs, ...guards, ...config,
    site, store, rebuild, knownSeed, recordings, editor, pictures, alerts, sessions, trusted, version, clock,
    telemetry: createTelemetry(store, clock),
    reload: reloader.checkNow,
    clientOf: clients.clientOf, hostsOf: clients.hostsOf, readProtocol: clients.readProtocol,
    health: health.report,
    log: logger.error,
  };
  const access = createAccess(context);
  return {
    access,
    hacs: createHacs(context),
    /** The checks before every route, and our routes. @param {string} dashboardPath where `/` leads */
    routes: (dashboardPath) => (
      { middleware: createMiddleware(context), router: createRouter({ ...context, dashboardPath }, access), log: context.log }),
    /** A key that is revoked by `make key` is refused after this; about once a second. */
    tick,
    /** @returns {Promise<void>} when all that was gathered is written */
    close,
  };
}

module.exports = { openHttp };
