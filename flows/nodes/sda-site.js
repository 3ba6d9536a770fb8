'use strict';

const { openStandAlone } = require('../lib/site');

module.exports = function register(RED) {
  /** What the broker has not acknowledged when a deploy makes a site anew, by its id. @type {Map<string, object[]>} */
  const unacknowledged = new Map();

  /** One building at work; the other nodes of the flows refer to it. In an installation it opens the whole application. */
  function SdaSite(definition) {
    RED.nodes.createNode(this, definition);
    const logger = { log: (text) => this.log(text), warn: (text) => this.warn(text), error: (error) => this.error(error) };
    try {
      this.app = RED.settings.sda ? RED.settings.sda.open(logger) : openStandAlone(definition);
    } catch (error) {
      this.error(error instanceof Error ? error.message : error);
      return;
    }
    const { outbox } = this.app.site.broker;
    for (const message of unacknowledged.get(this.id) ?? []) outbox.put(message, Date.now());
    this.on('close', (removed, done) => {
      this.app.close().catch(logger.error).finally(() => {
        unacknowledged.delete(this.id);
        if (!removed) unacknowledged.set(this.id, outbox.unacknowledged());
        done();
      });
    });
  }

  RED.nodes.registerType('sda-site', SdaSite);
};
