// @ts-check
'use strict';

const express = require('express');
const { accounted, createAccess, loginDoor, lookUpOf, openDoor } = require('../access/guard');
const { addChanging } = require('./changing');
const { createDashboard } = require('./dashboard');
const { unavailable } = require('./errors');
const { createLatest } = require('../history/latest');
const { createUniqueTimestamps } = require('../shared/unique-timestamps');
const { extractBeacon, newBeaconDetect, retrieveForMonitoring } = require('./hacs');
const { createLogin } = require('../access/login');
const { readParams } = require('./params');
const { BODY_BYTES, bodyOf, failing, oneOf, send, unknown } = require('./plumbing');
const { addTransport } = require('./transport');
const { createUnlisted } = require('../intake/unlisted');
const { createApi } = require('./v1');

/**
 * Everything the flows answer over HTTP but the dashboard itself. Each route begins with its door, which declares the
 * right it needs (a test holds this).
 * @param {Omit<import('./hacs').Context, 'latest'|'moment'|'unlisted'> & import('./v1').Context & import('../access/guard').Context &
 *   import('./building').Context & import('./alerts').Context & {
 *   dashboardPath: string, buildingFile: string, corsOrigins?: string[],
 *   sessions: ReturnType<typeof import('../access/sessions').createSessions>,
 *   health: import('../health').Health['report'], unlisted?: import('../intake/unlisted').Unlisted,
 *   pressure?: import('../access/pressure').Pressure,
 *   metrics: {watch: import('express').RequestHandler, contentType: string, text: () => Promise<string>}}} context
 */
function createRouter(context) {
  const router = express.Router();
  const { metrics } = context;
  const hacs = { ...context, latest: createLatest(context), moment: createUniqueTimestamps(context.clock),
    unlisted: context.unlisted ?? createUnlisted({ ...context, file: null }) };
  router.use(metrics.watch);
  addTransport(router, context.corsOrigins);
  const { door, known } = createAccess(context);
  if (context.pressure) router.use(SHEDDABLE, shedding(context.pressure));

  /** @param {string} path @param {import('express').RequestHandler} answer */
  const open = (path, answer) => router.all(path, openDoor, oneOf('GET', 'HEAD'), answer);
  open('/health', (request, response) => send(response, 200, context.health(context.clock(), { stranger: known(request) === null })));
  open('/', (_request, response) => response.redirect(302, context.dashboardPath));
  router.all('/login', openDoor, oneOf('GET', 'HEAD', 'POST'));
  router.all('/logout', openDoor, oneOf('POST'));
  router.use(createLogin(context.sessions, context.dashboardPath));

  /**
   * @param {string} path
   * @param {import('../access/guard').Needed} needs
   * @param {(context: import('./hacs').Context, params: Record<string, unknown>, lookUp: import('../access/guard').LookUp) =>
   *   Promise<object|string>|object} answer
   * @param {string[]} methods
   * @param {object} [onError] part of every error's answer
   */
  const route = (path, needs, answer, methods, onError = {}) => {
    const changes = answer === newBeaconDetect;
    router.all(path, door(needs, { changes }), oneOf(...methods), express.json({ limit: BODY_BYTES, strict: false }),
      express.urlencoded({ limit: BODY_BYTES, extended: false }), (request, response, next) => {
        const params = () => readParams(request.originalUrl, bodyOf(request));
        Promise.resolve().then(() => answer(hacs, params(), lookUpOf(response)))
          .then(async (result) => {
            await accounted(response);
            await send(response, 200, result);
          }).catch(next);
      });
    router.use(path, failing(context.log, onError));
  };
  route('/extractbeacon', 'history', extractBeacon, ['GET', 'HEAD', 'POST'], { location: [] });
  route('/newbeacondetect', 'presence', newBeaconDetect, ['GET', 'POST']); // a HEAD must not change anything
  route('/retrieveformonitoring', 'presence', retrieveForMonitoring, ['GET', 'HEAD', 'POST']);

  router.all('/metrics', door(['presence', 'admin']), oneOf('GET', 'HEAD'), (_request, response, next) => {
    metrics.text().then((text) => response.set({ 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).end(text)).catch(next);
  });
  addChanging(router, context, door, { oneOf, send });
  router.use(createApi(context, door));

  router.all('/monitoring', loginDoor(context.sessions), oneOf('GET', 'HEAD'));
  router.use(createDashboard(context));
  router.use('/pages', unknown, failing(context.log));
  // The dashboard itself is not ours; all the rest is ours to refuse.
  router.use(`/${context.dashboardPath.split('/')[1]}`, (_request, _response, next) => next('router'));
  router.use(unknown, failing(context.log));
  return router;
}

/** What may be refused under pressure: everything that is asked again by itself. */
const SHEDDABLE = ['/extractbeacon', '/newbeacondetect', '/retrieveformonitoring', '/api/v1'];
const AGAIN_S = 1;

/** @param {import('../access/pressure').Pressure} pressure @returns {import('express').RequestHandler} */
const shedding = (pressure) => (_request, _response, next) => {
  next(pressure.sheds() ? unavailable('requests come faster than they can be answered', AGAIN_S) : undefined);
};

module.exports = { createRouter };
