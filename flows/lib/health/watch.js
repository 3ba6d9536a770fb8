// @ts-check
'use strict';

const path = require('node:path');
const { createFigures, createTrend } = require('./figures');
const { createProbe, createReadBack, createRestarts } = require('./heartbeat');
const { createHealth, healthFigures, heartbeat } = require('./index');
const { createLossLedger } = require('./loss-ledger');
const { createParts, createSecondStore, createSpool } = require('./other-figures');
const { createCertificate, createProcessFigures, lossFigures, siteFigures, storeFigures } = require('./own-figures');

/**
 * Health of an installation: figures of all its parts, and the flows' heartbeat, which is read back from the database: that proves all that
 * lies between. Owns no timer: whoever makes it calls `poll` and its like.
 * @typedef {ReturnType<typeof watchHealth>} HealthWatch
 * @param {object} deps
 * @param {import('../site').Site} deps.site
 * @param {import('../past').Past} deps.past
 * @param {import('../store').Stores} deps.stores
 * @param {import('../config').Config} deps.config
 * @param {import('../live/known-time').KnownTime} deps.knownTime
 * @param {import('../http/https-listener').HttpsListener|null} deps.httpsListener null: HTTPS is off
 * @param {string} deps.version
 * @param {() => number} deps.clock
 * @param {(text: string) => void} deps.warn
 * @param {(error: unknown) => void} deps.onError
 */
function watchHealth({ site, past, stores, config, knownTime, httpsListener, version, clock, warn, onError }) {
  const { store, guard: storeGuard, replicas } = stores;
  const [first, opened] = /** @type {[typeof stores.each[number] & {}, (typeof stores.each[number])?]} */ (stores.each);
  const figures = createFigures();
  const parts = createParts({ ...first, connected: site.connected, clock, bus: site.bus });
  const spool = createSpool({ url: config.spoolUrl, clock });
  const second = replicas && opened && config.secondStore
    ? createSecondStore({ replicas, opened, url: config.secondStore.spoolUrl, clock }) : null;
  const certificate = createCertificate({ host: config.mqttsHost, port: config.mqttsPort, httpsListener, clock });
  const losses = createLossLedger({ file: path.join(config.userDir, 'losses.json'), startedMs: site.startedMs,
    brokerStartedMs: parts.brokerStartedMs, warn });
  const ofProcess = createProcessFigures(site.startedMs, clock);
  const restarts = createRestarts(site);
  const probe = createProbe(store, site.startedMs, { spool: () => (replicas?.current() === 1 ? second : spool), received: parts.received,
    ...restarts });
  const health = createHealth({ site, probe, rebuild: past.rebuild, version });
  const trend = createTrend();
  const readBack = createReadBack({ probe, site, coverage: past.coverage, onError, clock });
  let sentMs = 0;

  figures.add(siteFigures(site, clock), site.live.lag.roll);
  for (const some of [storeFigures({ storeGuard, history: site.memory.history }), parts.figures, spool.figures, second?.figures ?? [],
    certificate.figures, lossFigures(losses, clock), healthFigures(health, probe, clock)]) figures.add(some);
  figures.add(ofProcess.figures, ofProcess.roll);
  health.addPart('clock', knownTime.part);
  health.addPart('losses', losses.part);
  if (replicas) health.addPart('stores', replicas.part);
  if (httpsListener) health.addPart('https', httpsListener.part);

  /** @param {...((() => Promise<unknown>)|undefined)} polls */
  const each = (...polls) => () => { for (const poll of polls) poll?.().catch(onError); };

  return {
    figures, health, trend, losses, certificate,
    /** For /health. */
    report: health.report,
    /** Takes what the broker says of itself. */
    handleMessage: parts.handleMessage,
    /** The next heartbeat, which is about to be published. */
    beat() {
      const payload = heartbeat(figures, past.coverage, clock());
      trend.add(payload);
      losses.record(payload, payload.ts);
      probe.sent(sentMs = payload.ts);
      probe.tick(payload.ts);
      health.tick(payload.ts);
      return payload;
    },
    /** Reads the heartbeat back; several times a second, which is the resolution of the store's lag. */
    readBack() {
      if (past.coverage.awaitsHeartbeat(clock(), sentMs)) site.bus.emit('heartbeatDue');
      readBack();
    },
    /** Looks at each outlet of the spool; once a second. */
    look() {
      restarts.look(clock());
      probe.look(clock());
    },
    /** Reads figures of the other parts; every few seconds. */
    pollParts: each(parts.poll, certificate.poll, second?.poll),
    /** The queues of the spool, and whether they are passed on, are known within seconds. */
    pollSpool: each(spool.poll, second?.pollSpool),
    /** Points that wait in Telegraf; null: not known. */
    ingestWaiting: () => /** @type {number|null} */ (parts.figures.find(({ name }) => name === 'ingest_waiting')?.read() ?? null),
    stop: ofProcess.stop,
  };
}

module.exports = { watchHealth };
