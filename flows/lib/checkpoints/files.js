// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { replaceFile } = require('../shared/whole-file');

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

module.exports = { createFiles };
