// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { moveFile, replaceFile } = require('../shared/whole-file');

/**
 * Versions of the building file, one file each in a folder (`version-files.js`). A new version is written to a pending file
 * first and committed by a rename, so that after a kill at any moment the list still says what was in use.
 * @typedef {import('./editor').Changes} Changes
 * @typedef {'start'|'file'|'edit'|'import'|'restore'|'calibration'} How start: found at a start of the flows; file: changed by
 *   hand while they ran; calibration: from a walk
 * @typedef {{version: number, ts: number, by: string|null, how: How, of: number|null, digest: string, changes: Changes}} Version
 *   ts: epoch ms; by: who, null: not known; of: the version that was restored
 * @typedef {Awaited<ReturnType<typeof openVersions>>} Versions
 */

const BOUNDS = Object.freeze({ versions: 200, bytes: 64 * 1024 * 1024 });
const PENDING = 'pending.ndjson';
/** The first line is shorter than this. */
const HEAD_BYTES = 4096;

/**
 * @param {string} folder
 * @param {string} digest of the building in use; it decides whether a pending version is committed or removed
 * @param {{bounds?: Partial<typeof BOUNDS>, warn?: (text: string) => void}} [options]
 */
async function openVersions(folder, digest, { bounds: overrides = {}, warn = () => {} } = {}) {
  const bounds = { ...BOUNDS, ...overrides };
  /** @type {Map<number, Version & {bytes: number}>} ascending */
  const all = new Map();
  const fileOf = (/** @type {number} */ version) => path.join(folder, versionFile(version));

  await fs.mkdir(folder, { recursive: true });
  for (const name of versionFiles(await fs.readdir(folder))) {
    const version = await headOf(path.join(folder, name));
    if (version) all.set(version.version, version);
    else warn(`${path.join(folder, name)} is no version of a building file and is ignored`);
  }
  const pending = await headOf(path.join(folder, PENDING)).catch(() => null);
  if (pending?.digest === digest && newest()?.digest !== digest) {
    await moveFile(path.join(folder, PENDING), fileOf(pending.version));
    all.set(pending.version, pending);
  } else await fs.rm(path.join(folder, PENDING), { force: true });

  function newest() {
    return [...all.values()].at(-1) ?? null;
  }

  /**
   * Writes a version to the pending file; `commit` makes it the newest.
   * @param {Omit<Version, 'version'>} what @param {import('./index').BuildingFile} building
   * @returns {Promise<Version>}
   */
  async function prepare(what, building) {
    const version = { version: (newest()?.version ?? 0) + 1, ...what };
    await replaceFile(path.join(folder, PENDING), versionText(version, building), 0o600);
    return version;
  }

  /** Makes a version the newest, and removes the oldest ones beyond the bounds. @param {Version} version from `prepare` */
  async function commit(version) {
    await moveFile(path.join(folder, PENDING), fileOf(version.version));
    all.set(version.version, { ...version, bytes: (await fs.stat(fileOf(version.version))).size });
    let bytes = [...all.values()].reduce((sum, one) => sum + one.bytes, 0);
    for (const one of [...all.values()].slice(0, -1)) { // the newest stays whatever its size
      if (all.size <= bounds.versions && bytes <= bounds.bytes) break;
      await fs.rm(fileOf(one.version), { force: true });
      all.delete(one.version);
      bytes -= one.bytes;
    }
  }

  /**
   * @param {number} version
   * @returns {Promise<{version: Version, building: import('./index').BuildingFile}|null>} null: there is no such version
   */
  async function read(version) {
    const known = all.get(version);
    if (!known) return null;
    return { version: withoutBytes(known), building: JSON.parse(buildingText(await fs.readFile(fileOf(version), 'utf8'))) };
  }

  return {
    prepare,
    commit,
    read,
    newest: () => { const last = newest(); return last && withoutBytes(last); },
    /** @returns {Version[]} newest first */
    list: () => [...all.values()].map(withoutBytes).reverse(),
    /** How many old versions were removed. */
    dropped: () => ([...all.keys()][0] ?? 1) - 1,
  };
}

/** @param {Version & {bytes: number}} version @returns {Version} */
const withoutBytes = ({ bytes: _bytes, ...version }) => version;

/** @param {string} file @returns {Promise<(Version & {bytes: number})|null>} null: the file is no version */
async function headOf(file) {
  const handle = await fs.open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { ...JSON.parse(headText(buffer.toString('utf8', 0, bytesRead))), bytes: (await handle.stat()).size };
  } catch {
    return null;
  } finally {
    await handle.close();
  }
}

/**
 * Files of building versions: one a version, `<number>.ndjson`; the first line describes the version, the second is the building.
 * Pure.
 */

const NAME = /^\d{6,}\.ndjson$/;

/** @param {number} version @returns {string} file name */
const versionFile = (version) => `${String(version).padStart(6, '0')}.ndjson`;

/** @param {string[]} names of a folder @returns {string[]} file names of versions, the oldest first */
const versionFiles = (names) => names.filter((name) => NAME.test(name)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));

/** @param {object} version @param {object} building @returns {string} content of a file */
const versionText = (version, building) => `${JSON.stringify(version)}\n${JSON.stringify(building)}\n`;

/** @param {string} text content of a file, or its start @returns {string} the description of the version, JSON */
const headText = (text) => text.split('\n', 1)[0] ?? '';

/** @param {string} text content of a file @returns {string} the building, JSON */
const buildingText = (text) => text.slice(text.indexOf('\n') + 1);

module.exports = { openVersions, versionFiles, buildingText };
