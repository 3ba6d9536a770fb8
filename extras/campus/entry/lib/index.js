// @ts-check
'use strict';

const path = require('node:path');
const express = require('express');
const {
  accessFigures, allowMethods, createAccess, createClients, createFigures, createHosts, createHttpFigures, createHttpsListener,
  createKeys, createLimits, createMiddleware, createPrometheus, createTrust, errorHandler, KEY_FILE, notFound, openToAll, send,
  watchPressure,
} = require('./core');
const { addApi } = require('./api');
const { addHacs } = require('./hacs');
const { createLogins } = require('./login');
const { createOverview } = require('./overview');
const { addPage } = require('./page');
const { createSites } = require('./sites');

/**
 * The campus entry: checks who asks as a site does, asks the sites and merges what they answer. It keeps nothing but who has a past at
 * which site, as the sites say all the time, so any number of them may run side by side with the same campus.toml and keys.
 * @typedef {{info: (text: string) => void, warn: (text: string) => void, error: (text: string) => void}} Log
 */

const POLL_MS = 2000;
const KEYS_MS = 1000; // a key that is revoked is refused after this
const ROLL_MS = 5000;
/** The audit log is written by the sites. */
const NO_AUDIT = { lookedUp: () => undefined };

/**
 * @param {import('./config').CampusConfig} config
 * @param {{version: string, log: Log, clock?: () => number}} deps
 * @throws {Error} where a network in the configuration is none
 */
function createCampus(config, { version, log, clock = Date.now }) {
  const startedMs = clock();
  const figures = createFigures();
  const prometheus = createPrometheus(figures, version);
  const http = createHttpFigures(prometheus.latencies);
  const hosts = createHosts(config.hostNames, 'host_names of campus.toml');
  const clients = createClients({ trustedProxies: config.trustedProxies, isAnswered: hosts.isAnswered }, 'trusted_proxies of campus.toml');
  const nets = { trustedNets: config.trustedNets, httpBind: config.bind, bridgeAddress: null };
  const trusted = createTrust(nets, 'trusted_nets of campus.toml');
  const keys = createKeys({ file: path.join(config.dataDir, KEY_FILE), clock, logger: { log: log.info, warn: log.warn } });
  const limits = createLimits({ ratePerS: config.ratePerS, trustedRatePerS: config.ratePerS });
  const pressure = watchPressure();
  const sites = createSites(config.sites, { timeoutMs: config.timeoutMs, warn: log.warn, info: log.info, clock });
  const secret = config.sites.map(({ key }) => key).join('\n'); // the same for every entry of a campus
  const logins = createLogins({ secret, keys, clock });
  const dashboards = Object.fromEntries(config.sites.map(({ name, dashboard }) => [name, dashboard]));
  const overview = createOverview({ sites, dashboards, clock });
  const httpsListener = config.https && createHttpsListener({ ...config.https, clock });
  let same = 0;

  figures.add(http.figures, http.roll);
  const ofAccess = accessFigures({ audit: { counters: () => NOT_COUNTED }, limits, keys, hosts });
  figures.add(ofAccess.filter(({ name }) => !name.startsWith('audit_')));
  figures.add(pressure.figures);
  figures.add(sites.figures, sites.roll);
  if (httpsListener) figures.add(httpsListener.figures);
  figures.add([{ name: 'campus_same_second', kind: 'counter', help: 'Locations left out, because another site has one of the same second',
    read: () => same }]);

  const access = createAccess({ apiKey: '', trusted, clock, keys, sessions: logins, clientOf: clients.clientOf, hostsOf: clients.hostsOf, limits,
    audit: NO_AUDIT, log: log.error });
  const { requireRight } = access;

  /** @param {boolean} known whether the caller is; others learn which sites there are, not what is wrong with them */
  function health(known) {
    const states = sites.states();
    const parts = { keys: keys.part(), ...(httpsListener ? { https: httpsListener.part() } : {}) };
    const up = [...Object.values(parts), ...Object.values(states)].every(({ status }) => status === 'up');
    return { status: up ? 'up' : 'degraded', version, uptime_s: Math.round((clock() - startedMs) / 1000), parts,
      sites: known ? states : Object.fromEntries(Object.entries(states).map(([name, { status }]) => [name, { status }])) };
  }

  const work = createWork();
  const app = express();
  app.disable('x-powered-by');
  app.use(work.watch);
  app.set('trust proxy', clients.isProxy);
  app.use(hosts.guard);
  app.use(createMiddleware({ metrics: http, readProtocol: clients.readProtocol, pressure, log: log.error }));
  app.all('/health', openToAll, allowMethods('GET', 'HEAD'), (request, response) => send(response, 200, health(access.known(request) !== null)));
  app.all('/metrics', requireRight(['presence', 'admin']), allowMethods('GET', 'HEAD'), (_request, response, next) => {
    prometheus.text().then((text) => response.set({ 'Content-Type': prometheus.contentType, 'Cache-Control': 'no-store' }).end(text)).catch(next);
  });
  addHacs(app, { sites, same: () => { same += 1; }, log: log.error }, access);
  addPage(app, logins, requireRight);
  addApi(app, { sites, overview, clock, version, secret, log: log.error }, requireRight);
  app.use(notFound, errorHandler(log.error));

  /** @type {NodeJS.Timeout[]} */
  let timers = [];
  return {
    app,
    /** HTTPS beside the server's HTTP, where it is configured. @param {import('node:http').Server} server */
    serve: (server) => httpsListener?.serve(server, log.info),
    /** Begin to look after keys and sites. @returns {Promise<unknown>} when each site was asked once */
    start() {
      sites.follow();
      timers = [setInterval(keys.follow, KEYS_MS), setInterval(sites.poll, POLL_MS), setInterval(figures.roll, ROLL_MS)];
      return sites.poll();
    },
    /** Answer what was asked, and listen over HTTPS no more. @returns {Promise<void>} when all is answered */
    drain() {
      httpsListener?.close();
      return work.end();
    },
    close() {
      timers.forEach(clearInterval);
      pressure.stop();
      sites.close();
    },
  };
}

/** Requests that are being answered; each has in `response.locals.signal` until when that is wanted. */
function createWork() {
  let count = 0;
  /** @type {(() => void)|null} */
  let ended = null;
  return {
    /** @type {import('express').RequestHandler} */
    watch(_request, response, next) {
      count += 1;
      if (ended) response.set('Connection', 'close');
      const wanted = new AbortController();
      response.locals.signal = wanted.signal;
      response.once('close', () => {
        wanted.abort(); // answered, or nobody waits any more
        count -= 1;
        if (count === 0) ended?.();
      });
      next();
    },
    /** @returns {Promise<void>} when none is left; connections that are kept are closed with their next answer */
    end: () => new Promise((resolve) => {
      ended = resolve;
      if (count === 0) resolve();
    }),
  };
}

/** The entry keeps no audit log. */
const NOT_COUNTED = /** @type {any} */ (Object.freeze({}));

module.exports = { createCampus };
