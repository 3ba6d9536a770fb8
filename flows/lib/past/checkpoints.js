// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { setImmediate: yieldToEventLoop } = require('node:timers/promises');
const v8 = require('node:v8');
const { replaceFile } = require('../shared/whole-file');

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
 * @param {string|Files|null} place folder; null: none are kept
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
      const { v, ...checkpoint } = v8.deserialize(await /** @type {Files} */ (files).read(ms));
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

/**
 * Copies as files `<epoch ms>.checkpoint` in a folder of their own.
 * @typedef {object} Files
 * @property {() => Promise<number[]>} list times
 * @property {(ms: number) => Promise<Uint8Array>} read
 * @property {(ms: number, bytes: Uint8Array) => Promise<void>} write
 * @property {(ms: number) => Promise<void>} remove
 */

const SUFFIX = '.checkpoint';

/** @param {string} folder @returns {Files} */
function createFiles(folder) {
  const fileOf = (/** @type {number} */ ms) => path.join(folder, `${ms}${SUFFIX}`);
  return {
    async list() {
      const names = await fs.readdir(folder).catch(() => /** @type {string[]} */ ([]));
      return names.filter((name) => name.endsWith(SUFFIX)).map((name) => Number(name.slice(0, -SUFFIX.length))).filter(Number.isFinite);
    },
    read: (ms) => fs.readFile(fileOf(ms)),
    async write(ms, bytes) {
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(fileOf(ms), bytes, 0o600);
    },
    remove: (ms) => fs.rm(fileOf(ms), { force: true }),
  };
}

/**
 * Which of the copies are kept: close together for the last minutes, farther apart the older they are. Pure.
 */

const MIN = 60_000;
/** Copies so old at least are kept so far apart. */
const APART = [{ ageMs: 5 * MIN, apartMs: 2 * MIN }, { ageMs: 20 * MIN, apartMs: 10 * MIN }];
const OLDEST_MS = 60 * MIN;

/** @param {number} ageMs */
const apartMs = (ageMs) => APART.findLast(({ ageMs: fromMs }) => ageMs >= fromMs)?.apartMs ?? 0;

/**
 * @param {number[]} times epoch ms @param {number} nowMs
 * @param {number} neededMs the newest one before this is kept, however old it is
 * @returns {number[]} those that are not kept
 */
function superfluous(times, nowMs, neededMs) {
  const ascending = times.toSorted((a, b) => a - b);
  const needed = ascending.findLast((ms) => ms <= neededMs);
  let lastMs = -Infinity;
  return ascending.filter((ms) => {
    const ageMs = nowMs - ms;
    const keeps = ms === needed || (ageMs >= -MIN && ageMs <= OLDEST_MS && ms - lastMs >= apartMs(ageMs));
    if (keeps) lastMs = ms;
    return !keeps;
  });
}

/**
 * When a checkpoint is written: of the present while it heard everything in time, and of a replay in passing.
 */

const SETTLED_MS = 30_000; // after an edit of the building everybody has come along into it

/**
 * @param {Pick<import('./catch-up').Deps, 'site'|'coverage'|'checkpoints'|'clock'>} deps
 */
function createCheckpointSaving({ site, coverage, checkpoints, clock }) {
  /** @param {number} ms event time @param {Pick<Checkpoint, 'heard'|'locator'>} state */
  const write = (ms, state) => {
    checkpoints.write({ ms, ...state }, clock(), coverage.neededSince());
  };

  return {
    /** To be called every few seconds. */
    present() {
      const nowMs = clock();
      const isExact = coverage.isCaughtUp() && coverage.divergedSince() === Infinity && nowMs - site.live.buildingSinceMs() > SETTLED_MS;
      if (isExact && checkpoints.isDue(nowMs)) write(nowMs, site.live.save(nowMs));
    },
    /** @param {ReturnType<typeof import('./replay').createReplay>} replay of everybody @param {number} ms all before was heard */
    replayed(replay, ms) {
      if (checkpoints.isDue(ms)) write(ms, { heard: null, locator: replay.save() });
    },
  };
}

module.exports = { createCheckpoints, NO_CHECKPOINTS, createFiles, superfluous, createCheckpointSaving };
