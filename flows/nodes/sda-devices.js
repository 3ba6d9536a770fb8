'use strict';

const { LOG_TOPIC } = require('../lib/devices/broker-log');
const { showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Takes status and health of gateways and sends which come and go; takes the broker's log, for devices that share an account. */
  function SdaDevices(definition) {
    RED.nodes.createNode(this, definition);
    const { site } = configNode(RED, definition.site, 'site').app;
    const { gateways, takeovers } = site.devices;

    const hide = showBadge(this, (nowMs) => {
      const ids = [...site.building().gateways.keys()];
      const online = ids.filter((id) => gateways.of(id, nowMs)?.state === 'online').length;
      return { fill: online === ids.length ? 'green' : 'yellow', shape: 'dot', text: `${online} of ${ids.length} gateways online` };
    });

    this.on('input', (message, send, done) => {
      const nowMs = Date.now();
      if (message.topic === LOG_TOPIC) {
        const line = message.payload.toString();
        takeovers.handleLine(line, nowMs);
        gateways.handleLine(line, nowMs);
        done();
        return;
      }
      const status = gateways.handleMessage(message, site.building(), nowMs);
      if (status) {
        site.live.setGateway(status.gateway, status.up, nowMs);
        send({ topic: 'gateways', payload: [{ ts: nowMs, gateway: status.gateway, state: status.up ? 'online' : 'offline' }] });
      }
      done();
    });
    this.on('close', hide);
  }

  RED.nodes.registerType('sda-devices', SdaDevices);
};
