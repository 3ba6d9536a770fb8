'use strict';

const POLL_MS = 5000;

module.exports = function register(RED) {
  /** Collects figures of broker, Telegraf and InfluxDB. */
  function SdaParts(definition) {
    RED.nodes.createNode(this, definition);
    const { parts, certificate } = RED.nodes.getNode(definition.site);

    const timer = setInterval(() => {
      for (const source of [parts, certificate]) source.poll().catch((error) => this.error(error));
    }, POLL_MS);
    this.on('input', (message, _send, done) => {
      parts.handleMessage(message);
      done();
    });
    this.on('close', () => clearInterval(timer));
  }

  RED.nodes.registerType('sda-parts', SdaParts);
};
