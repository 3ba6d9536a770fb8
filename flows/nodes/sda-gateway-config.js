'use strict';

const { createGatewayConfigPublisher } = require('../lib/devices/gateway-config');

const SYNC_MS = 500; // a lost connection to the broker takes twice that at least

module.exports = function register(RED) {
  /** Publishes the settings of each gateway; takes the retained ones from the broker. */
  function SdaGatewayConfig(definition) {
    RED.nodes.createNode(this, definition);
    const { site } = RED.nodes.getNode(definition.site);
    const publisher = createGatewayConfigPublisher({
      building: site.building,
      outbox: site.outbox,
      connected: site.connected,
      clock: Date.now,
      onConfigs: ({ payloads, beacons, falsePositiveRate }) => {
        const text = `${payloads.size} gateways are to report ${beacons} beacons`;
        this.status({ fill: 'green', shape: 'dot', text: `${payloads.size} gateways, ${beacons} beacons` });
        if (falsePositiveRate === 0) this.log(text);
        else this.log(`${text}, sent as a filter that lets ${(falsePositiveRate * 100).toPrecision(2)} % of all others in as well`);
      },
    });

    const timer = setInterval(publisher.sync, SYNC_MS);
    this.on('input', (message, _send, done) => {
      publisher.handleMessage(message);
      done();
    });
    this.on('close', () => clearInterval(timer));
  }

  RED.nodes.registerType('sda-gateway-config', SdaGatewayConfig);
};
