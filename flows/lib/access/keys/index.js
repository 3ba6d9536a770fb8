// @ts-check
'use strict';

const { parseExpiry } = require('./expiry');
const { changeKeys, FILE, readKeys } = require('./file');
const { createKeyReader } = require('./reader');
const { createKeyRing, ENV_NAME, KeyError, KeyFileError, makeKey, NameTaken } = require('./ring');

/**
 * The keys of a running installation: follows the file, whoever changes it. A damaged file is refused as a whole, and
 * the keys of before stay.
 * @typedef {import('./ring').KeyRecord} KeyRecord
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
     * @throws {import('./ring').KeyError}
     */
    add: (wanted) => change((records) => {
      const made = makeKey(records, wanted, clock());
      return { id: made.record.id, records: [...records, made.record], result: made };
    }),
    /** @param {string} id @returns {Promise<KeyRecord|null>} null: there is none */
    revoke: (id) => change((records) => ({
      id, records: records.filter((one) => one.id !== id), result: records.find((one) => one.id === id) ?? null,
    })),
    /** The part of /health. @returns {import('../../health').Part} */
    part: () => (fault === '' ? { status: 'up', count: ring.records().length } : {
      status: 'degraded', count: ring.records().length, reason: `the file of keys is refused: it ${fault}`,
      remedy: `mend ${file} (it is read again by itself), or remove it, which revokes every key in it`,
    }),
  };
}

module.exports = {
  createKeys, createKeyReader, createKeyRing, changeKeys, readKeys, makeKey, parseExpiry,
  KeyError, KeyFileError, NameTaken, ENV_NAME, KEY_FILE: FILE,
};
