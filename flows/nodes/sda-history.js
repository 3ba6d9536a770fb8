'use strict';

const { createAnswer, onRequest } = require('../lib/http/hacs');

module.exports = function register(RED) {
  /** Answers where somebody was, as the HACS route `/extractbeacon` does; the audit log says who asked. */
  function SdaHistory(definition) {
    RED.nodes.createNode(this, definition);
    onRequest(RED, this, definition, createAnswer('history', (hacs, params, lookUp) => hacs.history(params, lookUp)));
  }

  RED.nodes.registerType('sda-history', SdaHistory);
};
