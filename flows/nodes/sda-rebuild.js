'use strict';

const path = require('node:path');
const { createCheckpoints } = require('../lib/checkpoints');
const { watchDrops } = require('../lib/coverage/broker-drops');
const { createRebuild } = require('../lib/rebuild');

const POLL_MS = 2000;

module.exports = function register(RED) {
  /** Locates again, from stored readings, what Node-RED missed, what the broker dropped, and what is asked for by hand. */
  function SdaRebuild(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store, coverage, parts } = RED.nodes.getNode(definition.site);
    const logger = { log: (text) => this.log(text), warn: (text) => this.warn(text) };
    const { userDir, brokerKeepsOrder: keepsOrder } = RED.settings.sda.config;
    const drops = watchDrops(site, parts, coverage);
    this.rebuild = createRebuild({
      site, store, coverage, clock: Date.now, checkpoints: createCheckpoints(path.join(userDir, 'checkpoints'), logger.warn),
      versions: async () => RED.nodes.getNode(definition.building)?.editor.versions() ?? null,
      drops, keepsOrder, logger,
    });
    this.rebuild.start();
    const timer = setInterval(() => {
      drops.tick(Date.now());
      this.rebuild.tick();
    }, POLL_MS);
    this.on('close', (_removed, done) => {
      clearInterval(timer);
      this.rebuild.stop().then(() => done(), done);
    });
  }

  RED.nodes.registerType('sda-rebuild', SdaRebuild);
};
