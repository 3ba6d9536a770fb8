'use strict';

const { createFront } = require('../lib/http');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  const front = createFront(RED.httpNode, RED.settings.sda.hosts, RED.events);
  RED.settings.sda.httpsListener?.serve(RED.server, (text) => RED.log.info(text)); // once, for as long as Node-RED runs

  /** Answers `/api`, the login and the pages; offers `access` and `hacs` to the nodes of the HACS routes and of a user's own. */
  function SdaHttp(definition) {
    RED.nodes.createNode(this, definition);
    const { app } = configNode(RED, definition.site, 'site');
    this.access = app.access;
    this.hacs = app.hacs;
    front.serve(app.routes(definition.dashboardPath));
    this.on('close', front.end);
  }

  RED.nodes.registerType('sda-http', SdaHttp);
};
