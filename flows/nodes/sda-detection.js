'use strict';

const { createAnswer, onRequest } = require('../lib/http/hacs');

module.exports = function register(RED) {
  /** Publishes a reading given by hand, and answers once the broker has acknowledged it. */
  function SdaDetection(definition) {
    RED.nodes.createNode(this, definition);
    onRequest(RED, this, definition, createAnswer('presence', (hacs, params) => hacs.detect(params)));
  }

  RED.nodes.registerType('sda-detection', SdaDetection);
};
