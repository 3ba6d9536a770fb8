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
 * Changes to the building file: one at a time, each checked as a whole, kept as a version, and written so that no reader
 * sees half of it. Who changes says on what (a digest), so that nobody overwrites what he has not seen.
 * @typedef {import('..').BuildingFile} BuildingFile
 * @typedef {import('./versions').Version} Version
 * @typedef {{file: BuildingFile, digest: string, faults: string[]}} Current faults: of the file as it lies there; then `file` is the
 *   building in use
 * @typedef {{version: Version|null, set_aside: string|null}} Written version: null, nothing is different from what is in use; set_aside:
 *   where a file with faults, which was there, is now
 * @typedef {ReturnType<typeof createEditor>} Editor
 */

/** The building was changed by somebody else meanwhile. */
class Conflict extends Error {
  /** @param {string} digest of now @param {Version|null} version of now */
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

/** Files with faults that were overwritten: so many are kept. */
const ASIDE = 5;

/**
 * @param {object} means
 * @param {string} means.file the building file
 * @param {string} means.folder of the versions
 * @param {import('..').Building} means.first the building in use at the start
 * @param {() => number} means.clock
 * @param {{log: (text: string) => void, warn: (text: string) => void}} means.logger
 * @param {Parameters<typeof openVersions>[2]} [means.options]
 */
function createEditor({ file, folder, first, clock, logger, options }) {
  /** @type {{file: BuildingFile, digest: string}} the newest good content */
  let good = { file: first.file, digest: first.digest };
  /** @type {{text: string, faults: string[]}|null} what was last read and is good or not */
  let judged = null;
  const opened = look().then(() => openVersions(folder, good.digest, { ...options, warn: logger.warn }));
  let queue = note('start').catch((error) => logger.warn(`the versions of the building are not kept: ${error.message}`));

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} one after the other, whatever comes of them */
  function inTurn(work) {
    const result = queue.then(work, work);
    queue = result.then(() => {}, () => {});
    return result;
  }

  /** The file as it lies there. @returns {Promise<Current>} */
  async function look() {
    const text = await fs.readFile(file, 'utf8').catch(() => null);
    if (text !== null && text !== judged?.text) {
      try {
        const building = await readBuilding(text, file);
        good = { file: building.file, digest: building.digest };
        judged = { text, faults: [] };
      } catch (error) {
        if (!(error instanceof BuildingError)) throw error;
        judged = { text, faults: error.faults };
      }
    }
    return { ...good, faults: judged?.faults ?? [] };
  }

  /** What is in use now is a version, whoever made it so. @param {'start'|'file'} how */
  async function note(how) {
    const versions = await opened;
    const newest = versions.newest();
    if (newest?.digest === good.digest) return;
    const before = newest ? (await versions.read(newest.version))?.building ?? good.file : good.file;
    const what = { ts: clock(), by: null, how, of: null, digest: good.digest, changes: changesBetween(before, good.file) };
    await versions.come(await versions.prepare(what, good.file));
  }

  /** A file with faults is not ours to throw away. @returns {Promise<string>} where it is now */
  async function setAside() {
    const names = (await fs.readdir(folder)).filter((name) => name.startsWith('refused-')).sort();
    for (const name of names.slice(0, Math.max(0, names.length - ASIDE + 1))) await fs.rm(path.join(folder, name), { force: true });
    const aside = path.join(folder, `refused-${new Date(clock()).toISOString().replace(/[:.]/g, '')}.json`);
    await fs.copyFile(file, aside);
    return aside;
  }

  /**
   * @param {BuildingFile} next checked
   * @param {string} digest of what it is to replace
   * @param {Pick<Version, 'by'|'how'|'of'>} what
   * @returns {Promise<Written>}
   * @throws {Conflict|NotWritable}
   */
  const write = (next, digest, what) => inTurn(async () => {
    const versions = await opened;
    const now = await look();
    if (now.faults.length === 0) await note('file'); // changed by hand, and not looked at yet
    if (now.digest !== digest) throw new Conflict(now.digest, versions.newest());
    const nextDigest = digestOf(next);
    const same = nextDigest === now.digest;
    if (same && now.faults.length === 0) return { version: null, set_aside: null };
    const version = same ? null
      : await versions.prepare({ ts: clock(), ...what, digest: nextDigest, changes: changesBetween(now.file, next) }, next);
    const aside = now.faults.length > 0 ? await setAside() : null;
    const text = `${layout(next)}\n`;
    await replaceFile(file, text);
    if (version) await versions.come(version);
    good = { file: next, digest: nextDigest };
    judged = { text, faults: [] };
    logger.log(`${file} was written by ${what.by ?? 'somebody'}: ${version ? `version ${version.version}` : 'as before'}`
      + `${aside ? `; what was refused is now ${aside}` : ''}`);
    return { version, set_aside: aside };
  }).catch((error) => { throw error?.code === undefined ? error : new NotWritable(error); });

  return {
    look: () => inTurn(look),
    write,
    /** The file was taken over: if not by us, that is a version too. */
    taken: () => inTurn(async () => {
      await look();
      await note('file');
    }).catch((error) => logger.warn(`a version of the building is not kept: ${error.message}`)),
    versions: () => inTurn(() => opened),
    /** Names of the plan pictures that the building or one of its versions shows. @returns {Promise<Set<string>>} */
    pictures: () => inTurn(async () => {
      const versions = await opened;
      const names = picturesOf((await look()).file);
      for (const { version } of versions.list()) names.push(...picturesOf((await versions.read(version))?.building));
      return new Set(names);
    }),
  };
}

/** @param {BuildingFile|undefined} building */
const picturesOf = (building) => (building?.levels ?? []).flatMap(({ plan }) => plan ?? []);

module.exports = { createEditor, Conflict, NotWritable };
