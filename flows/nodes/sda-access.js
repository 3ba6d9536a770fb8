'use strict';

const { createAccessCheck, onRequest } = require('../lib/http/hacs');
const { HACS_ROUTES } = require('../lib/http/v1/description/hacs');

module.exports = function register(RED) {
  /** Decides who may ask a route of `http in`, by key, login or address, and checks what is asked. */
  function SdaAccess(definition) {
    RED.nodes.createNode(this, definition);
    const { right = 'presence', changes = false, route = '' } = definition;
    const described = HACS_ROUTES.find(({ path }) => path === route);
    if (route && !described) this.error(`${route} is not described: use one of ${HACS_ROUTES.map(({ path }) => path).join(', ')}, or none`);
    onRequest(RED, this, definition, createAccessCheck({ right, changes, described }));
  }

  RED.nodes.registerType('sda-access', SdaAccess);
};
