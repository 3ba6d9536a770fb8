// @ts-check
'use strict';

const path = require('node:path');
const { allowMethods, callerOf, openToAll } = require('./core');
const { RIGHT } = require('./login');

/** The overview page. The files hold no data, so that everybody may load them; what they show needs a login or a key. */

const OWN = path.join(__dirname, '..', 'page');
/** The dashboard's: colours and how times are written. */
const SHARED = path.join(__dirname, '..', '..', '..', '..', 'flows', 'dashboard', 'src');
/** @type {Record<string, [root: string, file: string]>} */
const FILES = { '/': [OWN, 'index.html'], '/overview.js': [OWN, 'overview.js'], '/overview.css': [OWN, 'overview.css'],
  '/colours.css': [SHARED, 'colours.css'], '/times.js': [SHARED, 'lib/times.js'] };
/** A form that is sent without our script would put the key into an address. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; "
  + "frame-ancestors 'none'";
const HEADERS = { 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'private, no-cache' };

/**
 * @param {import('express').Router} router @param {import('./login').Logins} logins
 * @param {ReturnType<typeof import('./core').createAccess>['requireRight']} requireRight
 */
function addPage(router, logins, requireRight) {
  for (const [route, [root, file]] of Object.entries(FILES)) {
    router.all(route, openToAll, allowMethods('GET', 'HEAD'), (_request, response, next) => {
      response.set(HEADERS).sendFile(file, { root, cacheControl: false }, (error) => {
        if (error && !response.headersSent) next(error);
      });
    });
  }
  router.all('/login', requireRight(RIGHT), allowMethods('POST'), logins.readCookie, (request, response) => {
    logins.begin(request, callerOf(response));
    response.status(204).set('Cache-Control', 'no-store').end();
  });
  router.all('/logout', openToAll, allowMethods('POST'), logins.readCookie, (request, response) => {
    logins.end(request);
    response.status(204).set('Cache-Control', 'no-store').end();
  });
}

module.exports = { addPage };
