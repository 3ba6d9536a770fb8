'use strict';

const { HEARTBEAT_MS } = require('../lib/health/heartbeat');
const { showBadge } = require('../lib/shared/badge');

module.exports = function register(RED) {
  /** Sends the flows' figures every five seconds; that they come back from the database proves all that lies between. */
  function SdaHeartbeat(definition) {
    RED.nodes.createNode(this, definition);
    const healthNode = RED.nodes.getNode(definition.health);
    const { health, beat } = healthNode;
    const send = () => this.send({ topic: 'heartbeat', payload: [beat()] });
    const timer = setInterval(send, HEARTBEAT_MS);
    const hide = showBadge(this, (nowMs) => {
      const degraded = Object.entries(health.report(nowMs).parts).filter(([, { status }]) => status !== 'up').map(([name]) => name);
      return degraded.length === 0 ? { fill: 'green', shape: 'dot', text: 'up' } : { fill: 'yellow', shape: 'ring', text: `degraded: ${degraded.join(', ')}` };
    });
    RED.events.once('flows:started', send);
    healthNode.on('heartbeat', send); // one out of turn: a start is proved to be complete by it

    this.on('close', () => {
      clearInterval(timer);
      RED.events.off('flows:started', send);
      healthNode.off('heartbeat', send);
      hide();
    });
  }

  RED.nodes.registerType('sda-heartbeat', SdaHeartbeat);
};
