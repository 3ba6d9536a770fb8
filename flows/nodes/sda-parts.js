'use strict';

const { showBadge } = require('../lib/shared/badge');

const POLL_MS = 5000;

module.exports = function register(RED) {
  /** Collects figures of broker, Telegraf and InfluxDB. */
  function SdaParts(definition) {
    RED.nodes.createNode(this, definition);
    const { parts, certificate, spool, second } = RED.nodes.getNode(definition.site);

    const timer = setInterval(() => {
      for (const source of [parts, certificate, spool, second]) source?.poll().catch((error) => this.error(error));
    }, POLL_MS);
    const waitingIn = parts.figures.find(({ name }) => name === 'ingest_waiting');
    const hide = showBadge(this, () => {
      const waiting = waitingIn.read();
      return waiting === null ? { fill: 'grey', shape: 'ring', text: 'no figures of Telegraf yet' }
        : { fill: 'green', shape: 'dot', text: `${waiting} points wait in Telegraf` };
    });
    this.on('input', (message, _send, done) => {
      parts.handleMessage(message);
      done();
    });
    this.on('close', () => {
      clearInterval(timer);
      hide();
    });
  }

  RED.nodes.registerType('sda-parts', SdaParts);
};
