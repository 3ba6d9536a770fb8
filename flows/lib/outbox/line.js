// @ts-check
'use strict';

const { forgetQueue } = require('./forget-queue');
const { gatherWrites } = require('./gather-writes');

/**
 * What the outbox needs to know of Node-RED's connection to the broker.
 * @typedef {Parameters<typeof forgetQueue>[0] & {connected?: boolean, client?: import('mqtt').MqttClient}} Broker config node of Node-RED
 * @param {() => Broker|null|undefined} brokerNode
 * @returns {Required<Pick<import('.').Line, 'connected'|'connection'|'forgetQueue'>>}
 */
function createLine(brokerNode) {
  return {
    connected() {
      const { client, connected } = brokerNode() ?? {};
      if (connected && client) gatherWrites(client.stream); // another one after each reconnect; a broker that is played has none
      return connected === true;
    },
    connection: () => brokerNode()?.client?.stream,
    forgetQueue() {
      const broker = brokerNode();
      if (broker) forgetQueue(broker);
    },
  };
}

module.exports = { createLine };
