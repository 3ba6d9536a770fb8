// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { moveFile, replaceFile } = require('../../shared/whole-file');

/**
 * Earlier versions of the building file: one file each in a folder, first a line that says what it is, then the building.
 * What comes to be is written beside them first, so that after a kill at any moment the list still says what was in use.
 * @typedef {import('./changes').Changes} Changes
 * @typedef {'start'|'file'|'edit'|'import'|'restore'|'calibration'} How start: found so at a start of the flows; file: changed by
 *   hand while they ran; calibration: taken over from a walk
 * @typedef {{version: number, ts: number, by: string|null, how: How, of: number|null, digest: string, changes: Changes}} Version
 *   ts: epoch ms; by: who, if that is known; of: the version that was restored
 * @typedef {Awaited<ReturnType<typeof openVersions>>} Versions
 */

const BOUNDS = Object.freeze({ versions: 200, bytes: 64 * 1024 * 1024 });
const NAME = /^(\d{6,})\.ndjson$/;
const COMING = 'coming.ndjson';
/** A first line is shorter than this. */
const HEAD_BYTES = 4096;

/**
 * @param {string} folder
 * @param {string} digest of the building in use: what was coming when the process ended has come, or has not
 * @param {{bounds?: Partial<typeof BOUNDS>, warn?: (text: string) => void}} [options]
 */
async function openVersions(folder, digest, { bounds: overrides = {}, warn = () => {} } = {}) {
  const bounds = { ...BOUNDS, ...overrides };
  /** @type {Map<number, Version & {bytes: number}>} ascending */
  const all = new Map();
  const fileOf = (/** @type {number} */ version) => path.join(folder, `${String(version).padStart(6, '0')}.ndjson`);

  await fs.mkdir(folder, { recursive: true });
  for (const name of (await fs.readdir(folder)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    if (!NAME.test(name)) continue;
    const version = await headOf(path.join(folder, name));
    if (version) all.set(version.version, version);
    else warn(`${path.join(folder, name)} is no version of a building file and is left alone`);
  }
  const coming = await headOf(path.join(folder, COMING)).catch(() => null);
  if (coming?.digest === digest && newest()?.digest !== digest) {
    await moveFile(path.join(folder, COMING), fileOf(coming.version));
    all.set(coming.version, coming);
  } else await fs.rm(path.join(folder, COMING), { force: true });

  function newest() {
    return [...all.values()].at(-1) ?? null;
  }

  /**
   * Write down what comes to be; it counts when `come` is called.
   * @param {Omit<Version, 'version'>} what @param {import('..').BuildingFile} building
   * @returns {Promise<Version>}
   */
  async function prepare(what, building) {
    const version = { version: (newest()?.version ?? 0) + 1, ...what };
    await replaceFile(path.join(folder, COMING), `${JSON.stringify(version)}\n${JSON.stringify(building)}\n`, 0o600);
    return version;
  }

  /** @param {Version} version as `prepare` gave it */
  async function come(version) {
    await moveFile(path.join(folder, COMING), fileOf(version.version));
    all.set(version.version, { ...version, bytes: (await fs.stat(fileOf(version.version))).size });
    let bytes = [...all.values()].reduce((sum, one) => sum + one.bytes, 0);
    for (const one of [...all.values()].slice(0, -1)) { // the oldest go; the newest stays whatever its size
      if (all.size <= bounds.versions && bytes <= bounds.bytes) break;
      await fs.rm(fileOf(one.version), { force: true });
      all.delete(one.version);
      bytes -= one.bytes;
    }
  }

  /**
   * @param {number} version
   * @returns {Promise<{version: Version, building: import('..').BuildingFile}|null>} null: there is none
   */
  async function read(version) {
    const known = all.get(version);
    if (!known) return null;
    const text = await fs.readFile(fileOf(version), 'utf8');
    return { version: told(known), building: JSON.parse(text.slice(text.indexOf('\n'))) };
  }

  return {
    prepare,
    come,
    read,
    newest: () => { const last = newest(); return last && told(last); },
    /** @returns {Version[]} newest first */
    list: () => [...all.values()].map(told).reverse(),
    /** How many are gone because there were too many. */
    dropped: () => ([...all.keys()][0] ?? 1) - 1,
  };
}

/** @param {Version & {bytes: number}} version @returns {Version} */
const told = ({ bytes: _bytes, ...version }) => version;

/** @param {string} file @returns {Promise<(Version & {bytes: number})|null>} null: it is none */
async function headOf(file) {
  const handle = await fs.open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const line = buffer.toString('utf8', 0, bytesRead).split('\n', 1)[0] ?? '';
    return { ...JSON.parse(line), bytes: (await handle.stat()).size };
  } catch {
    return null;
  } finally {
    await handle.close();
  }
}

module.exports = { openVersions, BOUNDS };
