'use strict';

const { createAccess, createGuards } = require('../lib/access');
const { createFront, createMiddleware, createRouter } = require('../lib/http');
const { createKnownSeed } = require('../lib/history/known-seed');
const { createHacs } = require('../lib/http/hacs');
const { attachRecordings } = require('../lib/recordings');
const { createTelemetry } = require('../lib/devices/telemetry');
const { version } = require('../package.json');

const TICK_MS = 1000; // a key that is revoked by `make key` is refused after this

module.exports = function register(RED) {
  const front = createFront(RED.httpNode, RED.settings.sda.hosts, RED.events);
  RED.settings.sda.httpsListener?.serve(RED.server, (text) => RED.log.info(text)); // once, for as long as Node-RED runs

  /** Answers `/api`, the login and the pages; offers `access` and `hacs` to the nodes of the HACS routes and of a user's own. */
  function SdaHttp(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store, figures, coverage } = RED.nodes.getNode(definition.site);
    const { health } = RED.nodes.getNode(definition.health);
    const { rebuild } = RED.nodes.getNode(definition.rebuild);
    const { editor, pictures, reloader } = RED.nodes.getNode(definition.building);
    const { alerts } = RED.nodes.getNode(definition.alerts);
    const { config, clients, hosts, trusted, sessions } = RED.settings.sda;

    const { guards, ...access } = createGuards(config, { site, figures, health, hosts, version, clock: Date.now,
      logger: { log: (text) => this.log(text), warn: (text) => this.warn(text) } });
    const knownSeed = createKnownSeed({ people: site.knownPeople, store, coverage, clock: Date.now });
    const timers = [access.tick, knownSeed.tick].map((work) => setInterval(work, TICK_MS));
    const recordings = attachRecordings(site, config, guards.audit, (text) => this.warn(text));
    const context = {
      refuseIncomplete: coverage.refuseIncomplete, refuseIncompleteStays: coverage.refuseIncompleteStays,
      completeUntil: coverage.completeUntil, settledMs: coverage.settledMs, ...guards, ...config,
      site, store, rebuild, knownSeed, recordings, editor, pictures, alerts, sessions, trusted, version,
      telemetry: createTelemetry(store, Date.now),
      reload: reloader.checkNow,
      clientOf: clients.clientOf, hostsOf: clients.hostsOf, readProtocol: clients.readProtocol,
      clock: Date.now,
      dashboardPath: definition.dashboardPath,
      health: health.report,
      log: (message) => this.error(message),
    };
    Object.assign(this, { access: createAccess(context), hacs: createHacs(context) });
    front.serve({ middleware: createMiddleware(context), router: createRouter(context, this.access), log: context.log });

    this.on('close', (_removed, done) => {
      timers.forEach(clearInterval);
      front.end();
      Promise.all([access.close(), recordings.close()]).then(() => done(), done);
    });
  }

  RED.nodes.registerType('sda-http', SdaHttp);
};
