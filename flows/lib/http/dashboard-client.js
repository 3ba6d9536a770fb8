// @ts-check
'use strict';

const path = require('node:path');
const compression = require('compression');
const express = require('express');

/**
 * How the dashboard's client reaches browsers: compressed, and once. FlowFuse's static files alone are 5.6 MB a first page, asked for
 * again with each visit. Names of files in `assets/` carry a hash of their content, so browsers keep them.
 */

/** Shorter files gain nothing, bytes. */
const COMPRESS_FROM_BYTES = 1000;
const ASSETS = path.join(path.dirname(require.resolve('@flowfuse/node-red-dashboard/package.json')), 'dist', 'assets');

/** @returns {import('express').RequestHandler} gzip or Brotli, as the browser accepts */
const compress = () => compression({ threshold: COMPRESS_FROM_BYTES });

/** For the dashboard's `middleware` in settings.js, behind the log-in. @returns {import('express').Router} */
function createClientFiles() {
  const router = express.Router();
  router.use(compress());
  router.use('/assets', express.static(ASSETS, {
    index: false, setHeaders: (response) => response.set('Cache-Control', 'private, max-age=31536000, immutable'),
  }));
  return router;
}

module.exports = { createClientFiles, compress };
