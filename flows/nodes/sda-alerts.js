'use strict';

const path = require('node:path');
const { createAlerts } = require('../lib/alerts');

const EVALUATE_MS = 2000; // an evaluation with 10,000 beacons takes some milliseconds

module.exports = function register(RED) {
  /** Evaluates alerts and persists them. */
  function SdaAlerts(definition) {
    RED.nodes.createNode(this, definition);
    const { config } = RED.settings.sda;
    const { site, certificate } = RED.nodes.getNode(definition.site);
    const { health } = RED.nodes.getNode(definition.health);
    this.alerts = createAlerts({
      site, parts: (nowMs) => health.report(nowMs).parts, certificates: certificate.shown,
      file: path.join(config.userDir, 'alerts.json'), clock: Date.now, warn: (text) => this.warn(text),
    });
    const timer = setInterval(() => this.alerts.evaluate(Date.now()), EVALUATE_MS);
    this.on('close', () => clearInterval(timer));
  }

  RED.nodes.registerType('sda-alerts', SdaAlerts);
};
