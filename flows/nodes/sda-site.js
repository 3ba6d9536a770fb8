'use strict';

const path = require('node:path');
const { createCoverage } = require('../lib/coverage');
const { createDeployGap } = require('../lib/coverage/deploy-gap');
const { createRecord } = require('../lib/coverage/record');
const { createKnownTime } = require('../lib/intake/known-time');
const { createLossLedger } = require('../lib/health/loss-ledger');
const { createCertificate, lossFigures, siteFigures, storeFigures } = require('../lib/health/own-figures');
const { createFigures } = require('../lib/health/figures');
const { createParts, createSecondStore, createSpool } = require('../lib/health/other-figures');
const { keepLearned } = require('../lib/devices/learned');
const { inboxFigure } = require('../lib/intake/inbox');
const { createSite, createPublishedPresences, openClocks, standAlone } = require('../lib/site');
const { openStores } = require('../lib/store');

const [FLUSH_MS, TICK_MS, SAVE_MS] = [250, 1000, 60_000]; // locations wait for a flush: fewer, larger messages
module.exports = function register(RED) {
  /** One building at work; the other nodes of the flows refer to it. */
  function SdaSite(definition) {
    RED.nodes.createNode(this, definition);
    if (!RED.settings.sda) return standAlone(this, definition);
    const { config, building, httpsListener } = RED.settings.sda;
    const [warn, log] = [(text) => this.warn(text), (text) => this.log(text)];
    const published = createPublishedPresences({ file: path.join(config.userDir, 'published-presences.json'), warn });
    this.site = createSite(building, Date.now(), Date.now, published, openClocks(config.userDir, warn));
    const learned = keepLearned({ folder: config.userDir, site: this.site, clock: Date.now, warn, log });
    const { store, guard: storeGuard, each: [first, opened], replicas, close } = openStores(config, { clock: Date.now, warn, log });
    [this.store, this.replicas, this.figures, this.inboxes] = [store, replicas, createFigures(), new Set()];
    this.figures.add(siteFigures(this.site, Date.now), this.site.liveLag.roll);
    this.parts = createParts({ ...first, connected: this.site.connected, clock: Date.now });
    this.spool = createSpool({ url: config.spoolUrl, clock: Date.now });
    this.second = replicas && createSecondStore({ replicas, opened, url: config.secondStore.spoolUrl, clock: Date.now });
    this.certificate = createCertificate({ host: config.mqttsHost, port: config.mqttsPort, httpsListener, clock: Date.now });
    this.losses = createLossLedger({ file: path.join(config.userDir, 'losses.json'), startedMs: this.site.startedMs,
      brokerStartedMs: this.parts.brokerStartedMs, warn });
    for (const some of [[inboxFigure(this.inboxes)], storeFigures({ storeGuard, history: this.site.history }), this.parts.figures,
      this.spool.figures, this.second?.figures ?? [], this.certificate.figures, lossFigures(this.losses, Date.now)]) this.figures.add(some);
    this.knownTime = createKnownTime(config.registryDir, warn);
    this.coverage = createCoverage({ startedMs: this.site.startedMs, newestStored: this.store.newestLocation,
      newestPublished: this.site.newestPublishedMs, onPerson: this.site.knownPeople.note, record: createRecord(config.userDir, warn) });
    this.deployGap = createDeployGap({ lost: this.coverage.lost, clock: Date.now });
    const timers = [setInterval(() => this.site.flush(Date.now()), FLUSH_MS), setInterval(learned.save, SAVE_MS),
      setInterval(() => [this.site.tick, this.knownTime.note].forEach((each) => each(Date.now())), TICK_MS)];
    this.on('close', (done) => {
      timers.forEach(clearInterval);
      this.deployGap.stop();
      this.site.flush(Date.now());
      close();
      Promise.all([learned.settle(), this.site.publishedPresences.settled()]).finally(done);
    });
  }

  RED.nodes.registerType('sda-site', SdaSite);
};
