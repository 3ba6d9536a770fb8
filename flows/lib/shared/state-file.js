// @ts-check
'use strict';

const fs = require('node:fs');
const { mkdir } = require('node:fs/promises');
const path = require('node:path');
const { replaceFile } = require('./whole-file');

/**
 * A small JSON file of state, replaced atomically. Values that are set during a write are written after it, the last one only.
 * @typedef {ReturnType<typeof createStateFile>} StateFile
 * @param {string|null} file null: the state is in memory only
 * @param {(text: string) => void} warn
 * @param {{unread?: string, unwritten?: string}} [consequences] for warnings: what follows when the file cannot be read or written
 */
function createStateFile(file, warn, { unread = 'it starts empty', unwritten = 'it will not survive a restart' } = {}) {
  /** @type {string|null} */
  let next = null;
  /** @type {Promise<boolean>|null} */
  let writing = null;
  let failed = '';

  /** @param {string} target */
  async function writeAll(target) {
    while (next !== null) {
      const text = next;
      next = null;
      try {
        await mkdir(path.dirname(target), { recursive: true });
        await replaceFile(target, text, 0o600);
        failed = '';
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== failed) warn(`${target} cannot be written, ${unwritten}: ${reason}`);
        failed = reason;
      }
    }
    return failed === '';
  }

  return {
    /** @returns {any} null: the file is missing or damaged */
    read() {
      if (file === null) return null;
      try {
        return JSON.parse(fs.readFileSync(file, 'utf8'));
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') warn(`${file} cannot be read, ${unread}: ${error}`);
        return null;
      }
    },
    /** @param {unknown} value @returns {Promise<boolean>} whether it is written; a failure is warned of */
    write(value) {
      if (file === null) return Promise.resolve(true);
      next = JSON.stringify(value);
      writing ??= writeAll(file).finally(() => { writing = null; });
      return writing;
    },
    /** Waits for the current write. @returns {Promise<unknown>} */
    settled: () => writing ?? Promise.resolve(),
  };
}

module.exports = { createStateFile };
