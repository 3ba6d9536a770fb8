// @ts-check
'use strict';

const { callerOf, lookUpOf, openToAll } = require('../access');
const { createCheck } = require('../http/checks');
const { failing, oneOf, queryOf, unknown } = require('../http/plumbing');
const { createAsk } = require('../http/v1/ask');
const { createCursors } = require('../http/v1/cursor');
const { createDescription, operationsOf } = require('../http/v1/description');
const { sendJson } = require('../http/v1/send');
const { ANSWERS } = require('./answers');

/** `/api/v1/staff…` for a whole campus: the operations of a site's description that have an answer here, checked by it. */

const PREFIX = '/api/v1';
/** Of a site's HACS-era routes. */
const HACS = new Set(['extractBeacon', 'newBeaconDetect', 'retrieveForMonitoring']);
/** Schemas of what lies at one site. */
const AT_A_SITE = ['Presence', 'Location', 'Stay', 'Meeting', 'HacsRecord', 'HacsLatest'];

/** What this entry answers, as OpenAPI. @param {string} version @returns {any} */
function describe(version) {
  const whole = structuredClone(createDescription(version));
  whole.info.title = 'SDA Locator, campus';
  const isOurs = (/** @type {any} */ { operationId: id }) => id in ANSWERS || HACS.has(id.replace(/ByPost$/, ''));
  const paths = Object.entries(whole.paths).filter(([, item]) => Object.values(item).every(isOurs));
  /** @type {any} */ (whole).paths = Object.fromEntries(paths);
  for (const name of AT_A_SITE) {
    const schema = /** @type {any} */ (whole.components.schemas)[name];
    schema.properties.site = { type: 'string', description: 'Name of the site in campus.toml.' };
    schema.required = [...schema.required, 'site'];
  }
  return whole;
}

/**
 * @param {import('express').Router} router
 * @param {{sites: import('./sites').Sites, clock: () => number, version: string, secret: string, log: (message: string) => void}} context
 *   secret: of cursors, the same for every entry of a campus
 * @param {ReturnType<typeof import('../access/guard').createAccess>['requireRight']} requireRight
 */
function addApi(router, { sites, clock, version, secret, log }, requireRight) {
  const description = describe(version);
  const described = JSON.stringify(description);
  const cursors = createCursors(secret);
  router.all(`${PREFIX}/openapi.json`, openToAll, oneOf('GET', 'HEAD'), (_request, response) => sendJson(response, described, { open: true }));
  for (const operation of operationsOf(description)) {
    const answer = ANSWERS[operation.id];
    if (!answer) continue; // of the HACS-era routes
    const check = createCheck(operation.parameters);
    const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
    router.all(path, requireRight(operation.right), oneOf('GET', 'HEAD'), (request, response, next) => {
      lookUpOf(response)?.('*', 0, 0); // the sites write it down, by the caller's name
      Promise.resolve()
        .then(() => {
          const ask = createAsk(operation, check(request.params, queryOf(request)), clock(), callerOf(response), cursors);
          return answer({ ask, sites, signal: response.locals.signal });
        })
        .then((result) => sendJson(response, result)).catch(next);
    });
  }
  router.use(PREFIX, requireRight('any')); // a stranger does not even learn what there is not
  router.use('/api', unknown, failing(log));
}

module.exports = { addApi };
