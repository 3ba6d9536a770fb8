// @ts-check
'use strict';

const { setTimeout: wait } = require('node:timers/promises');
const { NO_CHECKPOINTS, createCheckpointSaving } = require('./checkpoints');
const { RETENTION_MS, FINAL_AFTER_MS } = require('./coverage');
const { createBackground, yieldToLive, Stopped } = require('./background');
const { createBuildingChanges } = require('./beginning');
const { createFeed } = require('./replay');
const { createIncoming, gapStart, recover } = require('./catch-up');
const { carriesTags, locatesLater } = require('./people');
const { createPublishing } = require('./publish');
const { rebuildRange, PRESENT_MS, relocate } = require('./relocate');

/**
 * Locates the past again from the stored readings: after each start what was missed, and by hand any time that is asked
 * for. One thing after the other, in the background.
 * @typedef {ReturnType<typeof createRebuild>} Rebuild
 */

const WAITING_JOBS = 8;
const RETRY_MS = 30_000; // after a fault of ours, which the log shows
const TRIES = 3;

/**
 * @param {object} deps
 * @param {import('../site').Site} deps.site
 * @param {import('../store').Store} deps.store with readings by the stamps of receivers
 * @param {import('./coverage').Coverage} deps.coverage
 * @param {() => number} deps.clock
 * @param {{log: (text: string) => void, warn: (text: string) => void}} deps.logger
 * @param {Parameters<typeof createBuildingChanges>[0]['versions']} [deps.versions] of the building
 * @param {import('./checkpoints').Checkpoints} [deps.checkpoints]
 * @param {Pick<import('./lost-readings').BrokerDrops, 'reason'>} [deps.drops]
 * @param {boolean} [deps.keepsOrder] whether the broker delivers in order after a kill, too, so that a probe proves what it says
 * @param {(ms: number) => Promise<void>} [deps.sleep]
 */
function createRebuild({ site, store: stamped, coverage, clock, logger, versions = async () => null, checkpoints = NO_CHECKPOINTS,
  drops = { reason: () => '' }, keepsOrder = true, sleep = (ms) => wait(ms) }) {
  const [store, jobs] = [site.clocks.store(stamped, clock), createJobs()];
  /** @type {Job|null} */
  let current = null;
  let fault = '';
  let wake = () => {};
  const locateLater = locatesLater(site, coverage, clock);
  const incoming = createIncoming(locateLater, site.startedMs);
  /** Of jobs that nobody asked for, by id: what they are about, and what follows their end. @type {Map<number, Task>} */
  const tasks = new Map();
  const reportBlocked = (/** @type {string} */ reason) => {
    if (reason !== '' && fault === '') logger.warn(`rebuild waits: ${reason}`);
    fault = reason;
    if (current) current.reason = reason;
  };
  const background = createBackground(reportBlocked, yieldToLive(sleep, () => site.live.queue.waitedMs()));
  const feed = createFeed(store, background, clock, (rows, ms) => {
    if (current) Object.assign(current, { readings: current.readings + rows, at_ms: ms });
  });
  const publishing = createPublishing(site, store, background, clock, (locations, stays) => {
    if (current) Object.assign(current, { locations: current.locations + locations, stays: current.stays + stays });
  }, keepsOrder);
  const changes = createBuildingChanges({ site, store, background, versions, warn: logger.warn });
  const saving = createCheckpointSaving({ site, coverage, checkpoints, clock });
  const deps = { site, store, background, feed, publishing, changes, coverage, checkpoints, saving, clock, reportBlocked, log: logger.log,
    reportStep: (/** @type {string} */ reason) => { if (current) current.reason = reason; } };

  /** @param {Job['why']} why @param {number} fromMs @param {number|null} toMs */
  function enqueue(why, fromMs, toMs) {
    const job = jobs.add(why, fromMs, toMs);
    wake();
    return job;
  }

  /** @param {Job} job @param {() => Promise<void>} toDo */
  async function run(job, toDo) {
    current = Object.assign(job, { state: 'running' });
    const beganMs = clock();
    logger.log(`${titleOf(job)}: begins`);
    await toDo();
    changes.end();
    Object.assign(job, { state: 'done', reason: '', took_s: (clock() - beganMs) / 1000 });
    logger.log(`${titleOf(job)}: ${job.readings} readings, ${job.locations} locations and ${job.stays} stays in ${job.took_s} s`);
    current = null;
  }

  async function locateBeforeStart() {
    const gapMs = await gapStart(deps);
    const job = jobs.ofStart() ?? enqueue('start', gapMs, null);
    Object.assign(job, { from_ms: gapMs, readings: 0, locations: 0, stays: 0 });
    coverage.locateBeforeStart(gapMs);
    await run(job, () => recover(deps, incoming, gapMs));
    site.bus.off('batch', incoming.hear);
  }

  async function work() {
    await faultless(null, locateBeforeStart);
    for (const { fromMs, toMs } of coverage.requests()) enqueue('request', fromMs, toMs - 1);
    while (!background.stopped()) {
      const job = jobs.waiting()[0];
      if (job) {
        const task = tasks.get(job.id);
        await faultless(job, () => run(job, () => (task ? relocate(deps, task)
          : rebuildRange(deps, job.from_ms, job.to_ms ?? clock(), null))));
        if (!background.stopped()) end(job);
      } else await new Promise((resolve) => { wake = () => resolve(undefined); });
    }
  }

  /** A job is done, or has failed: one by hand is given up, late readings are located later. @param {Job} job */
  function end(job) {
    const task = tasks.get(job.id);
    tasks.delete(job.id);
    if (!task) coverage.answered(job.from_ms, (job.to_ms ?? clock()) + 1);
    else if (job.state === 'failed' && task.failed) task.failed();
    else task.done();
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
        logger.warn(`rebuild: ${error instanceof Error ? error.stack : error}; ${over ? 'given up' : `tried again in ${RETRY_MS / 1000} s`}`);
        if (over) {
          Object.assign(job, { state: 'failed', reason: fault });
          current = null;
          if (!tasks.get(job.id)?.failed) fault = ''; // what is tried again later shows its fault until then
          return;
        }
        await background.pause(RETRY_MS).catch(() => {});
        if (background.stopped()) return;
      }
    }
  }

  return {
    /** Takes up what became due: late readings, and those that never arrived; to be called every few seconds. */
    tick() {
      if (site.live.queue.isBehind() || drops.reason() !== '') return; // what lacks is located in one go when that is over
      for (const task of takeDue(coverage, clock, carriesTags(site))) tasks.set(enqueue('late', task.part.fromMs, task.part.toMs).id, task);
      saving.present();
      publishing.confirm();
    },
    /** To be called once, before the first reading comes. */
    start() {
      site.live.awaitRecovery();
      site.bus.on('batch', incoming.hear);
      site.bus.on('skipped', locateLater);
      site.bus.on('late', (id, ts) => coverage.late(id, ts, clock()));
      // After a break receivers come back one after the other, and the order of readings of a moment is another one.
      site.bus.on('reconnect', coverage.repeats.addBreak);
      if (!keepsOrder) coverage.repeats.addBreak(clock()); // what was on its way may reach the database after the probe that is to prove it
      const { fromMs, known } = coverage.beforeStart();
      if (known) incoming.begin(fromMs);
      work();
    },
    /** @returns {Promise<void>} when the record of what is still to be located is saved */
    stop() {
      background.stop();
      wake();
      return coverage.settle();
    },
    /**
     * By hand. @param {number} fromMs @param {number} toMs both inclusive
     * @returns {Job|null} null: too many are waiting already
     */
    request(fromMs, toMs) {
      if (jobs.waiting().length >= WAITING_JOBS) return null;
      const job = enqueue('request', Math.max(fromMs, clock() - RETENTION_MS), toMs);
      coverage.request(job.from_ms, toMs + 1);
      return job;
    },
    jobs: jobs.list,
    /** For /health. @returns {import('../health').Part} */
    part() {
      const nowMs = clock();
      const reason = fault || drops.reason() || coverage.overdue(nowMs);
      const completeMs = coverage.completeUntil(nowMs - RETENTION_MS, nowMs, null, nowMs);
      const part = { waiting: jobs.waiting().length + coverage.repeats.count(), complete_until_ms: completeMs,
        state: coverage.isCaughtUp() && !current ? 'idle' : 'running', ...(current ? { running: { ...current } } : {}) };
      return reason === '' ? { status: 'up', ...part } : { status: 'degraded', ...part,
        reason: `the past is being located again, but: ${reason}`, remedy: 'it goes on by itself when that is over' };
    },
  };
}

/**
 * A part of the past that became due without being asked for.
 * @typedef {object} Task
 * @property {import('./coverage').Part} part
 * @property {boolean} isRepeat of coverage's `repeats`: it was located before
 * @property {() => void} done
 * @property {() => void} [failed] it is tried again later; not given: `done` is all
 */

/**
 * @param {import('./coverage').Coverage} coverage @param {() => number} clock
 * @param {(id: string) => boolean} hasTags @returns {Task[]}
 */
function takeDue(coverage, clock, hasTags) {
  const late = coverage.takeDue(clock(), hasTags).map((part) => ({
    part, isRepeat: false,
    done() {
      coverage.published(part, clock());
      if (part.staff) coverage.repeats.done({ ...part, fromMs: part.fromMs - FINAL_AFTER_MS, toMs: clock() }, clock());
    },
    failed: () => coverage.failed(part, clock()),
  }));
  const repeats = coverage.repeats.takeDue(clock() - PRESENT_MS).map((part) => ({
    part, isRepeat: true, done: () => coverage.repeats.done(part, clock()),
  }));
  return [...late, ...repeats];
}

/**
 * The jobs of the rebuild: those that wait or run, and the last ones that are over.
 * @typedef {{id: number, why: 'start'|'request'|'late', from_ms: number, to_ms: number|null, state: 'waiting'|'running'|'done'|'failed',
 *   at_ms: number|null, readings: number, locations: number, stays: number, took_s: number|null, reason: string}} Job
 *   why: late is a backlog of a receiver; at_ms: how far it is; to_ms: null is the present
 */

const KEPT_JOBS = 16;

/** @param {Job} job */
const isOver = ({ state }) => state === 'done' || state === 'failed';

function createJobs() {
  /** @type {Job[]} oldest first */
  const jobs = [];
  let nextId = 1;

  return {
    /** @param {Job['why']} why @param {number} fromMs @param {number|null} toMs */
    add(why, fromMs, toMs) {
      /** @type {Job} */
      const job = { id: nextId++, why, from_ms: fromMs, to_ms: toMs, state: 'waiting', at_ms: null, readings: 0, locations: 0, stays: 0,
        took_s: null, reason: '' };
      jobs.push(job);
      while (jobs.length > KEPT_JOBS && isOver(/** @type {Job} */ (jobs[0]))) jobs.shift();
      return job;
    },
    waiting: () => jobs.filter(({ state }) => state === 'waiting'),
    /** The job that locates what the start has missed. */
    ofStart: () => jobs.find(({ why }) => why === 'start'),
    list: () => jobs.map((job) => ({ ...job })),
  };
}

/** @param {number} ms */
const iso = (ms) => new Date(ms).toISOString();

/** For the log. @param {Job} job */
const titleOf = ({ id, from_ms: fromMs, to_ms: toMs }) => `rebuild ${id} of ${iso(fromMs)} to ${toMs === null ? 'now' : iso(toMs)}`;

module.exports = { createRebuild, takeDue, createJobs, titleOf };
