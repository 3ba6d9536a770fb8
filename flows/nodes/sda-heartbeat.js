'use strict';

const { HEARTBEAT_MS } = require('../lib/health/heartbeat');
const { showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Sends the flows' figures every five seconds; that they come back from the database proves all that lies between. */
  function SdaHeartbeat(definition) {
    RED.nodes.createNode(this, definition);
    const { health, site: { bus } } = configNode(RED, definition.site, 'site').app;
    const send = () => this.send({ topic: 'heartbeat', payload: [health.beat()] });
    const timer = setInterval(send, HEARTBEAT_MS);
    const hide = showBadge(this, (nowMs) => {
      const degraded = Object.entries(health.report(nowMs).parts).filter(([, { status }]) => status !== 'up').map(([name]) => name);
      return degraded.length === 0 ? { fill: 'green', shape: 'dot', text: 'up' } : { fill: 'yellow', shape: 'ring', text: `degraded: ${degraded.join(', ')}` };
    });
    RED.events.once('flows:started', send);
    bus.on('heartbeatDue', send); // one out of turn: a start is proved to be complete by it

    this.on('close', () => {
      clearInterval(timer);
      RED.events.off('flows:started', send);
      bus.off('heartbeatDue', send);
      hide();
    });
  }

  RED.nodes.registerType('sda-heartbeat', SdaHeartbeat);
};
