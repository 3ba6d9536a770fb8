// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { replaceFile } = require('../shared/whole-file');
const { applyUserChanges, noUserChanges, diffUserChanges } = require('./user-changes');

/**
 * Where Node-RED keeps flows: it is given ours with what users added, and of what is deployed only the difference is kept, in
 * `user-flows.json` of the data folder. Our own files are never written, so that an update replaces them and leaves users' tabs alone.
 * Everything else (settings of the editor, sessions, library) is kept by Node-RED's own storage.
 */

const FLOWS = 'user-flows.json';
const CREDENTIALS = 'user-flows_cred.json';

/**
 * @typedef {Record<string, Record<string, unknown>>} Credentials by node id
 * @param {object} deps
 * @param {string} deps.flowFile ours
 * @param {string} deps.credentialsFile ours
 * @param {string} deps.folder of the data
 * @param {object} deps.base Node-RED's storage
 * @param {(text: string) => void} deps.warn
 */
function createFlowStorage({ flowFile, credentialsFile, folder, base, warn }) {
  const changesFile = path.join(folder, FLOWS);
  const ownCredentialsFile = path.join(folder, CREDENTIALS);
  /** @type {Set<string>} */
  const damaged = new Set();

  /**
   * What users made. A damaged file costs only them: our flows start without it, and it is set aside before it is written again.
   * @template T @param {string} file @param {T} nothing @param {(value: any) => boolean} isGood @returns {Promise<T>}
   */
  async function readTheirs(file, nothing, isGood) {
    try {
      const value = await readJson(file) ?? nothing;
      if (isGood(value)) return value;
      throw new Error(`${file} is not what the editor wrote`);
    } catch (error) {
      damaged.add(file);
      warn(`${error instanceof Error ? error.message : error}: the flows start without it; mend it and start again, or it becomes ` +
        `${file}.damaged at the next deploy`);
      return nothing;
    }
  }

  const readChanges = () => readTheirs(changesFile, noUserChanges(), isUserChanges);

  /** @param {string} file @param {unknown} value */
  async function keep(file, value) {
    if (damaged.delete(file)) await fs.rename(file, `${file}.damaged`);
    await fs.mkdir(path.dirname(file), { recursive: true });
    await replaceFile(file, `${JSON.stringify(value, null, 2)}\n`, 0o600);
  }

  return {
    ...base,
    getFlows: async () => applyUserChanges(await readJson(flowFile), await readChanges()),
    /** @param {import('./user-changes').Node[]} deployed */
    async saveFlows(deployed) {
      await keep(changesFile, diffUserChanges(await readJson(flowFile), deployed));
    },
    /** @returns {Promise<Credentials>} */
    getCredentials: async () => ({ ...await readJson(credentialsFile), ...await readTheirs(ownCredentialsFile, {}, isObject) }),
    /** @param {Credentials} credentials */
    async saveCredentials(credentials) {
      const ours = JSON.stringify(await readJson(credentialsFile) ?? {});
      const before = JSON.parse(ours);
      const own = Object.entries(credentials).filter(([id, one]) => JSON.stringify(one) !== JSON.stringify(before[id]));
      await keep(ownCredentialsFile, Object.fromEntries(own));
    },
  };
}

/** @param {any} value */
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
/** @param {any} changes */
const isUserChanges = (changes) => changes.v === 1 && [changes.nodes, changes.removed].every(Array.isArray) && isObject(changes.changed);

/** @param {string} file @returns {Promise<any>} null: there is none */
async function readJson(file) {
  let text;
  try {
    text = await fs.readFile(file, 'utf8');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is no JSON`, { cause: error });
  }
}

module.exports = { createFlowStorage, FLOWS };
