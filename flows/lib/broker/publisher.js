// @ts-check
'use strict';

const { gatherWrites } = require('./gather-writes');

/**
 * What the outbox needs to know of the connection that publishes.
 * @typedef {{connected?: boolean, client?: import('mqtt').MqttClient}} Broker config node of Node-RED
 * @param {() => Broker|null|undefined} brokerNode
 * @returns {Required<Pick<import('../outbox').Transport, 'connected'|'connection'>>}
 */
function createPublisher(brokerNode) {
  return {
    connected() {
      const { client, connected } = brokerNode() ?? {};
      if (connected && client) gatherWrites(client.stream); // another one after each reconnect; a mocked broker has none
      return connected === true;
    },
    connection: () => brokerNode()?.client?.stream,
  };
}

module.exports = { createPublisher };
