// @ts-check
'use strict';

const express = require('express');
const compression = require('compression');
const cors = require('cors');
const { errorHandler, unavailable } = require('../shared/api-error');
const { COMPLETE_UNTIL, HACS_ROUTES } = require('./v1/description/hacs');

/**
 * What every request meets before its route: it is counted and timed; below `/api` and on the HACS routes answers are gzipped where
 * that is accepted, pages of configured origins may call, and under pressure a share is refused.
 */

/** The three HACS-era routes, which are flows: `http in`, check, ask, `http response`. */
const HACS_PATHS = HACS_ROUTES.map(({ path }) => path);
const API_PATHS = ['/api', ...HACS_PATHS];
/** What may be refused under pressure: everything that is asked again by itself. */
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
  router.use(HACS_PATHS, (request, response, next) => {
    /** @type {any} */ (request)._body = true; // `http in` leaves the body alone: `sda-access` reads it, after it knows who sends it
    response.locals.isBodyUnread = true;
    next();
  });
  router.use(errorHandler(log));
  return router;
}

module.exports = { createMiddleware };
