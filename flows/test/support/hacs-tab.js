'use strict';

const { EventEmitter, once } = require('node:events');
const express = require('express');
const { createAccess, createHosts } = require('../../lib/access');
const { createFront, createMiddleware, createRouter } = require('../../lib/http');
const { createHacs } = require('../../lib/http/hacs');
const flows = require('../../flows.json');

const HTTP_IN = '@node-red/nodes/core/network/21-httpin.js';
const HACS = flows.filter(({ z, type }) => z === 'tab-hacs' && type !== 'group');

/**
 * Node-RED's nodes, run without its runtime, so that many of them can live side by side: messages go along the wires.
 * @returns {() => void} closes them
 */
function run(definitions, { app, events, others = {}, log }) {
  const types = new Map();
  const nodes = new Map(Object.entries(others));
  const RED = {
    httpNode: app, events, settings: {}, _: (text) => text,
    util: { generateId: () => Math.random().toString(16), cloneMessage: structuredClone },
    nodes: {
      createNode(node, { id, wires = [] }) {
        EventEmitter.call(node);
        const send = (messages) => [messages].flat().forEach((msg, output) => (wires[output] ?? []).forEach((to) => {
          if (msg) setImmediate(() => nodes.get(to).emit('input', msg, send.of.get(to), (error) => error && log(String(error))));
        }));
        send.of = sends;
        sends.set(id, send);
        const { on, emit } = EventEmitter.prototype;
        Object.assign(node, { id, wires, send, status: () => {}, warn: log, error: log, metric: () => false, on, emit });
      },
      registerType: (type, Type) => types.set(type, Type),
      getNode: (id) => nodes.get(id) ?? null,
    },
  };
  const sends = new Map();
  for (const file of [HTTP_IN, ...['access', 'history', 'latest', 'detection'].map((name) => `../../nodes/sda-${name}`)]) require(file)(RED);
  const made = definitions.map((definition) => {
    nodes.set(definition.id, new (types.get(definition.type))(definition));
    return nodes.get(definition.id);
  });
  return () => made.forEach((node) => node.emit('close'));
}

/**
 * Everything that is answered over HTTP: the router, and the HACS tab of flows.json with Node-RED's own `http in` and `http response`.
 * @returns {Promise<string>} where
 */
async function serve(t, context, definitions = HACS) {
  const [app, events] = [express(), new EventEmitter()];
  const parent = express().use(app);
  const front = createFront(app, createHosts([]), events);
  const access = createAccess(context);
  front.serve({ middleware: createMiddleware(context), router: createRouter(context, access), log: context.log });
  const close = run(definitions, { app, events, log: context.log, others: { answers: { access, hacs: createHacs(context) } } });
  events.emit('flows:started');
  const server = parent.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    close();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

module.exports = { serve, HACS };
