// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { readBuilding, digestOf, BuildingError } = require('..');
const { layout } = require('../import/layout');
const { replaceFile } = require('../../shared/whole-file');
const { changesBetween } = require('./changes');
const { openVersions } = require('./versions');

/**
 * Changes to the building file: one at a time, each checked as a whole, kept as a version, and written atomically. A change names
 * the digest of the building that it replaces, so that nobody overwrites a building that they have not seen.
 * @typedef {import('..').BuildingFile} BuildingFile
 * @typedef {import('./versions').Version} Version
 * @typedef {{file: BuildingFile, digest: string, faults: string[]}} Current faults: of the file on disk; with faults `file` is the
 *   building in use
 * @typedef {{version: Version|null, set_aside: string|null}} Written version: null: the building in use is the same; set_aside:
 *   new path of a file with faults that was overwritten
 * @typedef {ReturnType<typeof createEditor>} Editor
 */

/** Somebody else has changed the building meanwhile. */
class Conflict extends Error {
  /** @param {string} digest of the building in use @param {Version|null} version the newest */
  constructor(digest, version) {
    super('the building was changed meanwhile');
    this.name = 'Conflict';
    this.digest = digest;
    this.version = version;
  }
}

/** The building or its versions cannot be written. */
class NotWritable extends Error {
  /** @param {NodeJS.ErrnoException} error */
  constructor(error) {
    super(`${error.path ?? 'the building file'} cannot be written (${error.code ?? error.message})`);
    this.name = 'NotWritable';
  }
}

/** Number of overwritten files with faults that are kept. */
const SET_ASIDE_MAX = 5;

/**
 * @param {object} options
 * @param {string} options.file the building file
 * @param {string} options.folder of the versions
 * @param {import('..').Building} options.first the building in use at the start
 * @param {() => number} options.clock
 * @param {{log: (text: string) => void, warn: (text: string) => void}} options.logger
 * @param {Parameters<typeof openVersions>[2]} [options.versionOptions]
 */
function createEditor({ file, folder, first, clock, logger, versionOptions }) {
  /** @type {{file: BuildingFile, digest: string}} the newest content without faults */
  let good = { file: first.file, digest: first.digest };
  /** @type {{text: string, faults: string[]}|null} the content that was read last */
  let checked = null;
  const opened = current().then(() => openVersions(folder, good.digest, { ...versionOptions, warn: logger.warn }));
  let queue = recordVersion('start').catch((error) => logger.warn(`the versions of the building are not kept: ${error.message}`));

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} runs after earlier work, which may have failed */
  function serialize(work) {
    const result = queue.then(work, work);
    queue = result.then(() => {}, () => {});
    return result;
  }

  /** Reads the file. @returns {Promise<Current>} */
  async function current() {
    const text = await fs.readFile(file, 'utf8').catch(() => null);
    if (text !== null && text !== checked?.text) {
      try {
        const building = await readBuilding(text, file);
        good = { file: building.file, digest: building.digest };
        checked = { text, faults: [] };
      } catch (error) {
        if (!(error instanceof BuildingError)) throw error;
        checked = { text, faults: error.faults };
      }
    }
    return { ...good, faults: checked?.faults ?? [] };
  }

  /** Adds the building in use to the versions if it is new there. @param {'start'|'file'} how */
  async function recordVersion(how) {
    const versions = await opened;
    const newest = versions.newest();
    if (newest?.digest === good.digest) return;
    const before = newest ? (await versions.read(newest.version))?.building ?? good.file : good.file;
    const what = { ts: clock(), by: null, how, of: null, digest: good.digest, changes: changesBetween(before, good.file) };
    await versions.commit(await versions.prepare(what, good.file));
  }

  /** Copies a file with faults before it is overwritten. @returns {Promise<string>} path of the copy */
  async function setAside() {
    const names = (await fs.readdir(folder)).filter((name) => name.startsWith('refused-')).sort();
    for (const name of names.slice(0, Math.max(0, names.length - SET_ASIDE_MAX + 1))) await fs.rm(path.join(folder, name), { force: true });
    const aside = path.join(folder, `refused-${new Date(clock()).toISOString().replace(/[:.]/g, '')}.json`);
    await fs.copyFile(file, aside);
    return aside;
  }

  /**
   * @param {BuildingFile} next checked
   * @param {string} digest of the building that it replaces
   * @param {Pick<Version, 'by'|'how'|'of'>} what
   * @returns {Promise<Written>}
   * @throws {Conflict|NotWritable}
   */
  const write = (next, digest, what) => serialize(async () => {
    const versions = await opened;
    const now = await current();
    if (now.faults.length === 0) await recordVersion('file'); // changed by hand, and not in use yet
    if (now.digest !== digest) throw new Conflict(now.digest, versions.newest());
    const nextDigest = digestOf(next);
    const same = nextDigest === now.digest;
    if (same && now.faults.length === 0) return { version: null, set_aside: null };
    const version = same ? null
      : await versions.prepare({ ts: clock(), ...what, digest: nextDigest, changes: changesBetween(now.file, next) }, next);
    const aside = now.faults.length > 0 ? await setAside() : null;
    const text = `${layout(next)}\n`;
    await replaceFile(file, text);
    if (version) await versions.commit(version);
    good = { file: next, digest: nextDigest };
    checked = { text, faults: [] };
    logger.log(`${file} was written by ${what.by ?? 'somebody'}: ${version ? `version ${version.version}` : 'as before'}`
      + `${aside ? `; the refused file is now ${aside}` : ''}`);
    return { version, set_aside: aside };
  }).catch((error) => { throw error?.code === undefined ? error : new NotWritable(error); });

  return {
    current: () => serialize(current),
    write,
    /** Records a building that was put in use; one that we did not write becomes a version too. */
    recordApplied: () => serialize(async () => {
      await current();
      await recordVersion('file');
    }).catch((error) => logger.warn(`a version of the building is not kept: ${error.message}`)),
    versions: () => serialize(() => opened),
    /** Names of plan pictures that the building or one of its versions refers to. @returns {Promise<Set<string>>} */
    pictures: () => serialize(async () => {
      const versions = await opened;
      const names = picturesOf((await current()).file);
      for (const { version } of versions.list()) names.push(...picturesOf((await versions.read(version))?.building));
      return new Set(names);
    }),
  };
}

/** @param {BuildingFile|undefined} building */
const picturesOf = (building) => (building?.levels ?? []).flatMap(({ plan }) => plan ?? []);

module.exports = { createEditor, Conflict, NotWritable };
