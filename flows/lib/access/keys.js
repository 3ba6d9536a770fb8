// @ts-check
'use strict';

const { hash, randomBytes, timingSafeEqual } = require('node:crypto');
const fs = require('node:fs');
const { mkdir } = require('node:fs/promises');
const { isIP } = require('node:net');
const path = require('node:path');
const { ID } = require('../building/ids');
const { FileLockError, withFileLock } = require('../shared/file-lock');
const { parseMoment } = require('../shared/rfc3339');
const { replaceFile } = require('../shared/whole-file');

/**
 * Rights of a caller: `history` is where people were, and who met them; `presence` who is where now, and to report it;
 * `admin` is keys, audit, rebuild and the building; `forward` is to name the caller of a question that is passed on
 * (`X-On-Behalf-Of`), which opens no route.
 * @typedef {'history'|'presence'|'admin'|'forward'} Right
 */
const RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence', 'admin', 'forward']));
/**
 * An address names a machine, not who uses it: trust is enough to ask, never to make keys, to read who asked, or to
 * have the past located again.
 */
const TRUSTED_RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence']));
/** A viewer sees everything that shows people, and changes nothing. */
const VIEWER_RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence']));

/**
 * The keys of a running installation: follows the file, whoever changes it. A damaged file is refused as a whole, and
 * the keys of before stay.
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
     * @throws {KeyError}
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
 * @returns {{records: () => KeyRecord[]}} of a damaged file: none
 */
function createKeyReader(file, clock) {
  let lookedMs = -Infinity;
  /** @type {KeyRecord[]} */
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

/**
 * Named keys. A key is `sda_<id>_<256 random bits>`: the id is no secret, it finds the record and names a key that has
 * leaked. Kept is only the key's SHA-256. A slow hash as for passwords would add nothing: it makes guessing dear where
 * people choose, and nobody guesses 256 random bits at any price; but it would make each request dear.
 * @typedef {object} KeyRecord
 * @property {string} id eight hex digits
 * @property {string} name unique
 * @property {Right[]} rights
 * @property {string} sha256 of the whole key, hex
 * @property {number} created_ms
 * @property {number|null} expires_ms null: never
 * @property {number} [rate_per_s] requests per second it may make; without: SDA_RATE_PER_S
 */

const KEY = /^sda_([0-9a-f]{8})_[A-Za-z0-9_-]{43}$/;
/** More keys than this are a mistake, and would make each reading of the file slow. */
const KEYS_MAX = 1000;
const RATE_MAX_PER_S = 1_000_000;
/** The key of .env goes by this name. */
const ENV_NAME = 'SDA_API_KEY';
const NOBODY = Buffer.alloc(32);

/** @param {string} text */
const sha256 = (text) => hash('sha256', text, 'buffer');

/** A wish that cannot be granted. */
class KeyError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'KeyError';
  }
}

class NameTaken extends KeyError {}

/** The file of keys is damaged: nothing is changed until it is mended. */
class KeyFileError extends KeyError {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'KeyFileError';
  }
}

/** Rules for each value of a record, in the order of being reported. @type {[string, (value: any) => boolean, string][]} */
const RULES = [
  ['id', (id) => typeof id === 'string' && /^[0-9a-f]{8}$/.test(id), 'must be eight hex digits'],
  ['name', (name) => typeof name === 'string' && ID.test(name), 'must be 1 to 64 letters, digits, "_", "." or "-", a letter or digit first'],
  ['name', (name) => name !== ENV_NAME, `must not be ${ENV_NAME}: that is the key of .env`],
  ['name', (name) => isIP(name) === 0, 'must not be an address: callers without a key go by theirs'],
  ['rights', (rights) => Array.isArray(rights) && rights.length > 0 && rights.every((right) => RIGHTS.includes(right)),
    `must be one or more of ${RIGHTS.join(', ')}`],
  ['sha256', (digest) => typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest), 'must be 64 hex digits'],
  ['created_ms', (ms) => Number.isSafeInteger(ms), 'must be epoch milliseconds'],
  ['expires_ms', (ms) => ms === null || Number.isSafeInteger(ms), 'must be epoch milliseconds, or null for never'],
  ['rate_per_s', (rate) => rate === undefined || (Number.isSafeInteger(rate) && rate >= 1 && rate <= RATE_MAX_PER_S),
    `must be a whole number from 1 to ${RATE_MAX_PER_S}`],
];

/** The fault of a record; null: none. @param {any} record @returns {string|null} */
function faultOf(record) {
  if (record === null || typeof record !== 'object') return 'is no object';
  const broken = RULES.find(([name, good]) => !good(record[name]));
  return broken ? `${broken[0]} ${broken[2]}` : null;
}

/**
 * The keys file's text as records.
 * @param {string} text
 * @returns {KeyRecord[]}
 * @throws {KeyFileError} saying what is wrong, and where
 */
function parseKeys(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new KeyFileError(`is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (data?.v !== 1 || !Array.isArray(data.keys)) throw new KeyFileError('must be {"v":1,"keys":[…]}');
  if (data.keys.length > KEYS_MAX) throw new KeyFileError(`holds ${data.keys.length} keys, more than ${KEYS_MAX}`);
  const seen = new Set();
  for (const [i, record] of data.keys.entries()) {
    const fault = faultOf(record);
    if (fault) throw new KeyFileError(`keys[${i}]: ${fault}`);
    for (const mark of [`id ${record.id}`, `name ${record.name}`]) {
      if (seen.has(mark)) throw new KeyFileError(`keys[${i}]: the ${mark} is there twice`);
      seen.add(mark);
    }
  }
  return data.keys;
}

/** @param {KeyRecord[]} records */
const writeKeys = (records) => `${JSON.stringify({ v: 1, keys: records }, null, 1)}\n`;

/**
 * A new key. The key itself is in `key`, here and never again.
 * @param {KeyRecord[]} records that there are
 * @param {{name: unknown, rights: unknown, expiresMs: number|null, ratePerS?: number|undefined}} wanted
 * @param {number} nowMs
 * @returns {{record: KeyRecord, key: string}}
 * @throws {KeyError}
 */
function makeKey(records, { name, rights, expiresMs, ratePerS }, nowMs) {
  let id = '';
  do id = randomBytes(4).toString('hex'); while (records.some((one) => one.id === id));
  const key = `sda_${id}_${randomBytes(32).toString('base64url')}`;
  const record = { id, name, rights: Array.isArray(rights) ? RIGHTS.filter((right) => rights.includes(right)) : rights,
    sha256: sha256(key).toString('hex'), created_ms: nowMs, expires_ms: expiresMs, ...(ratePerS === undefined ? {} : { rate_per_s: ratePerS }) };
  const fault = faultOf({ ...record, rights }) ?? (expiresMs !== null && expiresMs <= nowMs ? 'it would have expired already' : null)
    ?? (records.length >= KEYS_MAX ? `there are ${KEYS_MAX} keys already: revoke some` : null);
  if (fault) throw new KeyError(fault);
  if (records.some((one) => one.name === name)) throw new NameTaken(`there is a key "${name}" already: revoke it first, or take another name`);
  return { record: /** @type {KeyRecord} */ (record), key };
}

/** Finds who presents a key; its records are replaced as a whole. */
function createKeyRing() {
  /** @type {Map<string, KeyRecord & {digest: Buffer}>} */
  let byId = new Map();
  return {
    /** @param {KeyRecord[]} records */
    set: (records) => { byId = new Map(records.map((one) => [one.id, { ...one, digest: Buffer.from(one.sha256, 'hex') }])); },
    /** @returns {KeyRecord[]} */
    records: () => [...byId.values()].map(({ digest: _digest, ...record }) => record),
    /**
     * Whose key this is, expired or not. The time it takes does not depend on any key.
     * @param {string} presented
     * @returns {KeyRecord|null}
     */
    find(presented) {
      const record = byId.get(KEY.exec(presented)?.[1] ?? '');
      const same = timingSafeEqual(sha256(presented), record?.digest ?? NOBODY);
      return record && same ? record : null;
    },
  };
}

module.exports = {
  createKeys, createKeyReader, changeKeys, readKeys, makeKey, parseExpiry, KeyError, KeyFileError, NameTaken, FILE, createKeyRing,
  parseKeys, writeKeys, faultOf, ENV_NAME, RIGHTS, TRUSTED_RIGHTS, VIEWER_RIGHTS,
};
