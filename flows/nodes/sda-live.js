'use strict';

const path = require('node:path');
const { createKeyReader, KEY_FILE: FILE } = require('../lib/access');
const { createTopics } = require('../lib/dashboard/topics');

const TICK_MS = 200; // five times a second at most: nobody can follow more

module.exports = function register(RED) {
  /** Sends snapshots to the open pages of the dashboard, each of what the page shows. */
  function SdaLive(definition) {
    RED.nodes.createNode(this, definition);
    const { site, losses } = RED.nodes.getNode(definition.site);
    const { health, trend } = RED.nodes.getNode(definition.health);
    const { alerts } = RED.nodes.getNode(definition.alerts);
    const { config, hub } = RED.settings.sda;
    const keys = createKeyReader(path.join(config.userDir, FILE), Date.now);

    hub.attach(createTopics({ site, alerts, trend, losses, keys, health: health.report }));
    const timer = setInterval(() => hub.tick(Date.now()), TICK_MS);
    this.on('close', () => {
      clearInterval(timer);
      hub.attach(null);
    });
  }

  RED.nodes.registerType('sda-live', SdaLive);
};
