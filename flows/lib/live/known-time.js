// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { replaceFile } = require('../shared/whole-file');

/**
 * The newest time that is known on disk. A machine without a battery starts with an old time; by it what receivers send lies
 * ahead, would be refused, and be lost, since the broker has acknowledged it. So nothing is taken in until the clock is not
 * behind that time any more. Telegraf waits by the same file (`ingest/start`).
 * @typedef {ReturnType<typeof createKnownTime>} KnownTime
 */

const FILE = 'newest-time';
/** As in `ingest/start`; readings may be five minutes ahead. */
const TOLERATED_MS = 60_000;
/** Half of that, so that what is written is never much older. */
const WRITE_MS = 30_000;
/** While the clock is behind. */
const POLL_MS = 1000;

/**
 * @param {string} folder which ingest sees, too
 * @param {(text: string) => void} warn
 */
function createKnownTime(folder, warn) {
  const file = path.join(folder, FILE);
  let newestMs = read();
  let warned = '';

  function read() {
    try {
      return (Number.parseInt(fs.readFileSync(file, 'utf8'), 10) || 0) * 1000;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') warn(`${file} is not read: ${error}`);
      return 0;
    }
  }

  /** How far the clock is behind, ms; 0: it is not. @param {number} nowMs */
  const behindMs = (nowMs) => (newestMs - nowMs > TOLERATED_MS ? newestMs - nowMs : 0);

  /** To be called every second or so. @param {number} nowMs @returns {Promise<void>} */
  async function note(nowMs) {
    if (nowMs - newestMs < WRITE_MS) return;
    newestMs = nowMs;
    await replaceFile(file, `${Math.floor(nowMs / 1000)}\n`).then(() => { warned = ''; }, (error) => {
      if (error.message !== warned) warn(`${file}: after a restart nobody will know that the clock is behind: ${error.message}`);
      warned = error.message;
    });
  }

  /** For /health. @param {number} nowMs @returns {import('../health').Part} */
  function part(nowMs) {
    const ms = behindMs(nowMs);
    return ms === 0 ? { status: 'up' } : {
      status: 'degraded',
      reason: `the clock of this machine is ${Math.ceil(ms / 1000)} s behind the newest time known, ${new Date(newestMs).toISOString()}`,
      remedy: `see that it reaches a time server; if the clock is right and was ahead before, delete ${file}`,
    };
  }

  /**
   * A clock that is behind would refuse what the broker keeps, so nothing is taken in until it is right. All that began with it begins
   * anew then: Node-RED ends, to be started again.
   * @param {{log: (text: string) => void, warn: (text: string) => void}} logger
   * @returns {(() => void)|null} ends the wait; null: the clock is right
   */
  function wait(logger) {
    const { reason } = part(Date.now());
    if (!reason) return null;
    logger.warn(`nothing is taken in: ${reason}`);
    const timer = setInterval(() => {
      newestMs = read(); // an admin may have taken the file away
      if (behindMs(Date.now()) > 0) return;
      logger.log('the clock is right: Node-RED ends, to be started again with it');
      clearInterval(timer);
      process.kill(process.pid, 'SIGTERM');
    }, POLL_MS);
    return () => clearInterval(timer);
  }

  return { behindMs, note, part, wait };
}

module.exports = { createKnownTime, FILE };
