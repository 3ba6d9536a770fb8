// @ts-check
'use strict';

const { unavailable } = require('./errors');
const { failing } = require('./plumbing');

/**
 * Node-RED listens before its flows have begun. Until then, and while they are exchanged, whoever calls is told to come again
 * instead of that there is nothing here.
 */
const AGAIN_S = 1;

/** @type {WeakMap<object, {router: import('express').Router|null}>} by application: who answers */
const guarded = new WeakMap();
const refuse = failing(() => {}, { location: [] });

/**
 * @param {any} app Express's, as Node-RED has it
 * @param {Pick<import('../access/hosts').Hosts, 'guard'>} hosts stand before everything
 */
function createStarting(app, hosts) {
  const now = guarded.get(app) ?? { router: null };
  if (!guarded.has(app)) {
    guarded.set(app, now);
    app.use(hosts.guard);
    app.use(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
      if (now.router) next();
      else refuse(unavailable('Node-RED is starting', AGAIN_S), request, response, next);
    }));
  }
  return {
    /** @param {import('express').Router} router */
    answer(router) {
      app.use(router);
      now.router = router;
    },
    end() {
      const { stack } = app._router; // as Node-RED's own http nodes take theirs off
      stack.splice(stack.findIndex((/** @type {{handle: unknown}} */ layer) => layer.handle === now.router), 1);
      now.router = null;
    },
  };
}

module.exports = { createStarting };
