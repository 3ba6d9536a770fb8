'use strict';

const { createDoorkeepers } = require('../lib/access');
const { createRouter } = require('../lib/http/router');
const { createStarting } = require('../lib/http/starting');
const { attachRecordings } = require('../lib/recordings/attach');
const { createTelemetry } = require('../lib/devices/telemetry');
const { version } = require('../package.json');

const TICK_MS = 1000; // a key that is revoked by `make key` is refused after this

module.exports = function register(RED) {
  const starting = createStarting(RED.httpNode, RED.settings.sda.hosts);
  RED.settings.sda.secure?.serve(RED.server, (text) => RED.log.info(text)); // once, for as long as Node-RED runs

  /** Answers the HTTP routes of the contract beside the dashboard. */
  function SdaHttp(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store, archive, figures, coverage } = RED.nodes.getNode(definition.site);
    const { health } = RED.nodes.getNode(definition.health);
    const { rebuild } = RED.nodes.getNode(definition.rebuild);
    const { editor, pictures, reloader } = RED.nodes.getNode(definition.building);
    const { alerts } = RED.nodes.getNode(definition.alerts);
    const { config, clients, hosts, trusted, sessions } = RED.settings.sda;

    const keepers = createDoorkeepers(config, { site, figures, health, hosts, version, clock: Date.now,
      logger: { log: (text) => this.log(text), warn: (text) => this.warn(text) } });
    const timer = setInterval(keepers.tick, TICK_MS);
    const recordings = attachRecordings(site, config, keepers.doors.audit, (text) => this.warn(text));

    starting.answer(createRouter({
      refuseIncomplete: coverage.refuseIncomplete, refuseIncompleteStays: coverage.refuseIncompleteStays,
      completeUntil: coverage.completeUntil,
      site, store, archive,
      telemetry: createTelemetry(archive, Date.now),
      rebuild, recordings, editor, pictures,
      reload: reloader.lookNow,
      alerts, sessions, trusted,
      clientOf: clients.clientOf,
      ...keepers.doors,
      apiKey: config.apiKey,
      buildingFile: config.buildingFile,
      corsOrigins: config.corsOrigins,
      version,
      clock: Date.now,
      dashboardPath: definition.dashboardPath,
      health: health.report,
      log: (message) => this.error(message),
    }));
    this.on('close', (_removed, done) => {
      clearInterval(timer);
      starting.end();
      Promise.all([keepers.close(), recordings.close()]).then(() => done(), done);
    });
  }

  RED.nodes.registerType('sda-http', SdaHttp);
};
