// @ts-check
'use strict';

const fs = require('node:fs');
const { mkdir } = require('node:fs/promises');
const path = require('node:path');
const { FileLockError, withFileLock } = require('../shared/file-lock');
const { parseMoment } = require('../shared/rfc3339');
const { replaceFile } = require('../shared/whole-file');
const { KeyError, KeyFileError, NameTaken, createKeyRing, makeKey, parseKeys, writeKeys } = require('./key-ring');

/**
 * The keys of a running installation: follows the file, whoever changes it. A damaged file is refused as a whole, and
 * the keys of before stay.
 * @typedef {import('./key-ring').KeyRecord} KeyRecord
 * @typedef {ReturnType<typeof createKeys>} Keys
 * @param {{file: string, clock: () => number, logger: {log: (text: string) => void, warn: (text: string) => void},
 *   changed?: (added: KeyRecord[], gone: KeyRecord[]) => void}} edge changed: gets what others change in the file
 */
function createKeys({ file, clock, logger, changed = () => {} }) {
  const ring = createKeyRing();
  /** @type {string|null|undefined} */
  let judged;
  let fault = '';
  let first = true;
  /** Keys that we make or revoke at this moment, by id: whoever reads the file sees them before their caller has his answer. */
  const ours = new Set();

  /** @param {KeyRecord[]} records */
  function take(records) {
    const before = ring.records();
    /** @param {KeyRecord[]} these @param {KeyRecord[]} those what is not among them, by others' doing */
    const without = (these, those) => these.filter(({ id }) => !ours.has(id) && !those.some((one) => one.id === id));
    ring.set(records);
    if (fault !== '') logger.log(`${file} is good again`);
    fault = '';
    const [added, gone] = [without(records, before), without(before, records)];
    if (!first && added.length + gone.length > 0) changed(added, gone);
    first = false;
  }

  /** @param {string} reason */
  function refuse(reason) {
    if (reason !== fault) logger.warn(`${file} ${reason}; it is refused, ${first ? 'no key but that of .env is known' : 'the keys of before stay'}`);
    fault = reason;
  }

  /** Look whether the file has changed; about once a second. */
  function follow() {
    try {
      const { text, records } = readKeys(file);
      if (text === judged && fault === '') return;
      judged = text;
      take(records);
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
      refuse(error.message);
    }
  }

  /** @template T @param {(records: KeyRecord[]) => {id: string, records: KeyRecord[], result: T}} work @returns {Promise<T>} */
  async function change(work) {
    let id = '';
    try {
      return await changeKeys(file, (records) => {
        const done = work(records);
        ours.add(id = done.id);
        return done;
      });
    } finally {
      follow(); // as it is by now, whoever else has changed it meanwhile
      ours.delete(id);
    }
  }

  follow();
  return {
    follow,
    find: ring.find,
    records: ring.records,
    /**
     * @param {Parameters<typeof makeKey>[1]} wanted
     * @returns {Promise<{record: KeyRecord, key: string}>} in force and on the disk
     * @throws {import('./key-ring').KeyError}
     */
    add: (wanted) => change((records) => {
      const made = makeKey(records, wanted, clock());
      return { id: made.record.id, records: [...records, made.record], result: made };
    }),
    /** @param {string} id @returns {Promise<KeyRecord|null>} null: there is none */
    revoke: (id) => change((records) => ({
      id, records: records.filter((one) => one.id !== id), result: records.find((one) => one.id === id) ?? null,
    })),
    /** The part of /health. @returns {import('../health').Part} */
    part: () => (fault === '' ? { status: 'up', count: ring.records().length } : {
      status: 'degraded', count: ring.records().length, reason: `the file of keys is refused: it ${fault}`,
      remedy: `mend ${file} (it is read again by itself), or remove it, which revokes every key in it`,
    }),
  };
}

/** The file is read so often at most. */
const POLL_MS = 2000;

/**
 * For whoever only wants to know which keys there are.
 * @param {string} file @param {() => number} clock
 * @returns {{records: () => import('./key-ring').KeyRecord[]}} of a damaged file: none
 */
function createKeyReader(file, clock) {
  let lookedMs = -Infinity;
  /** @type {import('./key-ring').KeyRecord[]} */
  let known = [];
  return {
    records() {
      if (clock() - lookedMs < POLL_MS) return known;
      lookedMs = clock();
      try {
        known = readKeys(file).records;
      } catch (error) {
        if (!(error instanceof KeyFileError)) throw error;
        known = [];
      }
      return known;
    },
  };
}

/**
 * The file of keys, `keys.json` in the flows' data folder: written by the running flows and by `make key` alike, each time
 * as a whole, so that it is the old or the new one whenever somebody is killed.
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

const UNIT_MS = Object.freeze({ h: 3_600_000, d: 86_400_000 });
/** A key that lives longer than any of us is a mistake in the unit. */
const LONGEST_MS = 100 * 366 * UNIT_MS.d;

/**
 * When a key shall expire: `90d`, `12h`, `never`, or a date or time as `2027-01-31` or `2027-01-31T12:00:00Z`, UTC where
 * it names no offset.
 * @param {string} text
 * @param {number} nowMs
 * @returns {number|null} epoch ms; null: never
 * @throws {Error} saying how to write it
 */
function parseExpiry(text, nowMs) {
  if (text === 'never') return null;
  const span = /^(\d{1,6})([hd])$/.exec(text);
  const ms = span ? nowMs + Number(span[1]) * UNIT_MS[/** @type {'h'|'d'} */ (span[2])] : parseMoment(text, { short: true });
  if (ms === null) throw new Error(`"${text}" is no time: write 90d, 12h, never, 2027-01-31 or 2027-01-31T12:00:00Z`);
  if (ms <= nowMs) throw new Error(`"${text}" is over already`);
  if (ms > nowMs + LONGEST_MS) throw new Error(`"${text}" is more than a hundred years ahead`);
  return ms;
}

module.exports = {
  createKeys, createKeyReader, changeKeys, readKeys, makeKey, parseExpiry, KeyError, KeyFileError, NameTaken, FILE,
};
