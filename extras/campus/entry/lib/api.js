// @ts-check
'use strict';

const {
  allowMethods, callerOf, createAsk, createCheck, createCursors, errorHandler, lookUpOf, notFound, openToAll, operationsOf, queryOf,
  sendJson,
} = require('./core');
const { ANSWERS } = require('./answers');
const { describe } = require('./description');

/** `/api/v1` for a whole campus: the operations of a site's description that have an answer here, checked by it. */

const PREFIX = '/api/v1';
/**
 * @param {import('express').Router} router
 * @param {{sites: import('./sites').Sites, overview: import('./overview').Overview, clock: () => number, version: string, secret: string,
 *   log: (message: string) => void}} context secret: of cursors, the same for every entry of a campus
 * @param {ReturnType<typeof import('./core').createAccess>['requireRight']} requireRight
 */
function addApi(router, { sites, overview, clock, version, secret, log }, requireRight) {
  /** @type {typeof ANSWERS} */
  const answers = { ...ANSWERS, listSites: () => overview.read() };
  const description = describe(version, { answered: answers, names: sites.names });
  const described = JSON.stringify(description);
  const cursors = createCursors(secret);
  router.all(`${PREFIX}/openapi.json`, openToAll, allowMethods('GET', 'HEAD'), (_request, response) => sendJson(response, described, { open: true }));
  for (const operation of operationsOf(description)) {
    const answer = answers[operation.id];
    if (!answer) continue; // of the HACS-era routes
    const check = createCheck(operation.parameters);
    const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
    router.all(path, requireRight(operation.right), allowMethods('GET', 'HEAD'), (request, response, next) => {
      lookUpOf(response)?.('*', 0, 0); // the sites write it down, by the caller's name
      Promise.resolve()
        .then(() => {
          const ask = createAsk(operation, check(request.params, queryOf(request)), clock(), callerOf(response), cursors);
          return answer({ ask, sites, signal: response.locals.signal });
        })
        .then((result) => sendJson(response, result)).catch(next);
    });
  }
  // a caller without a key gets 401, not 404: it does not learn which routes exist
  router.use(PREFIX, requireRight('any'));
  router.use('/api', notFound, errorHandler(log));
}

module.exports = { addApi };
