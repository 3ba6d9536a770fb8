// @ts-check
'use strict';

const path = require('node:path');
const { callerOf, openToAll } = require('../access');
const { allowMethods } = require('../http/checks');
const { RIGHT } = require('./login');

/** The overview page. The files hold no data, so that everybody may load them; what they show needs a login or a key. */

const FOLDER = path.join(__dirname, '..', '..', 'dashboard');
/** @type {Record<string, string>} */
const FILES = { '/': 'campus/index.html', '/overview.js': 'campus/overview.js', '/overview.css': 'campus/overview.css',
  '/colours.css': 'src/colours.css', '/times.js': 'src/lib/times.js' };
/** A form that is sent without our script would put the key into an address. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; "
  + "frame-ancestors 'none'";
const HEADERS = { 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'private, no-cache' };

/**
 * @param {import('express').Router} router @param {import('./login').Logins} logins
 * @param {ReturnType<typeof import('../access/guard').createAccess>['requireRight']} requireRight
 */
function addPage(router, logins, requireRight) {
  for (const [route, file] of Object.entries(FILES)) {
    router.all(route, openToAll, allowMethods('GET', 'HEAD'), (_request, response, next) => {
      response.set(HEADERS).sendFile(file, { root: FOLDER, cacheControl: false }, (error) => {
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
