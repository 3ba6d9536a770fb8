// @ts-check
'use strict';

const { allowMethods } = require('./handlers');
const { HACS_ROUTES } = require('./v1/description/hacs');

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

module.exports = { refuseMethods };
