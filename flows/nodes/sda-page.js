'use strict';

module.exports = function register(RED) {
  /** One page of the dashboard: shows the view of that name; its code is in dashboard/. */
  function SdaPage(definition) {
    RED.nodes.createNode(this, definition);
    RED.nodes.getNode(definition.page).register(null, this, definition, {});
  }

  RED.nodes.registerType('sda-page', SdaPage);
};
