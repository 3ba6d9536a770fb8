'use strict';

const { createHealth, healthFigures, heartbeat } = require('../lib/health');
const { createProcessFigures } = require('../lib/health/metrics/process-figures');
const { createTrend } = require('../lib/health/metrics/trend');
const { createProbe } = require('../lib/health/heartbeat');
const { version } = require('../package.json');

/** While a heartbeat is on its way InfluxDB is asked this often: the figure for the store lag is as fine as that. */
const LOOK_MS = 200;
/** Whatever happens, InfluxDB is asked this often, so that its absence is noticed. */
const ALWAYS_LOOK_MS = 1000;

module.exports = function register(RED) {
  /** Makes the flows' heartbeat, which sda-heartbeat publishes, and reads it back from the database: that proves all that lies between. */
  function SdaHealth(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store, figures, arrival, stayArrival, knownTime, losses } = RED.nodes.getNode(definition.site);
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

    this.sendBeat = () => {}; // sda-heartbeat puts its own here, and publishes what `beat` makes
    this.beat = () => {
      const payload = heartbeat(figures, rebuild, Date.now());
      this.trend.add(payload);
      losses.look(payload, payload.ts);
      probe.sent(payload.ts);
      return payload;
    };
    const look = async () => {
      if (looking || (!probe.pending() && Date.now() - lookedMs < ALWAYS_LOOK_MS)) return;
      looking = true;
      lookedMs = Date.now();
      await probe.look(Date.now);
      site.outbox.proven(probe.readBackMs(), Date.now());
      for (const one of [arrival, stayArrival]) {
        one.beat(probe.readBackMs(), Date.now());
        await one.look(Date.now());
      }
      looking = false;
    };
    const timer = setInterval(look, LOOK_MS);
    this.on('close', () => {
      clearInterval(timer);
      takenOff.forEach((takeOff) => takeOff());
      ofProcess.stop();
    });
  }

  RED.nodes.registerType('sda-health', SdaHealth);
};
