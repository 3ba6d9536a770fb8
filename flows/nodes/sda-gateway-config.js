'use strict';

const { createGatewayConfigKeeper } = require('../lib/devices/gateway-config-publisher');

const LOOK_MS = 500; // the connection to the broker is away for twice that at least

module.exports = function register(RED) {
  /** Tells each gateway what to listen for; takes what the broker holds of that. */
  function SdaGatewayConfig(definition) {
    RED.nodes.createNode(this, definition);
    const { site } = RED.nodes.getNode(definition.site);
    const keeper = createGatewayConfigKeeper({
      building: site.building,
      outbox: site.outbox,
      clock: Date.now,
      announce: ({ payloads, beacons, strangersShare }) => {
        const text = `${payloads.size} gateways are to listen for ${beacons} beacons`;
        if (strangersShare === 0) this.log(text);
        else this.log(`${text}, told as a filter that lets ${(strangersShare * 100).toPrecision(2)} % of all others in as well`);
      },
    });

    const timer = setInterval(keeper.look, LOOK_MS);
    this.on('input', (message, _send, done) => {
      keeper.tell(message);
      done();
    });
    this.on('close', () => clearInterval(timer));
  }

  RED.nodes.registerType('sda-gateway-config', SdaGatewayConfig);
};
