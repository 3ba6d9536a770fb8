// @ts-check
'use strict';

const fs = require('node:fs');
const { mkdir } = require('node:fs/promises');
const path = require('node:path');
const { FileLockError, withFileLock } = require('../../shared/file-lock');
const { replaceFile } = require('../../shared/whole-file');
const { KeyFileError, parseKeys, writeKeys } = require('./ring');

/**
 * The file of keys, `keys.json` in the flows' data folder: written by the running flows and by `make key` alike, each time
 * as a whole, so that it is the old or the new one whenever somebody is killed.
 * @typedef {import('./ring').KeyRecord} KeyRecord
 */

const FILE = 'keys.json';
const BYTES_MAX = 1024 * 1024;
/** A change takes milliseconds. */
const LOCK_WAIT_MS = 20_000;

/**
 * The keys in the file, with its text; none where there is no file. In one go, so that nobody sees keys older than the file.
 * @param {string} file
 * @returns {{text: string|null, records: KeyRecord[]}}
 * @throws {KeyFileError} when it cannot be read, is damaged, or others may write it
 */
function readKeys(file) {
  let handle;
  try {
    handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK); // a named pipe would wait for its writer
    const stat = fs.fstatSync(handle);
    const { mode, size } = stat;
    if (!stat.isFile()) throw new KeyFileError('is no regular file');
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
  return withFileLock(`${file}.lock`, LOCK_WAIT_MS, async () => {
    const { records, result } = change(readKeys(file).records);
    await replaceFile(file, writeKeys(records), 0o600);
    return result;
  }).catch((error) => {
    throw error instanceof FileLockError ? new KeyFileError(`cannot be changed: ${error.message}`) : error;
  });
}

module.exports = { FILE, readKeys, changeKeys };
