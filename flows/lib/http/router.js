// @ts-check
'use strict';

const express = require('express');
const { createAccess, createLogin, openToAll, requireLogin } = require('../access');
const { addBuildingRoutes } = require('./building-routes');
const { createDashboard } = require('./dashboard');
const { refuseMethods } = require('./hacs-methods');
const { allowMethods, notFound } = require('./handlers');
const { errorHandler, send } = require('../shared/api-error');
const { createApi } = require('./v1');

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

module.exports = { createRouter };
