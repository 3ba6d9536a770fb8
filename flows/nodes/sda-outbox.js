'use strict';

const { gatherWrites } = require('../lib/outbox/gather-writes');

const LOOK_MS = 1000;

module.exports = function register(RED) {
  /** Connects with the broker, sends the site's messages to an `mqtt out` and takes back what the broker acknowledged. */
  function SdaOutbox(definition) {
    RED.nodes.createNode(this, definition);
    const { site: { outbox }, knownTime } = RED.nodes.getNode(definition.site);
    const connected = () => {
      const { client, connected: isUp } = RED.nodes.getNode(definition.broker) ?? {};
      if (isUp && client) gatherWrites(client.stream); // another one after each reconnect; a broker that is played has none
      return isUp === true;
    };
    const connect = () => this.send({ action: 'connect' });
    let timer = null;

    /** A clock that is behind would refuse what the broker keeps. All that began with it begins anew when it is right. */
    const endWhenRight = () => {
      knownTime.reload();
      if (knownTime.behindMs(Date.now()) > 0) return;
      this.log('the clock is right: Node-RED ends, to be started again with it');
      clearInterval(timer);
      process.kill(process.pid, 'SIGTERM');
    };
    const { reason } = knownTime.part(Date.now());
    if (reason) {
      this.warn(`nothing is taken in: ${reason}`);
      timer = setInterval(endWhenRight, LOOK_MS);
    } else RED.events.once('flows:started', connect);

    outbox.attach({
      send: (message) => this.send({ ...message, qos: 1 }),
      connected,
      connection: () => RED.nodes.getNode(definition.broker)?.client?.stream,
    });
    this.on('input', (message, _send, done) => {
      outbox.acknowledge(message.sda_id, Date.now());
      done();
    });
    this.on('close', () => {
      clearInterval(timer);
      RED.events.off('flows:started', connect);
      outbox.attach(null);
    });
  }

  RED.nodes.registerType('sda-outbox', SdaOutbox);
};
