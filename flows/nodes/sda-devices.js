'use strict';

const { StoreUnavailable } = require('../lib/store/influx');

/** A beacon that nobody heard for longer counts as silent: what was before is of no interest. */
const RECALLED_MS = 24 * 3_600_000;
const AGAIN_MS = 10_000;

module.exports = function register(RED) {
  /** Takes what gateways say of themselves, and fetches from the database what was last heard of each beacon before the start. */
  function SdaDevices(definition) {
    RED.nodes.createNode(this, definition);
    const { site, store } = RED.nodes.getNode(definition.site);
    let timer = null;

    const recall = async () => {
      try {
        site.beacons.recall(site.building(), await store.lastHeard(Date.now() - RECALLED_MS));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (timer) timer = setTimeout(recall, AGAIN_MS); // it is not up yet; /health says so
      }
    };
    timer = setTimeout(recall, 0);

    this.on('input', (message, _send, done) => {
      const status = site.gateways.tell(message, site.building(), Date.now());
      if (status) site.setGateway(status.gateway, status.up, Date.now());
      done();
    });
    this.on('close', () => {
      clearTimeout(timer);
      timer = null;
    });
  }

  RED.nodes.registerType('sda-devices', SdaDevices);
};
