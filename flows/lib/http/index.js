// @ts-check
'use strict';

const compression = require('compression');
const cors = require('cors');
const express = require('express');
const { createAccess, createLogin, openToAll, requireLogin } = require('../access');
const { errorHandler, send, unavailable } = require('../shared/api-error');
const { addBuildingRoutes } = require('./building');
const { allowMethods, notFound } = require('./checks');
const { leaveBody } = require('./http-in-body');
const { createDashboard } = require('./pages');
const { createApi } = require('./v1');
const { COMPLETE_UNTIL, HACS_ROUTES } = require('./v1/description/hacs');

/**
 * Stands before and behind every route of Node-RED's HTTP server, whoever made the route: we, the dashboard, or a user's own
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
  app.use(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
    if (served) served.router(request, response, next);
    else next();
  }));
  app.parent?.use(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
    if (served && isRunning()) notFound(request, response, next);
    else refuse(starting(), request, response, next);
  }), errorHandler((message) => served?.log(message)));

  const front = {
    /** @param {Served} next */
    serve(next) { served = next; },
    end() { served = null; },
  };
  fronts.set(app, front);
  return front;
}

/**
 * Every request is counted and timed before its route; below `/api` and on the HACS routes answers are gzipped where
 * that is accepted, pages of configured origins may call, and under pressure a share is refused.
 */

/** The three HACS-era routes, which are flows: `http in`, check, ask, `http response`. */
const HACS_PATHS = HACS_ROUTES.map(({ path }) => path);
const API_PATHS = ['/api', ...HACS_PATHS];
/** Paths that may be refused under pressure: everything that is asked again by itself. */
const SHEDDABLE = ['/api/v1', ...HACS_PATHS];
const SHED_RETRY_AFTER_S = 1;
/** Shorter answers gain nothing, bytes. */
const GZIP_FROM = 1000;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
const REQUEST_HEADERS = ['Authorization', 'X-API-Key', 'Content-Type', 'If-None-Match', 'If-Match'];
const ANSWER_HEADERS = ['ETag', 'Retry-After', 'Allow', COMPLETE_UNTIL];
/** So long a browser need not ask again what it may ask. */
const PREFLIGHT_MAX_AGE_S = 600;

/**
 * @param {{metrics: {watch: import('express').RequestHandler}, readProtocol?: import('express').RequestHandler,
 *   corsOrigins?: string[], pressure?: import('../access/limits').Pressure,
 *   log: (message: string) => void}} context corsOrigins: whose pages may call, with a key
 * @returns {import('express').Router}
 */
function createMiddleware({ metrics, readProtocol, corsOrigins = [], pressure, log }) {
  const router = express.Router();
  router.use(metrics.watch);
  if (readProtocol) router.use(readProtocol);
  router.use(API_PATHS, compression({ threshold: GZIP_FROM }));
  if (corsOrigins.length > 0) {
    router.use(API_PATHS, cors({ origin: corsOrigins, methods: METHODS, allowedHeaders: REQUEST_HEADERS, exposedHeaders: ANSWER_HEADERS,
      maxAge: PREFLIGHT_MAX_AGE_S }));
  }
  if (pressure) {
    router.use(SHEDDABLE, (_request, _response, next) => {
      next(pressure.sheds() ? unavailable('requests come faster than they can be answered', SHED_RETRY_AFTER_S) : undefined);
    });
  }
  router.use(HACS_PATHS, leaveBody); // `sda-access` reads it, after it knows who sends it
  router.use(errorHandler(log));
  return router;
}

/**
 * Everything the flows answer over HTTP but the dashboard itself and the HACS routes, which are flows. Each route begins with its
 * guard, which declares the right it needs (a test holds this).
 * @param {import('./v1').Context & import('../access/guard').Context &
 *   import('./building').Context & {
 *   dashboardPath: string, buildingFile: string,
 *   sessions: ReturnType<typeof import('../access/sessions').createSessions>,
 *   health: import('../health').Health['report'],
 *   metrics: {contentType: string, text: () => Promise<string>}}} context
 * @param {ReturnType<typeof createAccess>} [access]
 */
function createRouter(context, access = createAccess(context)) {
  const router = express.Router();
  const { metrics } = context;
  const { requireRight, known } = access;

  /** @param {string} path @param {import('express').RequestHandler} answer */
  const toAll = (path, answer) => router.all(path, openToAll, allowMethods('GET', 'HEAD'), answer);
  toAll('/health', (request, response) => send(response, 200, context.health(context.clock(), { stranger: known(request) === null })));
  toAll('/', (_request, response) => response.redirect(302, context.dashboardPath));
  router.all('/login', openToAll, allowMethods('GET', 'HEAD', 'POST'));
  router.all('/logout', openToAll, allowMethods('POST'));
  router.use(createLogin(context.sessions, context.dashboardPath));

  refuseMethods(router, requireRight); // what no http in node takes
  router.all('/metrics', requireRight(['presence', 'admin']), allowMethods('GET', 'HEAD'), (_request, response, next) => {
    metrics.text().then((text) => response.set({ 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).end(text)).catch(next);
  });
  addBuildingRoutes(router, context, requireRight, { allowMethods, send });
  router.use(createApi(context, requireRight));

  router.all('/monitoring', requireLogin(context.sessions), allowMethods('GET', 'HEAD'));
  router.use(createDashboard(context));
  router.use('/pages', notFound);
  router.use(errorHandler(context.log));
  return router;
}

/**
 * Refuses methods that the HACS-era routes do not have, behind their guards; what they have goes on to the next route. HEAD goes on
 * too: Express answers it as GET.
 * @param {import('express').Router} router
 * @param {ReturnType<typeof import('../access/guard').createAccess>['requireRight']} requireRight
 */
function refuseMethods(router, requireRight) {
  for (const { path, right, methods } of HACS_ROUTES) {
    const refuse = allowMethods(...methods);
    const guard = requireRight(right);
    router.all(path, Object.assign(/** @type {import('express').RequestHandler} */ ((request, response, next) => {
      if (request.method === 'HEAD' || methods.includes(request.method)) next('route');
      else guard(request, response, next);
    }), { needs: guard.needs }), refuse);
  }
}

module.exports = { createFront, createMiddleware, createRouter, refuseMethods };
