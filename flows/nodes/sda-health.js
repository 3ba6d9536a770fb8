'use strict';

const { createHealth, healthFigures, heartbeat } = require('../lib/health');
const { createProcessFigures } = require('../lib/health/metrics/process-figures');
const { createTrend } = require('../lib/health/metrics/trend');
const { createProbe } = require('../lib/health/heartbeat');
const { createReadBack } = require('../lib/health/read-back');
const { version } = require('../package.json');

/** Poll interval while a heartbeat is on its way; the resolution of the store lag. */
const POLL_MS = 200;

module.exports = function register(RED) {
  /** Makes the flows' heartbeat, which sda-heartbeat publishes, and reads it back from the database: that proves all that lies between. */
  function SdaHealth(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store, replicas, figures, coverage, knownTime, losses, parts, spool, second } = RED.nodes.getNode(definition.site);
    const { rebuild } = RED.nodes.getNode(definition.rebuild);
    const spoolInUse = () => (replicas?.current() === 1 ? second : spool);
    const probe = createProbe(store, site.startedMs, { spool: spoolInUse, received: parts.received });
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
    const readBack = createReadBack({ probe, warn: (text) => this.error(text), stored: (readBackMs, nowMs) => {
      site.outbox.proven(readBackMs, nowMs);
      return coverage.tick(readBackMs, nowMs);
    } });
    const poll = () => {
      if (coverage.awaitsHeartbeat(Date.now(), sentMs)) this.emit('heartbeat');
      readBack.poll();
    };
    const timer = setInterval(poll, POLL_MS);
    this.on('close', () => {
      clearInterval(timer);
      removers.forEach((remove) => remove());
      ofProcess.stop();
    });
  }

  RED.nodes.registerType('sda-health', SdaHealth);
};
