// @ts-check
'use strict';

const fs = require('node:fs');
const { mkdir, open, rm, stat } = require('node:fs/promises');
const path = require('node:path');
const { setTimeout: wait } = require('node:timers/promises');
const { replaceFile } = require('../whole-file');
const { KeyFileError, parseKeys, writeKeys } = require('./key-ring');

/**
 * The file of keys, `keys.json` in the flows' data folder: written by the running flows and by `make key` alike, each time
 * as a whole, so that it is the old or the new one whenever somebody is killed.
 * @typedef {import('./key-ring').KeyRecord} KeyRecord
 */

const FILE = 'keys.json';
const BYTES_MAX = 1024 * 1024;
/** A change takes milliseconds: a lock as old as this was left behind by a kill. */
const LOCK_OLD_MS = 10_000;
const LOCK_LOOK_MS = 50;

/**
 * The keys in the file, with its text; none where there is no file. In one go, so that nobody sees keys older than the file.
 * @param {string} file
 * @returns {{text: string|null, records: KeyRecord[]}}
 * @throws {KeyFileError} when it cannot be read, is damaged, or others may write it
 */
function readKeys(file) {
  let handle;
  try {
    handle = fs.openSync(file, 'r');
    const { mode, size } = fs.fstatSync(handle);
    if ((mode & 0o022) !== 0) throw new KeyFileError(`can be written by others, who could make themselves keys: chmod 600 ${file}`);
    if (size > BYTES_MAX) throw new KeyFileError(`is larger than ${BYTES_MAX} bytes`);
    const text = fs.readFileSync(handle, 'utf8');
    return { text, records: parseKeys(text) };
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ENOENT') return { text: null, records: [] };
    throw error instanceof KeyFileError ? error : new KeyFileError(`cannot be read: ${message}`);
  } finally {
    if (handle !== undefined) fs.closeSync(handle);
  }
}

/**
 * Change the keys: read, changed and written while nobody else does so. A damaged file is left as it is.
 * @template T
 * @param {string} file
 * @param {(records: KeyRecord[]) => {records: KeyRecord[], result: T}} change may throw, and nothing is written
 * @returns {Promise<T>} the result, once the file is on the disk
 * @throws {KeyFileError}
 */
async function changeKeys(file, change) {
  await mkdir(path.dirname(file), { recursive: true });
  const lock = `${file}.lock`;
  await take(lock);
  try {
    const { records, result } = change(readKeys(file).records);
    await replaceFile(file, writeKeys(records), 0o600);
    return result;
  } finally {
    await rm(lock, { force: true });
  }
}

/** @param {string} lock */
async function take(lock) {
  for (const endMs = Date.now() + 2 * LOCK_OLD_MS; ;) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw new KeyFileError(`cannot be changed: ${/** @type {Error} */ (error).message}`);
    }
    const held = await stat(lock).catch(() => null);
    if (held && Date.now() - held.mtimeMs > LOCK_OLD_MS) await rm(lock, { force: true });
    else if (Date.now() > endMs) throw new KeyFileError(`is being changed by somebody else: try again, or remove ${lock}`);
    else await wait(LOCK_LOOK_MS);
  }
}

module.exports = { FILE, readKeys, changeKeys };
