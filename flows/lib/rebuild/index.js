// @ts-check
'use strict';

const { setTimeout: wait } = require('node:timers/promises');
const { createArrivals } = require('./arrivals');
const { createFeed } = require('./feed');
const { createJobs, titleOf } = require('./jobs');
const { rebuildRange } = require('./range');
const { createLateTimes, hasTags, staffIn } = require('./late');
const { createSaving, NO_FILE } = require('./late-file');
const { createMissed } = require('./missed');
const { gapStart, missing, recover, MARGIN_MS, RETENTION_MS } = require('./recover');
const { createTelling } = require('./tell');
const { createToil, Stopped } = require('./toil');
const { createTurns } = require('./turns');

/**
 * Locates the past again from the stored readings: after each start what was missed, and by hand any time that is asked
 * for. One thing after the other, in the background.
 * @typedef {ReturnType<typeof createRebuild>} Rebuild
 * @typedef {import('./jobs').Job} Job
 */

const WAITING_JOBS = 8;
const AGAIN_MS = 30_000; // after a fault of ours, which the log shows
const TRIES = 3;
const ARRIVED_MS = 2000; // what was told is in the database by then

/**
 * @param {object} means
 * @param {import('../site').Site} means.site
 * @param {import('../store').Store} means.store
 * @param {() => number} means.clock
 * @param {{log: (text: string) => void, warn: (text: string) => void}} means.logger
 * @param {Parameters<typeof createTurns>[0]['versions']} [means.versions] of the building
 * @param {() => number} [means.aliveMs] when ingest worked last, epoch ms
 * @param {import('./late-file').LateFile} [means.lateFile]
 * @param {(ms: number) => Promise<void>} [means.sleep]
 */
function createRebuild({ site, store, clock, logger, versions = async () => null, aliveMs = clock, lateFile = NO_FILE,
  sleep = (ms) => wait(ms) }) {
  const jobs = createJobs();
  /** @type {Job|null} */
  let current = null;
  let fault = '';
  let wake = () => {};
  /** Up to when everything is located; 0 while that is not known, Infinity when it is always now. */
  let settledMs = 0;
  const arrivals = createArrivals();
  const late = createLateTimes();
  const saving = createSaving(lateFile, late.kept, sleep);
  const missed = createMissed((batch) => { for (const id of staffIn(batch, site.building())) hearLate(id, batch.ts, batch.kind); },
    site.startedMs - MARGIN_MS);
  /** What was given up, of the job that runs. @type {Set<string>} */
  const lost = new Set();
  const hinder = (/** @type {string} */ reason) => {
    if (reason !== '' && fault === '') logger.warn(`rebuild waits: ${reason}`);
    fault = reason;
    if (current) current.reason = reason;
  };
  const toil = createToil(hinder, sleep);
  const feed = createFeed(store, toil, (rows, ms) => {
    if (current) Object.assign(current, { readings: current.readings + rows, at_ms: ms });
  });
  const telling = createTelling(site, store, toil, clock, (locations, stays) => {
    if (current) Object.assign(current, { locations: current.locations + locations, stays: current.stays + stays });
  });
  const turns = createTurns({ site, store, toil, versions, warn: logger.warn });
  const means = { site, store, toil, feed, telling, turns, missed, clock, hinder, aliveMs,
    lose: (/** @type {string} */ text) => { logger.warn(`rebuild: ${text}`); lost.add(text); },
    doing: (/** @type {string} */ reason) => { if (current) current.reason = reason; } };

  /** @param {Job['why']} why @param {number} fromMs @param {number|null} toMs */
  function enqueue(why, fromMs, toMs) {
    const job = jobs.add(why, fromMs, toMs);
    wake();
    return job;
  }

  /** @param {Job} job @param {() => Promise<void>} toDo */
  async function run(job, toDo) {
    current = job;
    job.state = 'running';
    lost.clear();
    const beganMs = clock();
    logger.log(`${titleOf(job)}: begins`);
    await toDo();
    turns.end();
    telling.end();
    Object.assign(job, { state: 'done', reason: [...lost].join('; '), took_s: (clock() - beganMs) / 1000 });
    logger.log(`${titleOf(job)}: ${job.readings} readings, ${job.locations} locations and ${job.stays} stays in ${job.took_s} s`);
    current = null;
  }

  async function heal() {
    const gapMs = await gapStart({ site, store, toil });
    const job = jobs.ofStart() ?? enqueue('start', gapMs, null);
    Object.assign(job, { from_ms: gapMs, readings: 0, locations: 0, stays: 0 });
    settledMs = Math.max(settledMs, gapMs);
    const reached = (/** @type {number} */ ms) => { settledMs = Math.max(settledMs, ms); };
    await run(job, () => recover({ ...means, reached }, arrivals, settledMs));
    await toil.pause(ARRIVED_MS);
    settledMs = Infinity;
  }

  async function work() {
    await faultless(null, heal);
    while (!toil.stopped()) {
      const job = jobs.waiting()[0];
      if (job) {
        const whom = late.ofJob(job.id);
        await faultless(job, () => run(job, () => rebuildRange({ ...means, reached: () => {} }, job.from_ms, job.to_ms ?? clock(), whom)));
        if (!toil.stopped() && late.over(job.id)) saving.changed();
      } else await new Promise((resolve) => { wake = () => resolve(undefined); });
    }
  }

  /**
   * A fault of ours is shown and tried again, since it may lie in one moment's data.
   * @param {Job|null} job which is given up in the end; null: never @param {() => Promise<void>} step
   */
  async function faultless(job, step) {
    for (let tries = 1; ; tries += 1) {
      try {
        await step();
        fault = '';
        return;
      } catch (error) {
        if (error instanceof Stopped) return;
        fault = `fault inside: ${error instanceof Error ? error.message : error}`;
        const over = job !== null && tries >= TRIES;
        logger.warn(`rebuild: ${error instanceof Error ? error.stack : error}; ${over ? 'given up' : `tried again in ${AGAIN_MS / 1000} s`}`);
        if (over) {
          Object.assign(job, { state: 'failed', reason: fault });
          current = null;
          fault = '';
          return;
        }
        await toil.pause(AGAIN_MS).catch(() => {});
        if (toil.stopped()) return;
      }
    }
  }

  /**
   * Readings of a time that is over, which the locator did not take.
   * @param {string} staffId @param {number} ts @param {import('../intake/readings').Batch['kind']} kind
   */
  function hearLate(staffId, ts, kind) {
    const byGateways = kind === 'gateway' || hasTags(site.building(), staffId);
    if (late.add(staffId, byGateways, ts, clock())) saving.changed();
  }

  return {
    late: hearLate,
    /** Whether a backlog is through by now; to be called every few seconds. */
    look() {
      for (const { fromMs, toMs, time } of late.due(clock())) late.give(enqueue('late', fromMs, toMs).id, time);
    },
    /** To be called once, before the first reading comes. */
    start() {
      site.holdBack((batch, nowMs, stored) => {
        arrivals.hear(batch, nowMs, stored);
        if (stored) missed.hear(batch);
      });
      site.tellLate(hearLate);
      late.restore(lateFile.load(), clock());
      work();
    },
    /** @returns {Promise<void>} when what is still to be located is kept */
    stop() {
      toil.stop();
      wake();
      return saving.settle();
    },
    /**
     * By hand. @param {number} fromMs @param {number} toMs both inclusive
     * @returns {Job|null} null: too many are waiting already
     */
    request(fromMs, toMs) {
      if (jobs.waiting().length >= WAITING_JOBS) return null;
      return enqueue('request', Math.max(fromMs, clock() - RETENTION_MS), toMs);
    },
    jobs: jobs.list,
    /** For the heartbeat, epoch ms: everything before is located; 0 while that is not known. @param {number} nowMs */
    settledMs: (nowMs) => Math.min(settledMs, nowMs),
    /** What was before the start and is not located again yet. */
    missing: () => missing(settledMs, site.startedMs),
    /** For /health. @returns {import('../health').Part} */
    part() {
      const busy = current ? { running: { ...current } } : {};
      const waiting = jobs.waiting().length;
      const state = settledMs === Infinity && !current ? 'idle' : 'running';
      if (fault === '') return { status: 'up', state, waiting, ...busy };
      return { status: 'degraded', state, waiting, ...busy, reason: `the past is being located again, but: ${fault}`,
        remedy: 'it goes on by itself when that is over' };
    },
  };
}

module.exports = { createRebuild };
