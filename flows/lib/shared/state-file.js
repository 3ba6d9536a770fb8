// @ts-check
'use strict';

const fs = require('node:fs');
const { mkdir } = require('node:fs/promises');
const path = require('node:path');
const { replaceFile } = require('./whole-file');

/**
 * A small file of state as JSON, written as a whole. What is to be written while a write goes on is written after it, once.
 * @typedef {ReturnType<typeof createStateFile>} StateFile
 * @param {string|null} file null: state is in memory alone
 * @param {(text: string) => void} warn
 * @param {{unread?: string, unwritten?: string}} [consequences] in words, of a file that cannot be read or written
 */
function createStateFile(file, warn, { unread = 'it is begun anew', unwritten = 'it is not kept over a restart' } = {}) {
  /** @type {string|null} */
  let wanted = null;
  /** @type {Promise<boolean>|null} */
  let writing = null;
  let failed = '';

  /** @param {string} target */
  async function writeAll(target) {
    while (wanted !== null) {
      const text = wanted;
      wanted = null;
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
    /** @returns {any} null: there is none, or it is damaged */
    read() {
      if (file === null) return null;
      try {
        return JSON.parse(fs.readFileSync(file, 'utf8'));
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') warn(`${file} cannot be read, ${unread}: ${error}`);
        return null;
      }
    },
    /** @param {unknown} value @returns {Promise<boolean>} whether it is on the disk; why not was warned of */
    write(value) {
      if (file === null) return Promise.resolve(true);
      wanted = JSON.stringify(value);
      writing ??= writeAll(file).finally(() => { writing = null; });
      return writing;
    },
    /** When nothing is being written any more. @returns {Promise<unknown>} */
    settled: () => writing ?? Promise.resolve(),
  };
}

module.exports = { createStateFile };
