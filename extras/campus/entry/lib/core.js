// @ts-check
'use strict';

/**
 * What the entry uses of the core's flows. Nothing else here imports from there.
 * @typedef {import('../../../../flows/lib/access/guard').Caller} Caller
 * @typedef {import('../../../../flows/lib/access/keys').Keys} Keys
 * @typedef {import('../../../../flows/lib/health/figures').Figure} Figure
 * @typedef {import('../../../../flows/lib/http/v1/ask').Ask} Ask
 * @typedef {import('../../../../flows/lib/http/v1/ask').Window} Window
 * @typedef {import('../../../../flows/lib/http/v1/paging').Cursor} Cursor
 */
const {
  callerOf, createAccess, createClients, createHosts, createKeys, createTrust,
  isLoopback, KEY_FILE, lookUpOf, ON_BEHALF_OF, openToAll,
} = require('../../../../flows/lib/access');
const { createLimits, watchPressure } = require('../../../../flows/lib/access/limits');
const { ID } = require('../../../../flows/lib/building/ids');
const { encodingFault, encodingOf } = require('../../../../flows/lib/building/import/decode');
const { createFigures, createHttpFigures, createIntervalHistogram, createPrometheus } = require('../../../../flows/lib/health/figures');
const { accessFigures } = require('../../../../flows/lib/health/own-figures');
const { compareIds } = require('../../../../flows/lib/past/views');
const { createMiddleware, refuseMethods } = require('../../../../flows/lib/http');
const { allowMethods, createCheck, notFound, queryOf } = require('../../../../flows/lib/http/checks');
const { PiecedJson, sendJson } = require('../../../../flows/lib/http/encode');
const { createAccessCheck, deliver } = require('../../../../flows/lib/http/hacs');
const { createHttpsListener } = require('../../../../flows/lib/http/https-listener');
const { createAsk, isSet, pageById, several } = require('../../../../flows/lib/http/v1/ask');
const { createDescription, operationsOf } = require('../../../../flows/lib/http/v1/description');
const { COMPLETE_UNTIL, HACS_ROUTES } = require('../../../../flows/lib/http/v1/description/hacs');
const { answers, count, list, ms, object, orNull, text, yes } = require('../../../../flows/lib/http/v1/description/parts');
const { createCursors } = require('../../../../flows/lib/http/v1/paging');
const {
  abortResponse, ApiError, badRequest, errorHandler,
  headersOf, send, unavailable,
} = require('../../../../flows/lib/shared/api-error');

module.exports = {
  abortResponse, accessFigures, allowMethods, answers, ApiError, badRequest, callerOf, compareIds, COMPLETE_UNTIL, count, createAccess,
  createAccessCheck, createAsk, createCheck, createClients, createCursors, createDescription, createFigures, createHosts,
  createHttpFigures, createHttpsListener, createIntervalHistogram, createKeys, createLimits, createMiddleware, createPrometheus,
  createTrust, deliver, encodingFault, encodingOf, errorHandler, HACS_ROUTES, headersOf, ID, isLoopback, isSet, KEY_FILE, list,
  lookUpOf, ms, notFound, object, ON_BEHALF_OF, openToAll, operationsOf, orNull, pageById, PiecedJson, queryOf, refuseMethods, send,
  sendJson, several, text, unavailable, watchPressure, yes,
};
