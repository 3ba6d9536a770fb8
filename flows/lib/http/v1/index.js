// @ts-check
'use strict';

const express = require('express');
const { auditWritten, callerOf, lookUpOf, openToAll } = require('../../access');
const { errorHandler } = require('../../shared/api-error');
const { BODY_BYTES, allowMethods, bodyOf, createBodyCheck, createCheck, notFound, queryOf, together } = require('../checks');
const { sendJson } = require('../encode');
const { addDocs } = require('../pages');
const { createDeviceAnswers } = require('./answers/devices');
const { createPeopleAnswers } = require('./answers/people');
const { createSystemAnswers } = require('./answers/system');
const { createAsk, several } = require('./ask');
const { createDescription, operationsOf } = require('./description');
const { buildingPaths: elsewhere } = require('./description/places');
const { createCursors } = require('./paging');

/**
 * Everything below `/api`, made from its description: each operation there has an answer here, or the start fails.
 * @typedef {object} Context what the answers need
 * @property {import('../../site').Site} site
 * @property {import('../../store').Store} store
 * @property {ReturnType<typeof import('../../devices/telemetry').createTelemetry>} telemetry
 * @property {import('../../past/rebuild').Rebuild} rebuild
 * @property {import('../../past/known-people').KnownSeed} knownSeed
 * @property {import('../../access/keys').Keys} keys
 * @property {Pick<import('../../access/audit').Audit, 'folder'|'settle'|'adminAction'|'lookedUp'>} audit
 * @property {import('../../recordings').Recordings} recordings
 * @property {import('../../alerts').Alerts} alerts
 * @property {import('../../building/editor').Editor} editor
 * @property {{put: (bytes: Buffer) => Promise<string>}} pictures of the building's plans
 * @property {() => Promise<void>} reload
 * @property {() => number} clock
 * @property {import('../../past/coverage').RefuseIncomplete} [refuseIncomplete]
 * @property {import('../../past/coverage').RefuseIncomplete} [refuseIncompleteStays]
 * @property {import('../../past/coverage').Coverage['completeUntil']} [completeUntil]
 * @property {string} apiKey
 * @property {string} [version]
 * @property {(message: string) => void} log
 * @typedef {(ask: import('./ask').Ask) => object|Promise<object>} Answer takes checked parameters and gives the body as it is described
 */

const PREFIX = '/api/v1';

/**
 * @param {Context} context
 * @param {ReturnType<typeof import('../../access/guard').createAccess>['requireRight']} requireRight
 */
function createApi(context, requireRight) {
  const router = express.Router();
  const { version = '0' } = context;
  const description = createDescription(version);
  const described = JSON.stringify(description);
  /** @type {Record<string, Answer>} by operationId */
  const answers = { ...createPeopleAnswers(context), ...createDeviceAnswers(context), ...createSystemAnswers(context) };
  const cursors = createCursors(context.apiKey);

  addDocs(router);
  router.all(`${PREFIX}/openapi.json`, openToAll, allowMethods('GET', 'HEAD'), (_request, response) => sendJson(response, described, { open: true }));

  const operations = operationsOf(description).filter(({ id, path }) => path.startsWith(`${PREFIX}/`) && !(path in elsewhere) && id !== 'getDescription');
  for (const operation of operations) {
    const answer = answers[operation.id];
    if (!answer) throw new Error(`${operation.id} is described, but nothing answers it`);
    const { method, right, audited, status } = operation;
    const check = createCheck(operation.parameters);
    const checkBody = operation.body ? createBodyCheck(operation.body) : together;
    const parsers = method === 'get' ? [] : [json, form];
    router[method](inExpress(operation.path), requireRight(right, { changes: method !== 'get', audited }), ...parsers, (request, response, next) => {
      Promise.resolve()
        .then(() => {
          const ask = createAsk(operation, check(request.params, queryOf(request)), context.clock(), callerOf(response), cursors);
          if (audited) {
            const { staff_id: staff, subject } = ask.params;
            const { nowMs, window } = ask;
            const { fromMs, toMs } = window.toMs > 0 ? window : { fromMs: nowMs, toMs: nowMs }; // it is about the present
            lookUpOf(response)(staff === undefined ? subject ?? '*' : several(staff), fromMs, toMs);
          }
          return answer(method === 'get' ? ask : { ...ask, body: checkBody(queryOf(request), bodyOf(request)) });
        })
        .then(async (result) => {
          await auditWritten(response);
          sendJson(response.status(status), result);
        }).catch(next);
    });
  }
  for (const path of new Set(operations.map((one) => one.path))) {
    const same = operations.filter((one) => one.path === path);
    const methods = same.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    router.all(inExpress(path), requireRight(/** @type {typeof same[number]} */ (same[0]).right), allowMethods(...methods));
  }
  // a caller without a key gets 401, not 404: it does not learn which routes exist
  router.use(PREFIX, requireRight('any'));
  router.use('/api', notFound, errorHandler(context.log));
  return router;
}

const json = express.json({ limit: BODY_BYTES, strict: false });
const form = express.urlencoded({ limit: BODY_BYTES, extended: false });

/** @param {string} path as OpenAPI writes it */
const inExpress = (path) => path.replace(/\{(\w+)\}/g, ':$1');

module.exports = { createApi };
