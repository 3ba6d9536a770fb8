// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const compression = require('compression');
const express = require('express');
const { openToAll, requireLogin } = require('../access');
const { NAME: UPLOADED } = require('../building/pictures');
const { ApiError } = require('../shared/api-error');
const { allowMethods } = require('./checks');

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

/** The built pages: `npm run build` makes them out of dashboard/src. */
const DIST = path.join(__dirname, '..', '..', 'dashboard', 'dist');

/**
 * Nothing from elsewhere, no script that is not ours, no frame around us. Styles stand inline in the dashboard itself.
 */
const POLICY = `default-src 'self'; script-src 'self' ${BOOTSTRAP_SOURCE}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; ` +
  "font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

/** The classic view, for old bookmarks. */
const MONITORING = path.join(__dirname, '..', '..', 'dashboard', 'monitoring.html');

/** @type {import('express').RequestHandler} */
function protect(_request, response, next) {
  response.set({ 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'same-origin' });
  next();
}

/**
 * The classic view, and what the pages fetch below /pages beside the live data: their code, and the plan pictures of levels.
 * @param {{site: import('../site').Site, sessions: ReturnType<typeof import('../access/sessions').createSessions>,
 *   buildingFile: string}} context
 */
function createDashboard({ site, sessions, buildingFile }) {
  const router = express.Router();
  const login = requireLogin(sessions);
  router.get('/monitoring', login, protect, (_request, response) => {
    response.set('Cache-Control', 'private, no-cache').sendFile(MONITORING);
  });
  router.use('/pages', protect, login);
  router.use('/pages/resources/sda-dashboard', compress(), express.static(DIST, {
    index: false,
    setHeaders: (response, file) => response.set('Cache-Control', file.includes(`${path.sep}parts${path.sep}`)
      ? 'private, max-age=31536000, immutable' : 'private, no-cache'),
  }));
  router.get('/pages/plans/:level', login, (request, response, next) => {
    const { level } = request.params;
    const missing = () => next(new ApiError(404, `there is no plan picture of level ${level}`));
    const plan = site.building().levels.find(({ id }) => id === level)?.plan;
    if (plan === undefined) {
      missing();
      return;
    }
    sendPicture(response, plan, 'private, no-cache', missing);
  });
  router.get('/pages/pictures/:name', login, (request, response, next) => {
    const { name } = request.params;
    const missing = () => next(new ApiError(404, `there is no picture ${name}`));
    if (UPLOADED.test(name ?? '')) sendPicture(response, name ?? '', 'private, max-age=31536000, immutable', missing);
    else missing();
  });

  /**
   * A picture may be SVG: opened by itself it must not run scripts.
   * @param {import('express').Response} response @param {string} name @param {string} caching @param {() => void} missing
   */
  function sendPicture(response, name, caching, missing) {
    response.set({ 'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'", 'Cache-Control': caching });
    response.sendFile(name, { root: path.dirname(buildingFile), dotfiles: 'deny', cacheControl: false }, (error) => {
      if (error && !response.headersSent) missing();
    });
  }
  return router;
}

/**
 * The description as a page, out of what lies on this machine: Swagger UI, which may load nothing from elsewhere.
 */

const UI = path.dirname(require.resolve('swagger-ui-dist/package.json'));
const FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

const DOCS_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    + "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'private, no-cache',
};

const DOCS_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>SDA Locator: API</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/api/docs/swagger-ui.css">
<link rel="stylesheet" href="/api/docs/page.css"></head>
<body><main id="api"></main><script src="/api/docs/swagger-ui-bundle.js"></script><script src="/api/docs/page.js"></script></body></html>
`;

const DOCS_SCRIPT = `SwaggerUIBundle({
  url: '/api/v1/openapi.json', dom_id: '#api', deepLinking: true, defaultModelsExpandDepth: 0, displayRequestDuration: true, validatorUrl: null,
  queryConfigEnabled: false, syntaxHighlight: { activated: false },
});
`;

const DOCS_STYLE = `body { margin: 0; background: #fff } .swagger-ui .topbar, .swagger-ui .scheme-container .schemes-server-container { display: none }
`;

/** @param {import('express').Router} router */
function addDocs(router) {
  /** @param {string} name @param {import('express').RequestHandler} answer */
  const page = (name, answer) => router.all(`/api/docs${name}`, openToAll, allowMethods('GET', 'HEAD'), answer);
  /** @param {string} name @param {string} type @param {string} text */
  const own = (name, type, text) => page(name, (_request, response) => response.set(DOCS_HEADERS).type(type).send(text));
  own('', 'html', DOCS_PAGE);
  own('/page.js', 'js', DOCS_SCRIPT);
  own('/page.css', 'css', DOCS_STYLE);
  for (const name of FILES) {
    page(`/${name}`, (_request, response) => response.set(DOCS_HEADERS).sendFile(path.join(UI, name), { cacheControl: false }));
  }
}

module.exports = { createClientFiles, createDashboard, protect, addDocs };
