'use strict';

const { createAnswer, onRequest } = require('../lib/http/hacs');

module.exports = function register(RED) {
  /** Answers where everybody is: the latest of each within 15 minutes. */
  function SdaLatest(definition) {
    RED.nodes.createNode(this, definition);
    onRequest(RED, this, definition, createAnswer('presence', (hacs) => hacs.latest()));
  }

  RED.nodes.registerType('sda-latest', SdaLatest);
};
