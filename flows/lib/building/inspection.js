// @ts-check
'use strict';

const path = require('node:path');
const { Worker } = require('node:worker_threads');
const { TookTooLong, createQueue } = require('../shared/deadline');

/**
 * Inspects what comes from outside in a thread of its own, with a limit of time and memory: a building's text, a list of beacons, a
 * picture. Whatever a file does to its parser, the event loop goes on. The thread stays for the next file; one that took too long or
 * too much is ended.
 * @typedef {{text: string|null, faults: string[]}} InspectedBuilding text: null where it has faults
 * @typedef {{rows: import('./import/rows').Row[], faults: import('./import/rows').Fault[]}} InspectedList
 * @typedef {{name: string}} InspectedPicture name: for a level's `plan`
 */

/** A building of 8 MiB is checked in 3 s; a busy machine takes several times as long. */
const WITHIN_MS = 20_000;
/** The queue has one file at work, and a few that wait. */
const WAIT_MS = 3 * WITHIN_MS;
/** 8 MiB of brackets take less; memory of Node-RED in a container is limited. */
const MEMORY = Object.freeze({ maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 });

/** The file took more time or memory than any good one. */
class TooHard extends Error {}

/** @param {{withinMs?: number, file?: string}} [options] for tests */
function createInspection({ withinMs = WITHIN_MS, file = path.join(__dirname, 'inspection-worker.js') } = {}) {
  /** @type {Worker|null} */
  let thread = null;
  const inTurn = createQueue(WAIT_MS, 'the check of a file, with those that wait before it,');

  /** @returns {Worker} */
  function started() {
    if (thread) return thread;
    const worker = new Worker(file, { resourceLimits: MEMORY });
    worker.unref();
    worker.on('error', () => {}); // of a thread that nobody waits for
    worker.once('exit', () => { if (thread === worker) thread = null; });
    thread = worker;
    return worker;
  }

  /** @param {string} what @param {object} input @returns {Promise<any>} */
  const inspect = (what, input) => inTurn(() => new Promise((resolve, reject) => {
    const worker = started();
    /** @param {() => void} settle */
    const end = (settle) => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      worker.unref();
      settle();
    };
    const giveUp = (/** @type {Error} */ error) => {
      thread = null;
      end(() => reject(error));
      worker.terminate();
    };
    const timer = setTimeout(() => giveUp(new TooHard(`takes longer than ${withinMs / 1000} s to check: it is no ordinary file`)), withinMs);
    const onMessage = (/** @type {{result?: any, refusal?: string, fault?: Error}} */ { result, refusal, fault }) => end(() => {
      if (fault) reject(fault);
      else resolve({ result, refusal });
    });
    const onError = (/** @type {NodeJS.ErrnoException} */ error) => giveUp(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new TooHard('takes more memory to check than any ordinary file') : error);
    const onExit = () => giveUp(new Error('the check ended without an answer'));
    worker.ref();
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage({ what, ...input });
  }));

  return { inspect };
}

const { inspect } = createInspection();

/** @param {string|Uint8Array} content @returns {Promise<InspectedBuilding>} a file that is too hard to check has that as its fault */
async function inspectBuilding(content) {
  try {
    return (await inspect('building', { content })).result;
  } catch (error) {
    if (!(error instanceof TooHard)) throw error;
    return { text: null, faults: [`/ ${error.message}`] };
  }
}

/** @param {Uint8Array} bytes @param {typeof inspect} [run] */
const inspectList = (bytes, run = inspect) => inspected('list', { bytes }, 'the list', run);

/** @param {Uint8Array} bytes @param {typeof inspect} [run] */
const inspectPicture = (bytes, run = inspect) => inspected('picture', { bytes }, 'the picture', run);

/**
 * @param {string} what @param {object} input @param {string} named for the message @param {typeof inspect} run
 * @returns {Promise<{result: any, refusal: string|undefined}>} refusal: why it is not taken
 */
async function inspected(what, input, named, run) {
  try {
    return await run(what, input);
  } catch (error) {
    if (error instanceof TooHard || error instanceof TookTooLong) return { result: undefined, refusal: error instanceof TooHard ? `${named} ${error.message}` : error.message };
    throw error;
  }
}

module.exports = { createInspection, inspectBuilding, inspectList, inspectPicture };
