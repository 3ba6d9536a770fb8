'use strict';

const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Sends snapshots to the open pages of the dashboard, each of what the page shows. */
  function SdaLive(definition) {
    RED.nodes.createNode(this, definition);
    this.on('close', configNode(RED, definition.site, 'site').app.feedPages());
  }

  RED.nodes.registerType('sda-live', SdaLive);
};
