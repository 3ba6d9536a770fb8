'use strict';

const { showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Takes the retained settings of gateways from the broker; those that differ from the building are published anew. */
  function SdaGatewayConfig(definition) {
    RED.nodes.createNode(this, definition);
    const { gatewayConfigs } = configNode(RED, definition.site, 'site').app;
    const hide = showBadge(this, () => {
      const { payloads, beacons } = gatewayConfigs.made();
      return { fill: 'green', shape: 'dot', text: `${payloads.size} gateways, ${beacons} beacons` };
    });
    this.on('input', (message, _send, done) => {
      gatewayConfigs.handleMessage(message);
      done();
    });
    this.on('close', hide);
  }

  RED.nodes.registerType('sda-gateway-config', SdaGatewayConfig);
};
