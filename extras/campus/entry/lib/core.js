// @ts-check
'use strict';

/**
 * What the entry uses of the core's flows. Nothing else here imports from there.
 * @typedef {import('../../../../flows/lib/access/callers').Caller} Caller
 * @typedef {import('../../../../flows/lib/access/keys').Keys} Keys
 * @typedef {import('../../../../flows/lib/health/metrics/figures').Figure} Figure
 * @typedef {import('../../../../flows/lib/http/v1/ask').Ask} Ask
 * @typedef {import('../../../../flows/lib/http/v1/cursor').Cursor} Cursor
 * @typedef {import('../../../../flows/lib/http/v1/window').Window} Window
 */
const {
  callerOf, createAccess, createClients, createHosts, createKeys, createTrust,
  isLoopback, KEY_FILE, lookUpOf, ON_BEHALF_OF, openToAll,
} = require('../../../../flows/lib/access');
const { createLimits } = require('../../../../flows/lib/access/limits');
const { watchPressure } = require('../../../../flows/lib/access/pressure');
const { ID } = require('../../../../flows/lib/building/ids');
const { encodingFault, encodingOf } = require('../../../../flows/lib/building/import/decode');
const { accessFigures } = require('../../../../flows/lib/health/metrics/access-figures');
const { createFigures } = require('../../../../flows/lib/health/metrics/figures');
const { createHttpFigures } = require('../../../../flows/lib/health/metrics/http-figures');
const { createIntervalHistogram } = require('../../../../flows/lib/health/metrics/interval-histogram');
const { createPrometheus } = require('../../../../flows/lib/health/metrics/prometheus');
const { compareIds } = require('../../../../flows/lib/history/views/stays');
const { PiecedJson } = require('../../../../flows/lib/http/answer');
const { createCheck } = require('../../../../flows/lib/http/checks');
const { ApiError, badRequest, unavailable } = require('../../../../flows/lib/http/errors');
const { createAccessCheck, deliver } = require('../../../../flows/lib/http/flow');
const { refuseMethods } = require('../../../../flows/lib/http/hacs-methods');
const { abortResponse, allowMethods, errorHandler, headersOf, notFound, queryOf, send } = require('../../../../flows/lib/http/handlers');
const { createHttpsListener } = require('../../../../flows/lib/http/https-listener');
const { createMiddleware } = require('../../../../flows/lib/http/middleware');
const { createAsk, isSet, pageById, several } = require('../../../../flows/lib/http/v1/ask');
const { createCursors } = require('../../../../flows/lib/http/v1/cursor');
const { createDescription, operationsOf } = require('../../../../flows/lib/http/v1/description');
const { COMPLETE_UNTIL, HACS_ROUTES } = require('../../../../flows/lib/http/v1/description/paths/hacs');
const { answers } = require('../../../../flows/lib/http/v1/description/responses');
const { count, list, ms, object, orNull, text, yes } = require('../../../../flows/lib/http/v1/description/schemas/build');
const { sendJson } = require('../../../../flows/lib/http/v1/send');

module.exports = {
  abortResponse, accessFigures, allowMethods, answers, ApiError, badRequest, callerOf, compareIds, COMPLETE_UNTIL, count, createAccess,
  createAccessCheck, createAsk, createCheck, createClients, createCursors, createDescription, createFigures, createHosts,
  createHttpFigures, createHttpsListener, createIntervalHistogram, createKeys, createLimits, createMiddleware, createPrometheus,
  createTrust, deliver, encodingFault, encodingOf,
  errorHandler, HACS_ROUTES, headersOf, ID, isLoopback, isSet, KEY_FILE, list, lookUpOf, ms, notFound, object,
  ON_BEHALF_OF, openToAll, operationsOf, orNull, pageById, PiecedJson, queryOf, refuseMethods, send, sendJson, several, text,
  unavailable, watchPressure, yes,
};
