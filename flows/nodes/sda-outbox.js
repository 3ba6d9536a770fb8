'use strict';

const { gatherWrites } = require('../lib/gather-writes');

module.exports = function register(RED) {
  /** Sends the site's messages to an `mqtt out` and takes back what the broker acknowledged. */
  function SdaOutbox(definition) {
    RED.nodes.createNode(this, definition);
    const { outbox } = RED.nodes.getNode(definition.site).site;
    const connected = () => {
      const { client, connected: isUp } = RED.nodes.getNode(definition.broker) ?? {};
      if (isUp && client) gatherWrites(client.stream); // another one after each reconnect; a broker that is played has none
      return isUp === true;
    };

    outbox.attach({
      send: (message) => this.send({ ...message, qos: 1 }),
      connected,
      connection: () => RED.nodes.getNode(definition.broker)?.client?.stream,
    });
    this.on('input', (message, _send, done) => {
      outbox.acknowledge(message.sda_id, Date.now());
      done();
    });
    this.on('close', () => outbox.attach(null));
  }

  RED.nodes.registerType('sda-outbox', SdaOutbox);
};
