// @ts-check
'use strict';

const { DatabaseSync } = require('node:sqlite');
const { setTimeout: wait } = require('node:timers/promises');

const SQLITE_BUSY = 5;
const LOOK_MS = 50;

/** The lock could not be had; the message says why. */
class FileLockError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'FileLockError';
  }
}

/**
 * Do something while no other process and nobody else in this one does so. The lock is the kernel's, held by way of an empty
 * SQLite database (Node has no flock): it ends with its process, however that ends, so nobody has to judge whether it is
 * left over. The file stays, since removing it would part those who hold it from those who come.
 * @template T
 * @param {string} file of the lock, made when it is not there
 * @param {number} waitMs for others to be through
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 * @throws {FileLockError} and whatever the action throws
 */
async function withFileLock(file, waitMs, action) {
  const lock = openLock(file);
  try {
    for (const endMs = performance.now() + waitMs; !isTaken(lock); await wait(LOOK_MS)) {
      if (performance.now() > endMs) throw new FileLockError(`somebody else has held ${file} for ${waitMs / 1000} s: try again`);
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

/** @param {DatabaseSync} lock @throws {FileLockError} */
function isTaken(lock) {
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
