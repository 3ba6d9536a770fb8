'use strict';

const { createHealth, healthFigures, heartbeat } = require('../lib/health');
const { createProcessFigures } = require('../lib/health/metrics/process-figures');
const { createTrend } = require('../lib/health/metrics/trend');
const { createProbe, HEARTBEAT_MS } = require('../lib/health/heartbeat');
const { version } = require('../package.json');

/** While a heartbeat is on its way InfluxDB is asked this often: the figure for the store lag is as fine as that. */
const LOOK_MS = 200;
/** Whatever happens, InfluxDB is asked this often, so that its absence is noticed. */
const ALWAYS_LOOK_MS = 1000;

module.exports = function register(RED) {
  /** Publishes the flows' heartbeat and reads it back from the database, which proves all that lies between. */
  function SdaHealth(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store, figures, coverage, knownTime, losses } = RED.nodes.getNode(definition.site);
    const { rebuild } = RED.nodes.getNode(definition.rebuild);
    const probe = createProbe(store, site.startedMs);
    this.health = createHealth({ site, probe, rebuild, version });
    this.health.addPart('clock', knownTime.part);
    this.health.addPart('losses', losses.part);
    if (RED.settings.sda.secure) this.health.addPart('https', RED.settings.sda.secure.part);
    const ofProcess = createProcessFigures(site.startedMs, Date.now);
    const takenOff = [figures.add(ofProcess.figures, ofProcess.roll), figures.add(healthFigures(this.health, probe, Date.now))];
    this.trend = createTrend();
    let looking = false;
    let lookedMs = 0;
    let sentMs = 0;

    const beat = () => {
      const payload = heartbeat(figures, coverage, Date.now());
      this.trend.add(payload);
      losses.look(payload, payload.ts);
      site.outbox.put({ topic: 'sda/v1/flows/health', payload: JSON.stringify(payload) }, payload.ts);
      probe.sent(sentMs = payload.ts);
    };
    const look = async () => {
      if (coverage.awaitsHeartbeat(Date.now(), sentMs)) beat();
      if (looking || (!probe.pending() && Date.now() - lookedMs < ALWAYS_LOOK_MS)) return;
      looking = true;
      lookedMs = Date.now();
      await probe.look(Date.now);
      site.outbox.proven(probe.readBackMs(), Date.now());
      await coverage.look(probe.readBackMs(), Date.now());
      looking = false;
    };
    const timers = [setInterval(beat, HEARTBEAT_MS), setInterval(look, LOOK_MS)];
    beat();
    this.on('close', () => {
      timers.forEach(clearInterval);
      takenOff.forEach((takeOff) => takeOff());
      ofProcess.stop();
    });
  }

  RED.nodes.registerType('sda-health', SdaHealth);
};
