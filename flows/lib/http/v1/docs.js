// @ts-check
'use strict';

const path = require('node:path');
const { openToAll } = require('../../access');
const { allowMethods } = require('../handlers');

/**
 * The description as a page, out of what lies on this machine: Swagger UI, which may load nothing from elsewhere.
 */

const UI = path.dirname(require.resolve('swagger-ui-dist/package.json'));
const FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    + "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'private, no-cache',
};

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>SDA Locator: API</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/api/docs/swagger-ui.css">
<link rel="stylesheet" href="/api/docs/page.css"></head>
<body><main id="api"></main><script src="/api/docs/swagger-ui-bundle.js"></script><script src="/api/docs/page.js"></script></body></html>
`;

const SCRIPT = `SwaggerUIBundle({
  url: '/api/v1/openapi.json', dom_id: '#api', deepLinking: true, defaultModelsExpandDepth: 0, displayRequestDuration: true, validatorUrl: null,
  queryConfigEnabled: false, syntaxHighlight: { activated: false },
});
`;

const STYLE = `body { margin: 0; background: #fff } .swagger-ui .topbar, .swagger-ui .scheme-container .schemes-server-container { display: none }
`;

/** @param {import('express').Router} router */
function addDocs(router) {
  /** @param {string} name @param {import('express').RequestHandler} answer */
  const page = (name, answer) => router.all(`/api/docs${name}`, openToAll, allowMethods('GET', 'HEAD'), answer);
  /** @param {string} name @param {string} type @param {string} text */
  const own = (name, type, text) => page(name, (_request, response) => response.set(HEADERS).type(type).send(text));
  own('', 'html', PAGE);
  own('/page.js', 'js', SCRIPT);
  own('/page.css', 'css', STYLE);
  for (const name of FILES) {
    page(`/${name}`, (_request, response) => response.set(HEADERS).sendFile(path.join(UI, name), { cacheControl: false }));
  }
}

module.exports = { addDocs };
