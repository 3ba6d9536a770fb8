// @ts-check
'use strict';

const { DatabaseSync } = require('node:sqlite');
const { setTimeout: wait } = require('node:timers/promises');

const SQLITE_BUSY = 5;
const RETRY_MS = 50;

/** The lock could not be taken; the message says why. */
class FileLockError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'FileLockError';
  }
}

/**
 * Runs an action under an exclusive lock, across processes and within this one. The kernel holds the lock, through an empty
 * SQLite database (Node has no flock). It ends with its process in any case, so there are no stale locks. The file stays:
 * removing it would separate holders from newcomers.
 * @template T
 * @param {string} file of the lock, created if it is missing
 * @param {number} waitMs longest wait for other holders
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 * @throws {FileLockError} and whatever the action throws
 */
async function withFileLock(file, waitMs, action) {
  const lock = openLock(file);
  try {
    for (const endMs = performance.now() + waitMs; !tryLock(lock); await wait(RETRY_MS)) {
      if (performance.now() > endMs) throw new FileLockError(`another process has held ${file} for ${waitMs / 1000} s: try again`);
    }
    return await action();
  } finally {
    lock.close();
  }
}

/** @param {string} file @throws {FileLockError} */
function openLock(file) {
  try {
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw new FileLockError(`${file}: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {DatabaseSync} lock @returns {boolean} false: somebody else holds it @throws {FileLockError} */
function tryLock(lock) {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    const { errcode, message } = /** @type {Error & {errcode?: number}} */ (error);
    if (errcode === SQLITE_BUSY) return false;
    throw new FileLockError(message);
  }
}

module.exports = { withFileLock, FileLockError };
