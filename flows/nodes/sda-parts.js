'use strict';

const { showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Takes what the broker says of itself, for figures and /health. */
  function SdaParts(definition) {
    RED.nodes.createNode(this, definition);
    const { health } = configNode(RED, definition.site, 'site').app;
    const hide = showBadge(this, () => {
      const waiting = health.ingestWaiting();
      return waiting === null ? { fill: 'grey', shape: 'ring', text: 'no figures of Telegraf yet' }
        : { fill: 'green', shape: 'dot', text: `${waiting} points wait in Telegraf` };
    });
    this.on('input', (message, _send, done) => {
      health.handleMessage(message);
      done();
    });
    this.on('close', hide);
  }

  RED.nodes.registerType('sda-parts', SdaParts);
};
