// @ts-check
'use strict';

const { forgetQueue } = require('./forget-queue');

/**
 * The connection that subscribes. It is another one than that which publishes: messages that wait for the flows delay no acknowledgement
 * of what they publish, and the broker can forget what waits without a break for the outbox.
 * @typedef {Parameters<typeof forgetQueue>[0] & {connected?: boolean}} Broker config node of Node-RED
 */
function createSubscriber() {
  /** @type {(() => Broker|null|undefined)|null} */
  let brokerNode = null;

  return {
    /** @param {typeof brokerNode} next null: the flows have no such connection, or it is the publisher's */
    attach: (next) => { brokerNode = next; },
    connected: () => !brokerNode || brokerNode()?.connected === true,
    /** Lets the broker forget what waits for the flows; the connection breaks for a moment. */
    forgetQueue() {
      const broker = brokerNode?.();
      if (broker) forgetQueue(broker);
    },
  };
}

module.exports = { createSubscriber };
