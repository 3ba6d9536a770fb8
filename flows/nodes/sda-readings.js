'use strict';

module.exports = function register(RED) {
  /** Takes messages of readings, as they come from the broker, into the site. */
  function SdaReadings(definition) {
    RED.nodes.createNode(this, definition);
    const { site } = RED.nodes.getNode(definition.site);

    this.on('input', (message, _send, done) => {
      try {
        site.hear(message.topic, message.payload, Date.now());
        done();
      } catch (error) {
        done(error);
      }
    });
  }

  RED.nodes.registerType('sda-readings', SdaReadings);
};
