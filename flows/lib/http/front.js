// @ts-check
'use strict';

const { errorHandler, unavailable } = require('../shared/api-error');
const { notFound } = require('./handlers');
const { HACS_ROUTES } = require('./v1/description/hacs');

/**
 * What stands before and behind every route of Node-RED's HTTP server, whoever made the route: we, the dashboard, or a user's own
 * `http in`. Before all of them: host names, then what `serve` was given. Behind all of them: 404 and errors in JSON. Node-RED
 * listens before its flows have begun; until then, and while they are exchanged, our paths are 503 and not 404.
 * @typedef {{middleware: import('express').RequestHandler, router: import('express').Router, log: (message: string) => void}} Served
 *   middleware: comes before every route
 * @typedef {{serve: (next: Served) => void, end: () => void}} Front serve: answer from now on; end: no more
 */
const RETRY_AFTER_S = 1;
/** Our paths, as the first segment; nobody else's routes are kept from answering. */
const OURS = new Set(['', 'api', 'health', 'login', 'logout', 'metrics', 'monitoring', 'pages', ...HACS_ROUTES.map(({ path }) => path.slice(1))]);

/** @type {WeakMap<object, Front>} by application: nodes are registered once a process, but in tests again and again */
const fronts = new WeakMap();

/** Whether the routes of all tabs are there, by the runtime's events, which outlive applications. @type {WeakMap<object, () => boolean>} */
const runtimes = new WeakMap();

/** @param {Pick<import('node:events').EventEmitter, 'on'>} events of Node-RED's runtime */
function isRunningBy(events) {
  const known = runtimes.get(events);
  if (known) return known;
  let isRunning = false;
  events.on('flows:stopping', () => { isRunning = false; });
  events.on('flows:started', () => { isRunning = true; });
  const read = () => isRunning;
  runtimes.set(events, read);
  return read;
}

/**
 * @param {any} app Express's, as Node-RED has it for flows (`RED.httpNode`); what comes behind all routes is put into the application
 *   that it is part of
 * @param {Pick<import('../access/clients').Hosts, 'guard'>} hosts
 * @param {Pick<import('node:events').EventEmitter, 'on'>} events of Node-RED's runtime
 * @returns {Front} the one of this application
 */
function createFront(app, hosts, events) {
  const known = fronts.get(app);
  if (known) return known;
  /** @type {Served|null} */
  let served = null;
  const isRunning = isRunningBy(events);

  const refuse = errorHandler(() => {}, { location: [] });
  const starting = () => unavailable('Node-RED is starting', RETRY_AFTER_S);

  app.use(hosts.guard);
  app.use(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
    if (served) served.middleware(request, response, next);
    else if (OURS.has(request.path.split('/', 2)[1] ?? '')) refuse(starting(), request, response, next);
    else next();
  }));
  app.parent?.use(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
    if (served && isRunning()) notFound(request, response, next);
    else refuse(starting(), request, response, next);
  }), errorHandler((message) => served?.log(message)));

  /** @type {Front} */
  const front = {
    serve(next) {
      served = next;
      app.use(next.router);
    },
    end() {
      const { stack } = app._router; // as Node-RED's own http nodes take theirs off
      const at = stack.findIndex((/** @type {{handle: unknown}} */ layer) => layer.handle === served?.router);
      if (at >= 0) stack.splice(at, 1);
      served = null;
    },
  };
  fronts.set(app, front);
  return front;
}

module.exports = { createFront };
