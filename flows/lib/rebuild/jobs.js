// @ts-check
'use strict';

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
    /** What the start has missed. */
    ofStart: () => jobs.find(({ why }) => why === 'start'),
    list: () => jobs.map((job) => ({ ...job })),
  };
}

/** @param {number} ms */
const iso = (ms) => new Date(ms).toISOString();

/** For the log. @param {Job} job */
const titleOf = ({ id, from_ms: fromMs, to_ms: toMs }) => `rebuild ${id} of ${iso(fromMs)} to ${toMs === null ? 'now' : iso(toMs)}`;

module.exports = { createJobs, titleOf };
