'use strict';

const { createHealth, healthFigures, heartbeat } = require('../lib/health');
const { createProcessFigures } = require('../lib/health/own-figures');
const { createTrend } = require('../lib/health/figures');
const { createProbe, createReadBack, createRestarts } = require('../lib/health/heartbeat');
const { version } = require('../package.json');

/** The resolution of the store lag. */
const POLL_MS = 200;
/** Every outlet is looked at. */
const LOOK_MS = 1000;

module.exports = function register(RED) {
  /** Makes the flows' heartbeat, which sda-heartbeat publishes, and reads it back from the database: that proves all that lies between. */
  function SdaHealth(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store, replicas, figures, coverage, knownTime, losses, parts, spool, second } = RED.nodes.getNode(definition.site);
    const { rebuild } = RED.nodes.getNode(definition.rebuild);
    const spoolInUse = () => (replicas?.current() === 1 ? second : spool);
    const restarts = createRestarts(site);
    const probe = createProbe(store, site.startedMs, { spool: spoolInUse, received: parts.received, ...restarts });
    this.health = createHealth({ site, probe, rebuild, version });
    this.health.addPart('clock', knownTime.part);
    this.health.addPart('losses', losses.part);
    if (replicas) this.health.addPart('stores', replicas.part);
    if (RED.settings.sda.httpsListener) this.health.addPart('https', RED.settings.sda.httpsListener.part);
    const ofProcess = createProcessFigures(site.startedMs, Date.now);
    const removers = [figures.add(ofProcess.figures, ofProcess.roll), figures.add(healthFigures(this.health, probe, Date.now))];
    this.trend = createTrend();
    let sentMs = 0;

    this.beat = () => {
      const payload = heartbeat(figures, coverage, Date.now());
      this.trend.add(payload);
      losses.record(payload, payload.ts);
      probe.sent(sentMs = payload.ts);
      probe.tick(payload.ts);
      this.health.tick(payload.ts);
      return payload;
    };
    const readBack = createReadBack({ probe, site, coverage, onError: (error) => this.error(error), clock: Date.now });
    const poll = () => {
      if (coverage.awaitsHeartbeat(Date.now(), sentMs)) this.emit('heartbeat');
      readBack();
    };
    const look = () => [restarts, probe].forEach((each) => each.look(Date.now()));
    const timers = [setInterval(poll, POLL_MS), setInterval(look, LOOK_MS)];
    this.on('close', () => {
      timers.forEach(clearInterval);
      removers.forEach((remove) => remove());
      ofProcess.stop();
    });
  }

  RED.nodes.registerType('sda-health', SdaHealth);
};
