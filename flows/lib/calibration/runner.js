// @ts-check
'use strict';

const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');
const { Worker } = require('node:worker_threads');
const { LRUCache } = require('lru-cache');
const { buildingOf } = require('../recordings/recording');
const { TookTooLong, within } = require('../shared/deadline');
const { withProposals } = require('./estimate');

/**
 * Runs calibrations: each in a worker thread, one at a time, with a cache of results.
 * @typedef {import('./index').Calibration} Calibration
 * @typedef {import('./index').Walk} Walk
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {ReturnType<typeof createCalibrationRunner>} CalibrationRunner
 */

/** A walk of an hour with 24 gateways takes ten seconds and 90 MiB; memory of Node-RED in a container is limited. */
const TIMEOUT_MS = 90_000;
/** The longest recording has some ten megabytes. */
const READ_MS = 20_000;
const MEMORY = Object.freeze({ maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 });
const TOO_LONG = 'the walk is too long to be worked out: record a shorter one';
const CACHED_MAX = 8;

/** The request is not possible now; the message says why and what to do. */
class CalibrationConflict extends Error {}

/** @param {{run?: (walk: Walk) => Promise<Calibration>, readMs?: number}} [options] for tests */
function createCalibrationRunner({ run = runInThread, readMs = READ_MS } = {}) {
  /** @type {LRUCache<string, Calibration>} by recording; a finished recording does not change */
  const cache = new LRUCache({ max: CACHED_MAX });
  /** @type {{id: string, done: Promise<Calibration>}|null} */
  let running = null;

  return {
    /**
     * Calibrates a walk, or returns the cached result.
     * @param {string} id of the recording @param {() => Promise<Walk>} read
     * @returns {Promise<Calibration>}
     * @throws {CalibrationConflict} while another calibration runs
     */
    async of(id, read) {
      const known = cache.get(id);
      if (known) return known;
      if (running && running.id !== id) throw new CalibrationConflict('another walk is being worked out: try again in a minute');
      running ??= { id, done: readSoon(read, readMs).then(run).finally(() => { running = null; }) };
      const calibration = await running.done;
      cache.set(id, calibration);
      return calibration;
    },
    /** Removes a cached result. @param {string} id of a deleted recording */
    forget: (id) => { cache.delete(id); },
  };
}

/** A file that hangs keeps no other walk waiting. @param {() => Promise<Walk>} read @param {number} ms */
const readSoon = (read, ms) => within(read(), ms, 'reading the recording').catch((error) => {
  throw error instanceof TookTooLong ? new CalibrationConflict(`${error.message}: try again later`) : error;
});

/** @param {Walk} walk @returns {Promise<Calibration>} */
function runInThread(walk) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(path.join(__dirname, 'worker.js'), { workerData: walk, resourceLimits: MEMORY });
    const timer = setTimeout(() => {
      worker.terminate();
      reject(new CalibrationConflict(TOO_LONG));
    }, TIMEOUT_MS);
    worker.once('message', resolve);
    worker.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new CalibrationConflict(TOO_LONG) : error);
    });
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('the calibration ended without an answer')); // no effect after an answer
    });
  });
}

/**
 * Applies the proposals to a building that has not changed since the walk.
 * @param {BuildingFile} file in use @param {BuildingFile} walked building of the recording @param {Calibration} calibration
 * @returns {BuildingFile}
 * @throws {CalibrationConflict}
 */
function calibrated(file, walked, { verdict, reason, proposals }) {
  if (verdict !== 'better') throw new CalibrationConflict(`nothing is proposed: ${reason}`);
  if (!isAsWalked(file, walked)) throw new CalibrationConflict('the building was changed since this walk: walk again');
  return withProposals(file, proposals);
}

/**
 * Whether the result of a walk still applies: rooms, devices and the walker are unchanged. Names may have changed.
 * @param {BuildingFile} file in use @param {BuildingFile} walked building of the recording
 */
function isAsWalked(file, walked) {
  const staffId = walked.staff[0]?.id ?? '';
  return isDeepStrictEqual(shapeOf(buildingOf(file, staffId)), shapeOf(walked));
}

/** @param {BuildingFile} file */
const shapeOf = ({ levels, beacons, gateways, staff }) => ({ beacons, gateways, staff,
  levels: levels.map(({ id, width_m: width, height_m: height, rooms }) => ({ id, width, height,
    rooms: rooms.map(({ name: _name, limit: _limit, ...room }) => room) })) });

module.exports = { createCalibrationRunner, calibrated, isAsWalked, CalibrationConflict };
