// @ts-check
'use strict';

const { changeKeys, readKeys } = require('./key-file');
const { createKeyRing, KeyFileError, makeKey } = require('./key-ring');

/**
 * The keys of a running installation: follows the file, whoever changes it. A damaged file is refused as a whole, and
 * the keys of before stay.
 * @typedef {import('./key-ring').KeyRecord} KeyRecord
 * @typedef {ReturnType<typeof createKeys>} Keys
 * @param {{file: string, clock: () => number, logger: {log: (text: string) => void, warn: (text: string) => void},
 *   changed?: (added: KeyRecord[], gone: KeyRecord[]) => void}} edge changed: told of what others change in the file
 */
function createKeys({ file, clock, logger, changed = () => {} }) {
  const ring = createKeyRing();
  /** @type {string|null|undefined} */
  let judged;
  let fault = '';
  let first = true;
  let byUs = false;

  /** @param {KeyRecord[]} records */
  function take(records) {
    const before = ring.records();
    const known = (/** @type {KeyRecord[]} */ list, /** @type {KeyRecord} */ { id }) => list.some((one) => one.id === id);
    ring.set(records);
    if (fault !== '') logger.log(`${file} is good again`);
    fault = '';
    const added = records.filter((one) => !known(before, one));
    const gone = before.filter((one) => !known(records, one));
    if (!first && !byUs && added.length + gone.length > 0) changed(added, gone);
    first = false;
  }

  /** @param {string} reason */
  function refuse(reason) {
    if (reason !== fault) logger.warn(`${file} ${reason}; it is refused, ${first ? 'no key but that of .env is known' : 'the keys of before stay'}`);
    fault = reason;
  }

  /** Look whether the file has changed; about once a second. */
  function look() {
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

  /** @template T @param {(records: KeyRecord[]) => {records: KeyRecord[], result: T}} work @returns {Promise<T>} */
  async function change(work) {
    const result = await changeKeys(file, work);
    byUs = true;
    look(); // as it is by now, whoever else has changed it meanwhile
    byUs = false;
    return result;
  }

  look();
  return {
    look,
    find: ring.find,
    records: ring.records,
    /**
     * @param {Parameters<typeof makeKey>[1]} wanted
     * @returns {Promise<{record: KeyRecord, key: string}>} in force and on the disk
     * @throws {import('./key-ring').KeyError}
     */
    add: (wanted) => change((records) => {
      const made = makeKey(records, wanted, clock());
      return { records: [...records, made.record], result: made };
    }),
    /** @param {string} id @returns {Promise<KeyRecord|null>} null: there is none */
    revoke: (id) => change((records) => ({
      records: records.filter((one) => one.id !== id), result: records.find((one) => one.id === id) ?? null,
    })),
    /** What /health tells. @returns {import('../health').Part} */
    part: () => (fault === '' ? { status: 'up', count: ring.records().length } : {
      status: 'degraded', count: ring.records().length, reason: `the file of keys is refused: it ${fault}`,
      remedy: `mend ${file} (it is read again by itself), or remove it, which revokes every key in it`,
    }),
  };
}

module.exports = { createKeys };
