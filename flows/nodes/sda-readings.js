'use strict';

const { createInbox } = require('../lib/intake/inbox');

module.exports = function register(RED) {
  /** Takes messages of readings, as they come from the broker, into the site. */
  function SdaReadings(definition) {
    RED.nodes.createNode(this, definition);
    const { site, figures } = RED.nodes.getNode(definition.site);
    const inbox = createInbox(({ message, done }) => {
      try {
        site.hear(message.topic, message.payload, Date.now());
        done();
      } catch (error) {
        done(error);
      }
    });
    figures.add([{ name: 'inbox_waiting', kind: 'gauge', help: 'Messages of readings that have come and wait for their turn', read: inbox.size }]);

    this.on('input', (message, _send, done) => inbox.put({ message, done }));
    this.on('close', inbox.drain);
  }

  RED.nodes.registerType('sda-readings', SdaReadings);
};
