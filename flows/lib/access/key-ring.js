// @ts-check
'use strict';

const { hash, randomBytes, timingSafeEqual } = require('node:crypto');
const { isIP } = require('node:net');
const { ID } = require('../building/ids');

/**
 * What a caller may do: `history` is where people were, and who met them; `presence` who is where now, and to report it;
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

/** What each value of a record must be, in the order of being reported. @type {[string, (value: any) => boolean, string][]} */
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

/** What is wrong with a record, if anything. @param {any} record @returns {string|null} */
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
  createKeyRing, parseKeys, writeKeys, makeKey, faultOf, KeyError, KeyFileError, NameTaken, ENV_NAME, RIGHTS, TRUSTED_RIGHTS,
  VIEWER_RIGHTS,
};
