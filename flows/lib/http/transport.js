// @ts-check
'use strict';

const compression = require('compression');
const cors = require('cors');

/** How whatever lies below `/api` travels, refusals included: gzipped where that is accepted, also to pages of some other origins. */

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
const ASKED = ['Authorization', 'X-API-Key', 'Content-Type', 'If-None-Match', 'If-Match'];
const TOLD = ['ETag', 'Retry-After', 'Allow'];
/** So long a browser need not ask again what it may ask. */
const ASKED_AGAIN_S = 600;

/** @param {import('express').Router} router before all that answers @param {string[]} [origins] whose pages may call, with a key */
function addTransport(router, origins = []) {
  router.use('/api', compression());
  if (origins.length === 0) return;
  router.use('/api', cors({ origin: origins, methods: METHODS, allowedHeaders: ASKED, exposedHeaders: TOLD, maxAge: ASKED_AGAIN_S }));
}

module.exports = { addTransport };
