'use strict';

const LOOK_MS = 5000;

module.exports = function register(RED) {
  /** Keeps in mind what broker, Telegraf and InfluxDB tell of themselves. */
  function SdaParts(definition) {
    RED.nodes.createNode(this, definition);
    const { parts, certificate } = RED.nodes.getNode(definition.site);

    const timer = setInterval(() => {
      for (const each of [parts, certificate]) each.look().catch((error) => this.error(error));
    }, LOOK_MS);
    this.on('input', (message, _send, done) => {
      parts.tell(message);
      done();
    });
    this.on('close', () => clearInterval(timer));
  }

  RED.nodes.registerType('sda-parts', SdaParts);
};
