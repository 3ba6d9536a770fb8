// @ts-check
'use strict';

const path = require('node:path');
const express = require('express');
const { NAME: UPLOADED } = require('../building/pictures');
const { requireLogin } = require('../access');
const { BOOTSTRAP_SOURCE, compress } = require('./dashboard-client');
const { ApiError } = require('../shared/api-error');

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

module.exports = { createDashboard, protect };
