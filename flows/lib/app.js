// @ts-check
'use strict';

const path = require('node:path');
const { KEY_FILE, createClients, createHosts, createKeyReader, createSessions, createTrust } = require('./access');
const { createAlerts } = require('./alerts');
const { openBuilding } = require('./building/in-use');
const { startBuilding } = require('./building/reload');
const { openClocks } = require('./clocks');
const { createHub } = require('./dashboard/hub');
const { createTopics } = require('./dashboard/topics');
const { createGatewayConfigPublisher } = require('./devices/gateway-config');
const { keepLearned } = require('./devices/learned');
const { watchHealth } = require('./health/watch');
const { createHttpsListener } = require('./http/https-listener');
const { openHttp } = require('./http/open');
const { createKnownTime } = require('./live/known-time');
const { Past } = require('./past');
const { createRecordings } = require('./recordings');
const { FLUSH_MS, Site, TICK_MS } = require('./site');
const { StoreUnavailable, openStores } = require('./store');
const { version } = require('../package.json');

/**
 * The whole application, put together here and nowhere else. `settings.js` makes the front before Node-RED begins; the config node
 * `sda-site` opens the application with it, at a start and again at each deploy of everything; the other nodes get it from there.
 * What happens inside is announced on `site.bus` (`events.js`).
 * @typedef {{log: (text: string) => void, warn: (text: string) => void, error: (error: any) => void}} Logger
 */

/** A right key is never made to wait, so nothing but its length keeps it from being guessed; characters. */
const GUESSABLE = 20;

/** The part that stands before the flows and outlives a deploy: host names, proxies, logins, HTTPS, open pages. */
class Front {
  /**
   * @param {import('./config').Config} config
   * @param {(text: string) => void} warn
   * @throws {Error} with a sentence for people, where something of it cannot be used
   */
  constructor(config, warn) {
    this.config = config;
    this.trusted = createTrust(config);
    this.hosts = createHosts(config.httpNames);
    this.clients = createClients({ ...config, isAnswered: this.hosts.isAnswered });
    this.building = startBuilding(config.buildingFile, path.join(config.userDir, 'building-versions'), warn);
    if (config.apiKey.length < GUESSABLE) {
      warn('SDA_API_KEY is short enough to be guessed: take 24 random bytes (openssl rand -hex 24), then `make up`');
    }
    this.sessions = createSessions(config, Date.now, { clientOf: this.clients.clientOf, file: path.join(config.userDir, 'sessions.json') });
    this.hub = createHub();
    this.httpsListener = config.httpsPort === null ? null : createHttpsListener({ host: config.httpsHost, port: config.httpsPort,
      certFile: config.httpsCert, keyFile: config.httpsKey, clock: Date.now });
  }

  /** @param {Logger} logger @returns {App} which runs */
  open(logger) {
    const app = new App(this, logger);
    app.start();
    return app;
  }
}

class App {
  #front;
  #logger;
  #stores;
  #learned;
  #http;
  /** @type {NodeJS.Timeout[]} */
  #timers = [];
  #isOpen = true;

  /** @param {Front} front @param {Logger} logger @param {() => number} [clock] epoch ms */
  constructor(front, logger, clock = Date.now) {
    const { config } = front;
    const { log, warn } = logger;
    const inFolder = (/** @type {string} */ file) => path.join(config.userDir, file);
    this.#front = front;
    this.#logger = logger;
    this.clock = clock;

    this.site = new Site(front.building, clock(), { clock, clocks: openClocks(config.userDir, warn),
      presences: { file: inFolder('published-presences.json'), warn } });
    const { site } = this;
    this.#learned = keepLearned({ folder: config.userDir, site, clock, warn, log });
    this.#stores = openStores(config, { clock, warn, log });
    const { store } = this.#stores;
    this.building = openBuilding({ site, config, clock, logger });
    this.past = new Past({ site, store, folder: config.userDir, keepsOrder: config.brokerKeepsOrder, clock, logger,
      versions: async () => this.building.editor.versions() });
    this.recordings = createRecordings({ folder: inFolder('recordings'), bus: site.bus, clock, warn });
    this.gatewayConfigs = createGatewayConfigPublisher({ building: site.building, outbox: site.broker.outbox, connected: site.connected,
      clock, log });
    this.knownTime = createKnownTime(config.registryDir, warn);
    this.health = watchHealth({ site, past: this.past, stores: this.#stores, config, knownTime: this.knownTime,
      httpsListener: front.httpsListener, version, clock, warn, onError: logger.error });
    this.alerts = createAlerts({ site, parts: (nowMs) => this.health.report(nowMs).parts, certificates: this.health.certificate.shown,
      file: inFolder('alerts.json'), clock, warn });
    this.#http = openHttp({ front, site, store, past: this.past, building: this.building, health: this.health, alerts: this.alerts,
      recordings: this.recordings, version, clock, logger });
    this.topics = createTopics({ site, alerts: this.alerts, trend: this.health.trend, losses: this.health.losses,
      health: this.health.report, keys: createKeyReader(inFolder(KEY_FILE), clock) });
  }

  /** Starts the periodic work. */
  start() {
    const { site, past, health, clock } = this;
    this.#every(200, health.readBack);
    this.#every(FLUSH_MS, () => site.flush(clock()));
    this.#every(500, this.gatewayConfigs.sync); // a lost connection to the broker takes twice that at least
    this.#every(TICK_MS, () => site.tick(clock()));
    this.#every(1000, () => this.knownTime.note(clock()));
    this.#every(1000, health.look);
    this.#every(1000, health.pollSpool);
    this.#every(1000, this.#http.tick);
    this.#every(1000, () => past.seed());
    this.#every(1000, () => this.recordings.tick(clock())); // a kill loses at most this much of a recording
    this.#every(2000, () => past.tick());
    this.#every(2000, () => this.alerts.evaluate(clock())); // with 10,000 beacons it takes some milliseconds
    this.#every(2000, () => this.#checkBuilding()); // a changed file is in use after this time, a bad one refused after twice this time
    this.#every(5000, health.pollParts);
    this.#every(60_000, this.#learned.save);
    past.start();
    void this.#restoreBeacons();
  }

  /** @param {number} ms @param {() => unknown} work */
  #every(ms, work) {
    this.#timers.push(setInterval(work, ms));
  }

  #checkBuilding() {
    return this.building.reloader.check().catch((error) => this.#logger.error(`the building file cannot be checked: ${error.message}`));
  }

  /** When each beacon was heard last before the start; as soon as the database is up. */
  async #restoreBeacons() {
    const { site } = this;
    try {
      site.devices.beacons.restore(site.building(), await this.#stores.store.lastHeard(this.clock() - RESTORED_MS));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.#logger.error(error);
      else if (this.#isOpen) this.#timers.push(setTimeout(() => this.#restoreBeacons(), RETRY_MS));
    }
  }

  /** Who may ask. */
  get access() {
    return this.#http.access;
  }

  /** The questions of the HACS routes. */
  get hacs() {
    return this.#http.hacs;
  }

  /** The routes of HTTP. @param {string} dashboardPath where `/` leads */
  routes(dashboardPath) {
    return this.#http.routes(dashboardPath);
  }

  /** Feeds the open pages of the dashboard. @returns {() => void} ends it */
  feedPages() {
    const { hub } = this.#front;
    hub.attach(this.topics);
    const timer = setInterval(() => hub.tick(this.clock()), PAGES_MS);
    return () => {
      clearInterval(timer);
      hub.attach(null);
    };
  }

  /** @returns {Promise<void>} when all is written */
  async close() {
    this.#isOpen = false;
    this.#timers.forEach(clearTimeout);
    this.health.stop();
    this.site.flush(this.clock());
    await Promise.allSettled([this.past.stop(), this.recordings.close(), this.#http.close(), this.#learned.settle(),
      this.site.live.published.settled()]);
    this.#stores.close();
  }
}

/** A beacon without a reading for longer counts as silent anyway. */
const RESTORED_MS = 24 * 3_600_000;
const RETRY_MS = 10_000;
/** Five times a second at most: nobody can follow more. */
const PAGES_MS = 200;

module.exports = { App, Front };
