'use strict';

const path = require('node:path');
const { createArchive } = require('../lib/archive');
const { createArrival } = require('../lib/arrival');
const { createCalm } = require('../lib/calm');
const { createInflux } = require('../lib/influx');
const { createFigures } = require('../lib/metrics/figures');
const { createParts } = require('../lib/metrics/parts');
const { siteFigures } = require('../lib/metrics/site-figures');
const { storeFigures } = require('../lib/metrics/store-figures');
const { createReceiverOffsets } = require('../lib/receiver-offsets');
const { createSite } = require('../lib/site');
const { createStore } = require('../lib/store');

const FLUSH_MS = 250; // derived locations wait this long for company: fewer, larger messages
const TICK_MS = 1000;
const SAVE_MS = 60_000;

module.exports = function register(RED) {
  /** One building at work; the other nodes of the flows refer to it. */
  function SdaSite(definition) {
    RED.nodes.createNode(this, definition);
    const { config, building } = RED.settings.sda;
    const influx = createInflux({ url: config.influxUrl, token: config.influxToken });
    this.site = createSite(building, Date.now());
    const offsets = createReceiverOffsets(path.join(config.userDir, 'receivers.json'), this.site, (text) => this.warn(text));
    offsets.restore();
    const calm = createCalm(influx);
    this.store = createStore(calm);
    this.archive = createArchive(calm);
    this.figures = createFigures();
    this.figures.add(siteFigures(this.site, Date.now), this.site.liveLag.roll);
    this.figures.add(storeFigures({ calm, history: this.site.history }));
    this.parts = createParts({ query: calm.query, metrics: influx.metrics, connected: this.site.outbox.connected, clock: Date.now });
    this.figures.add(this.parts.figures);
    this.arrival = createArrival({ newestStored: this.store.newestLocation, newestTold: this.site.newestToldMs }, this.site.startedMs);

    const timers = [
      setInterval(() => this.site.flush(Date.now()), FLUSH_MS),
      setInterval(() => this.site.tick(Date.now()), TICK_MS),
      setInterval(offsets.save, SAVE_MS),
    ];
    this.on('close', (done) => {
      timers.forEach(clearInterval);
      this.site.flush(Date.now());
      influx.close();
      offsets.save().finally(done);
    });
  }

  RED.nodes.registerType('sda-site', SdaSite);
};
