// @ts-check
'use strict';

const { setImmediate: yieldToEventLoop } = require('node:timers/promises');
const v8 = require('node:v8');
const { createFiles } = require('./files');
const { superfluous } = require('./keep');

/**
 * @typedef {ReturnType<typeof createCheckpoints>} Checkpoints
 * @typedef {object} Checkpoint what a locator knew when it had heard certain readings
 * @property {number} ms event time, epoch ms
 * @property {import('../live/batches').Kept|null} heard batches of the minutes before; null: all before `ms`, and none after
 * @property {import('../locator').Saved} locator
 */

const VERSION = 1;
const EVERY_MS = 30_000;
/** So much is written at most, on average: a memory card lasts for years. */
const BYTES_A_MS = 100;

/**
 * @param {string|import('./files').Files|null} place folder; null: none are kept
 * @param {(text: string) => void} warn
 */
function createCheckpoints(place, warn) {
  const files = typeof place === 'string' ? createFiles(place) : place;
  let dueMs = -Infinity;
  let warned = '';
  /** One after the other. */
  let writing = Promise.resolve();
  let size = 0;

  /** @param {number} ms @returns {Promise<Checkpoint|null>} null: damaged, or of another release */
  async function read(ms) {
    try {
      const { v, ...checkpoint } = v8.deserialize(await /** @type {import('./files').Files} */ (files).read(ms));
      return v === VERSION ? checkpoint : null;
    } catch (error) {
      warn(`the checkpoint of ${new Date(ms).toISOString()} cannot be read, an older one is taken: ${error}`);
      return null;
    }
  }

  /** @param {Checkpoint} checkpoint @param {number} nowMs @param {number} neededMs */
  async function write(checkpoint, nowMs, neededMs) {
    if (!files) return;
    await yieldToEventLoop(); // it was copied just now, which took long enough
    const bytes = v8.serialize({ v: VERSION, ...checkpoint });
    size = bytes.length;
    try {
      await files.write(checkpoint.ms, bytes);
      for (const old of superfluous(await files.list(), nowMs, neededMs)) await files.remove(old);
      warned = '';
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== warned) warn(`no checkpoint is written, the next start reads a quarter of an hour more: ${reason}`);
      warned = reason;
    }
  }

  return {
    /** Whether it is time for another one. @param {number} ms event time */
    isDue: (ms) => files !== null && ms >= dueMs,
    /**
     * @param {Checkpoint} checkpoint @param {number} nowMs
     * @param {number} neededMs the newest one before this is kept, however old
     * @returns {Promise<void>} never rejects
     */
    write(checkpoint, nowMs, neededMs) {
      dueMs = checkpoint.ms + Math.max(EVERY_MS, size / BYTES_A_MS);
      writing = writing.then(() => write(checkpoint, nowMs, neededMs));
      return writing;
    },
    /**
     * The newest one of a time or before.
     * @param {number} beforeMs @param {(ms: number) => boolean} isUsable
     * @returns {Promise<Checkpoint|null>}
     */
    async newest(beforeMs, isUsable) {
      await writing;
      const times = files ? await files.list() : [];
      for (const ms of times.filter((one) => one <= beforeMs && isUsable(one)).sort((a, b) => b - a)) {
        const checkpoint = await read(ms);
        if (checkpoint) return checkpoint;
      }
      return null;
    },
  };
}

/** None are kept. */
const NO_CHECKPOINTS = createCheckpoints(null, () => {});

module.exports = { createCheckpoints, NO_CHECKPOINTS };
