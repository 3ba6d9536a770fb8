'use strict';

const { LOG_TOPIC } = require('../lib/devices/broker-log');
const { showBadge } = require('../lib/shared/badge');
const { StoreUnavailable } = require('../lib/store/influx');

/** A beacon without a reading for longer counts as silent anyway. */
const RESTORED_MS = 24 * 3_600_000;
const RETRY_MS = 10_000;

module.exports = function register(RED) {
  /** Takes status and health of gateways and sends which come and go; takes the broker's log, for devices that share an account;
   * reads the last reading of each beacon before the start from the database. */
  function SdaDevices(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store } = RED.nodes.getNode(definition.site);
    let timer = null;

    const restore = async () => {
      try {
        site.beacons.restore(site.building(), await store.lastHeard(Date.now() - RESTORED_MS));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (timer) timer = setTimeout(restore, RETRY_MS); // the database is not up yet; /health says so
      }
    };
    timer = setTimeout(restore, 0);

    const hide = showBadge(this, (nowMs) => {
      const gateways = [...site.building().gateways.keys()];
      const online = gateways.filter((id) => site.gateways.of(id, nowMs)?.state === 'online').length;
      return { fill: online === gateways.length ? 'green' : 'yellow', shape: 'dot', text: `${online} of ${gateways.length} gateways online` };
    });

    this.on('input', (message, send, done) => {
      const nowMs = Date.now();
      if (message.topic === LOG_TOPIC) {
        const line = message.payload.toString();
        site.takeovers.handleLine(line, nowMs);
        site.gateways.handleLine(line, nowMs);
        done();
        return;
      }
      const status = site.gateways.handleMessage(message, site.building(), nowMs);
      if (status) {
        site.setGateway(status.gateway, status.up, nowMs);
        send({ topic: 'gateways', payload: [{ ts: nowMs, gateway: status.gateway, state: status.up ? 'online' : 'offline' }] });
      }
      done();
    });
    this.on('close', () => {
      hide();
      clearTimeout(timer);
      timer = null;
    });
  }

  RED.nodes.registerType('sda-devices', SdaDevices);
};
