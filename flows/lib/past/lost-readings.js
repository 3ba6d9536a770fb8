// @ts-check
'use strict';

const { probeMessage } = require('../live/readings');

/**
 * Readings that the broker dropped because too many waited for the flows: they are stored, and not located. The broker counts what it
 * drops, but not whose it was. So the flows send a probe every few seconds, which waits in the queue in which readings wait. While each
 * comes back soon that queue is short, and what was dropped was somebody else's. Where none does (a *stall*) and something was dropped,
 * everybody's time is to be located, from the last probe that came back soon to the next one that does. What waits meanwhile is located
 * then anyway, and makes the present old: while a queue is long after a loss, the broker is to forget it. Pure.
 * @typedef {ReturnType<typeof createBrokerDrops>} BrokerDrops
 * @typedef {{fromMs: number, toMs: number}} Stall toMs: Infinity while it lasts
 */

const PROBE_MS = 4000;
/** After a loss. */
const PROBE_LOST_MS = 1000;
/** After a loss a queue is forgotten when no probe came back soon for so long. */
const FORGET_MS = 5000;
/** To read what the broker keeps for the flows at most, 210,000 messages, takes longer. */
const SOON_MS = 3000;
/** Without a probe that came back soon for so long the queue may have been full. */
const STALL_MS = 10_000;
/** By then the broker has said what it dropped: it does so every 10 s. */
const REPORTED_MS = 25_000;
/** Receivers' clocks are so far behind at most, and batches so old; what is older was kept by a receiver that was offline. */
const BEFORE_MS = 60_000;

/**
 * @param {object} deps
 * @param {number} deps.startedMs
 * @param {() => boolean} deps.connected to the broker
 * @param {(ms: number) => void} deps.sendProbe
 * @param {(fromMs: number, toMs: number) => void} deps.lost readings of that time were not received; it grows
 * @param {() => void} deps.forgetQueue
 */
function createBrokerDrops({ startedMs, connected, sendProbe, lost, forgetQueue }) {
  /** The broker's last figures; reports: how often it said something new. */
  const broker = { uptimeS: -1, reports: 0, dropped: /** @type {number|null} */ (null) };
  let sentMs = -Infinity;
  /** When the newest probe was sent that came back soon. */
  let shortMs = startedMs;
  /** Whether any came back: without the flows' own subscription none does. */
  let isAnswered = false;
  let isConnected = false;
  /** Whether readings waited in the broker when the connection broke; null: it did not of late. @type {boolean|null} */
  let wasBehind = null;
  let droppedMs = -Infinity;
  /** @type {Stall|null} the last one */
  let stall = null;
  /** Since when readings are lost; null: none are. @type {number|null} */
  let lossMs = null;
  let forgottenMs = -Infinity;

  const isStalled = () => stall?.toMs === Infinity;

  /** @param {number} nowMs */
  function judge(nowMs) {
    if (isStalled() || nowMs - shortMs <= STALL_MS) return;
    stall = { fromMs: shortMs, toMs: Infinity };
    if (droppedMs > shortMs) lose(nowMs);
  }

  /** @param {number} nowMs */
  function lose(nowMs) {
    if (!stall || !isAnswered) return;
    lossMs ??= stall.fromMs;
    report(nowMs);
  }

  /** @param {number} nowMs */
  function report(nowMs) {
    if (lossMs === null || !stall) return;
    lost(lossMs - BEFORE_MS, Math.min(stall.toMs, nowMs));
    if (nowMs - stall.toMs > REPORTED_MS) lossMs = null;
  }

  /** Forgotten readings are lost, too: the stall lasts until a probe comes back soon. @param {number} nowMs */
  function forget(nowMs) {
    if (lossMs === null || !stall || !isConnected || nowMs - Math.max(shortMs, forgottenMs) < FORGET_MS) return;
    stall.toMs = Infinity;
    forgottenMs = nowMs;
    forgetQueue();
  }

  /** The broker dropped something, or lost its queues. @param {number} nowMs */
  function noteDrop(nowMs) {
    droppedMs = nowMs;
    judge(nowMs);
    if (stall && nowMs - stall.toMs <= REPORTED_MS) lose(nowMs);
  }

  function lookAtConnection() {
    const before = isConnected;
    isConnected = connected();
    if (!before || isConnected) return;
    wasBehind = wasBehind || isStalled();
    sentMs = -Infinity; // the first thing on the next connection
  }

  return {
    /** The broker says how long it runs, every 10 s. @param {number} seconds @param {number} nowMs */
    uptime(seconds, nowMs) {
      lookAtConnection();
      const isAnother = seconds < broker.uptimeS;
      if (seconds !== broker.uptimeS) broker.reports += 1;
      broker.uptimeS = seconds;
      if (!isAnother) return;
      broker.dropped = 0;
      if (wasBehind ?? isStalled()) noteDrop(nowMs); // a kill forgets what waits; where nothing did, receivers send it again
    },
    /** It says how many messages it has dropped; none are no message at all. @param {number} count @param {number} nowMs */
    dropped(count, nowMs) {
      const before = broker.dropped ?? (broker.reports > 1 ? 0 : count); // what was before our start is located by the start
      broker.dropped = count;
      if (count !== before && count > 0) noteDrop(nowMs);
    },
    /** A probe came back. @param {number} probeMs when it was sent @param {number} nowMs */
    probed(probeMs, nowMs) {
      judge(nowMs);
      if (!isAnswered) {
        isAnswered = true;
        if (stall && droppedMs > stall.fromMs) lose(nowMs);
      }
      if (probeMs <= shortMs || probeMs > nowMs || nowMs - probeMs > SOON_MS) return;
      [shortMs, wasBehind] = [probeMs, null];
      if (stall && isStalled()) stall.toMs = probeMs;
    },
    /** To be called every two seconds or more often. @param {number} nowMs */
    tick(nowMs) {
      if (nowMs < sentMs) [sentMs, shortMs, forgottenMs] = [-Infinity, Math.min(shortMs, nowMs), -Infinity]; // the clock was set back
      judge(nowMs);
      lookAtConnection();
      const everyMs = lossMs === null ? PROBE_MS : PROBE_LOST_MS;
      if (isConnected && broker.reports > 0 && nowMs - sentMs >= everyMs) sendProbe(sentMs = nowMs);
      forget(nowMs);
      report(nowMs);
    },
    /** That readings are being lost, and that it is not over yet, for /health; '': none are. */
    reason: () => (lossMs === null ? '' : `the broker has dropped messages that waited for the flows, since ${new Date(lossMs).toISOString()} `
      + 'at the earliest; that time is located when they have received the rest'),
  };
}

/**
 * @param {import('../site').Site} site @param {Pick<import('./coverage').Coverage, 'lost'>} coverage
 * @returns {BrokerDrops}
 */
function watchDrops(site, coverage) {
  const drops = createBrokerDrops({ startedMs: site.startedMs, connected: site.connected, lost: coverage.lost,
    sendProbe: (ms) => site.broker.outbox.put(probeMessage(ms), ms), forgetQueue: () => site.broker.subscriber.forgetQueue() });
  site.bus.on('probe', drops.probed);
  site.bus.on('brokerUptime', drops.uptime);
  site.bus.on('brokerDropped', drops.dropped);
  return drops;
}

/**
 * The gap of a deploy: Node-RED drops messages for a node of the pipeline that it replaces and that does not exist for a moment. Their
 * readings are stored, so the readings between two deployments of a node are located again.
 */

/** Batches may be so old when they come; decisions look ahead as well. */
const BEFORE_DEPLOY_MS = 10_000;
/** Readings are in the database after this. */
const STORED_MS = 10_000;

/**
 * @param {{lost: (fromMs: number, toMs: number) => void, clock: () => number, bus: Pick<import('../events').EventBus, 'on'>}} deps lost: as
 *   of the coverage; bus: says when such a node is closed, and there again
 */
function createDeployGap({ lost, clock, bus }) {
  /** @type {number|null} */
  let closedMs = null;
  /** @type {NodeJS.Timeout|undefined} */
  let timer;
  bus.on('nodeClosed', () => {
    clearTimeout(timer);
    closedMs ??= clock();
  });
  bus.on('nodeOpened', () => {
    if (closedMs === null) return;
    const fromMs = closedMs - BEFORE_DEPLOY_MS;
    const toMs = clock();
    clearTimeout(timer);
    timer = setTimeout(() => {
      closedMs = null;
      lost(fromMs, toMs);
    }, STORED_MS);
  });

  return {
    /** The site is closed: the next start locates what lacks. */
    stop: () => clearTimeout(timer),
  };
}

module.exports = {
  createBrokerDrops, watchDrops, BEFORE_MS, PROBE_MS, REPORTED_MS, SOON_MS, STALL_MS,
  createDeployGap, STORED_MS, BEFORE_DEPLOY_MS,
};
