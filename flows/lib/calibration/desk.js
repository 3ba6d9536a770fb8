// @ts-check
'use strict';

const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');
const { Worker } = require('node:worker_threads');
const { LRUCache } = require('lru-cache');
const { buildingOf } = require('../recordings/recording');
const { withProposals } = require('./estimate');

/**
 * Calibrations on demand: each in a thread of its own, one at a time, and kept for who asks again.
 * @typedef {import('./index').Calibration} Calibration
 * @typedef {import('./index').Walk} Walk
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {ReturnType<typeof createCalibrationDesk>} CalibrationDesk
 */

/** An hour that 24 gateways heard takes ten seconds, and 90 MiB for so long: Node-RED's memory in a container is bounded. */
const AT_MOST_MS = 90_000;
const MEMORY = Object.freeze({ maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 });
const TOO_LONG = 'the walk is too long to be worked out: record a shorter one';
const KEPT = 8;

/** It cannot be done now; the message says why and what to do. */
class CalibrationConflict extends Error {}

/** @param {{work?: (walk: Walk) => Promise<Calibration>}} [means] */
function createCalibrationDesk({ work = inThread } = {}) {
  /** @type {LRUCache<string, Calibration>} by recording; one that is over stays as it is */
  const kept = new LRUCache({ max: KEPT });
  /** @type {{id: string, done: Promise<Calibration>}|null} */
  let running = null;

  return {
    /**
     * @param {string} id of the recording @param {() => Promise<Walk>} read
     * @returns {Promise<Calibration>}
     * @throws {CalibrationConflict} while another one is worked out
     */
    async of(id, read) {
      const known = kept.get(id);
      if (known) return known;
      if (running && running.id !== id) throw new CalibrationConflict('another walk is being worked out: try again in a minute');
      running ??= { id, done: read().then(work).finally(() => { running = null; }) };
      const calibration = await running.done;
      kept.set(id, calibration);
      return calibration;
    },
    /** @param {string} id of a recording that is gone */
    forget: (id) => { kept.delete(id); },
  };
}

/** @param {Walk} walk @returns {Promise<Calibration>} */
function inThread(walk) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(path.join(__dirname, 'worker.js'), { workerData: walk, resourceLimits: MEMORY });
    const timer = setTimeout(() => {
      worker.terminate();
      reject(new CalibrationConflict(TOO_LONG));
    }, AT_MOST_MS);
    worker.once('message', resolve);
    worker.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new CalibrationConflict(TOO_LONG) : error);
    });
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('the calibration ended without an answer')); // nothing happens where it has answered
    });
  });
}

/**
 * The building file with what is proposed, where everything is as it was when the walk began.
 * @param {BuildingFile} file in use @param {BuildingFile} walked of the recording @param {Calibration} calibration
 * @returns {BuildingFile}
 * @throws {CalibrationConflict}
 */
function calibrated(file, walked, { verdict, reason, proposals }) {
  if (verdict !== 'better') throw new CalibrationConflict(`nothing is proposed: ${reason}`);
  if (!isAsWalked(file, walked)) throw new CalibrationConflict('the building was changed since this walk: walk again');
  return withProposals(file, proposals);
}

/**
 * Whether what a walk teaches still fits: rooms, devices, tuning and the walker are as they were. Names may have changed.
 * @param {BuildingFile} file in use @param {BuildingFile} walked of the recording
 */
function isAsWalked(file, walked) {
  const staffId = walked.staff[0]?.id ?? '';
  return isDeepStrictEqual(shapeOf(buildingOf(file, staffId)), shapeOf(walked));
}

/** @param {BuildingFile} file */
const shapeOf = ({ levels, beacons, gateways, staff, tuning = {} }) => ({ beacons, gateways, staff, tuning,
  levels: levels.map(({ id, width_m: width, height_m: height, rooms }) => ({ id, width, height,
    rooms: rooms.map(({ name: _name, limit: _limit, ...room }) => room) })) });

module.exports = { createCalibrationDesk, calibrated, isAsWalked, CalibrationConflict };
