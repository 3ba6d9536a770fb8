'use strict';

const { showBadge } = require('../lib/shared/badge');

const POLL_MS = 5000;
/** What waits, and whether it is passed on, is said within seconds. */
const SPOOL_POLL_MS = 1000;

module.exports = function register(RED) {
  /** Collects figures of broker, Telegraf and InfluxDB. */
  function SdaParts(definition) {
    RED.nodes.createNode(this, definition);
    const { parts, certificate, spool, second } = RED.nodes.getNode(definition.site);

    const every = (ms, polls) => setInterval(() => {
      for (const poll of polls) poll?.().catch((error) => this.error(error));
    }, ms);
    const timers = [every(POLL_MS, [parts.poll, certificate.poll, second?.poll]), every(SPOOL_POLL_MS, [spool.poll, second?.pollSpool])];
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
      timers.forEach(clearInterval);
      hide();
    });
  }

  RED.nodes.registerType('sda-parts', SdaParts);
};
