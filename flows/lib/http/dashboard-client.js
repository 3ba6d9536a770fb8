// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const compression = require('compression');
const express = require('express');

/**
 * How the dashboard's client reaches browsers: compressed, and once. FlowFuse's static files alone are 5.6 MB a first page, asked for
 * again with each visit. Names of files in `assets/` carry a hash of their content, so browsers keep them.
 */

/** Shorter files gain nothing, bytes. */
const COMPRESS_FROM_BYTES = 1000;
const CLIENT = path.join(path.dirname(require.resolve('@flowfuse/node-red-dashboard/package.json')), 'dist');
const BOOTSTRAP = fs.readFileSync(path.join(__dirname, '..', '..', 'dashboard', 'bootstrap.js'), 'utf8');

/** The bootstrap as a source that a Content-Security-Policy allows. */
const BOOTSTRAP_SOURCE = `'sha256-${createHash('sha256').update(BOOTSTRAP).digest('base64')}'`;

/** A page of the dashboard. Others are files, which have an extension, and what the dashboard keeps for itself, such as `_setup`. */
const PAGE = /^\/[^_.][^.]*$|^\/$|^\/index\.html$/;

/** @returns {import('express').RequestHandler} gzip or Brotli, as the browser accepts */
const compress = () => compression({ threshold: COMPRESS_FROM_BYTES });

/** For the dashboard's `middleware` in settings.js, behind the log-in. @returns {import('express').Router} */
function createClientFiles() {
  const router = express.Router();
  router.use(compress());
  const html = fs.readFileSync(path.join(CLIENT, 'index.html'), 'utf8').replace('<head>', () => `<head><script>${BOOTSTRAP}</script>`);
  router.get(PAGE, (request, response, next) => {
    const [address] = request.originalUrl.split('?');
    // the dashboard redirects its own address to one with a slash, and asks once more, unmounted, for what it answers itself
    if (request.baseUrl === '' || address === request.baseUrl) next();
    else response.set('Cache-Control', 'private, no-cache').type('html').send(html);
  });
  router.use('/assets', express.static(path.join(CLIENT, 'assets'), {
    index: false, setHeaders: (response) => response.set('Cache-Control', 'private, max-age=31536000, immutable'),
  }));
  return router;
}

module.exports = { createClientFiles, compress, BOOTSTRAP_SOURCE };
