// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');
const { TookTooLong, createQueue } = require('../shared/deadline');
const { moveFile, replaceFile } = require('../shared/whole-file');
const { layout } = require('./import/layout');
const { BuildingError, digestOf, readBuilding, readFault, trustText } = require('./index');
const { createTextReader } = require('./source');

/**
 * Changes to the building file: one at a time, each checked as a whole, kept as a version, and written atomically. A change names
 * the digest of the building that it replaces, so that nobody overwrites a building that they have not seen.
 * @typedef {import('./index').BuildingFile} BuildingFile
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

/** A caller waits so long for its turn and the disk; a mount that hangs keeps nobody. */
const WITHIN_MS = 30_000;
/** Number of overwritten files with faults that are kept. */
const SET_ASIDE_MAX = 5;

/**
 * @param {object} options
 * @param {string} options.file the building file
 * @param {string} options.folder of the versions
 * @param {import('./index').Building} options.first the building in use at the start
 * @param {() => number} options.clock
 * @param {{log: (text: string) => void, warn: (text: string) => void}} options.logger
 * @param {Parameters<typeof openVersions>[2]} [options.versionOptions]
 * @param {() => Promise<string>} [options.read] the file; for tests
 * @param {number} [options.withinMs]
 */
function createEditor({ file, folder, first, clock, logger, versionOptions, read = createTextReader(file), withinMs = WITHIN_MS }) {
  /** @type {{file: BuildingFile, digest: string}} the newest content without faults */
  let good = { file: first.file, digest: first.digest };
  /** @type {{text: string|null, faults: string[]}|null} the content that was read last; text: null: it could not be read */
  let checked = null;
  const opened = current().then(() => openVersions(folder, good.digest, { ...versionOptions, warn: logger.warn }));
  const serialize = createQueue(withinMs, 'the building file');
  serialize(() => recordVersion('start')).catch((error) => logger.warn(`the versions of the building are not kept: ${error.message}`));

  /** Reads the file. @returns {Promise<Current>} */
  async function current() {
    const { text, fault } = await read().then((content) => ({ text: content, fault: null }),
      (error) => ({ text: null, fault: readFault(error) }));
    if (fault !== null) checked = { text: null, faults: [fault] };
    if (text !== null && text !== checked?.text) {
      try {
        const building = await readBuilding(text, file, [first.file, good.file]);
        good = { file: building.file, digest: building.digest };
        checked = { text, faults: [] };
      } catch (error) {
        checked = { text, faults: error instanceof BuildingError ? error.faults : [readFault(error)] };
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
    const { isRegular } = await fs.lstat(file).then((stat) => ({ isRegular: stat.isFile() || stat.isSymbolicLink() }));
    if (isRegular) await fs.copyFile(file, aside);
    else await fs.rename(file, aside); // a named pipe has nothing to copy, and would wait for it
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
    trustText(text);
    if (version) await versions.commit(version);
    good = { file: next, digest: nextDigest };
    checked = { text, faults: [] };
    logger.log(`${file} was written by ${what.by ?? 'somebody'}: ${version ? `version ${version.version}` : 'as before'}`
      + `${aside ? `; the refused file is now ${aside}` : ''}`);
    return { version, set_aside: aside };
  }).catch((error) => { throw error?.code === undefined && !(error instanceof TookTooLong) ? error : new NotWritable(error); });

  return {
    current: () => serialize(current),
    /** The newest content without faults. */
    good: () => good.file,
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

/**
 * Differences between two building files, in numbers.
 * @typedef {{added: number, removed: number, changed: number}} Count
 * @typedef {{levels: Count, rooms: Count, beacons: Count, gateways: Count, staff: Count, other: boolean}} Changes other: the
 *   building's name, its tuning, or the order of something
 * @param {BuildingFile} before
 * @param {BuildingFile} after
 * @returns {Changes}
 */
function changesBetween(before, after) {
  const counts = {
    levels: compare(before.levels.map(withoutRooms), after.levels.map(withoutRooms)),
    rooms: compare(roomsOf(before), roomsOf(after)),
    beacons: compare(before.beacons, after.beacons),
    gateways: compare(before.gateways, after.gateways),
    staff: compare(before.staff, after.staff),
  };
  const counted = Object.values(counts).some(({ added, removed, changed }) => added + removed + changed > 0);
  const other = before.building !== after.building || !isDeepStrictEqual(before.tuning, after.tuning);
  return { ...counts, other: other || (!counted && JSON.stringify(before) !== JSON.stringify(after)) };
}

/** A level without its rooms, which are counted separately. @param {import('./index').Level} level */
const withoutRooms = ({ rooms: _rooms, ...level }) => level;

/** @param {BuildingFile} file */
const roomsOf = ({ levels }) => levels.flatMap(({ id: level, rooms }) => rooms.map((room) => ({ ...room, level })));

/** @param {{id: string}[]} before @param {{id: string}[]} after @returns {Count} */
function compare(before, after) {
  const earlier = new Map(before.map((one) => [one.id, one]));
  let added = 0;
  let changed = 0;
  for (const one of after) {
    const was = earlier.get(one.id);
    earlier.delete(one.id);
    if (!was) added += 1;
    else if (!same(was, one)) changed += 1;
  }
  return { added, removed: earlier.size, changed };
}

/** Comparing texts first is six times faster, and enough for almost all. @param {object} was @param {object} one */
const same = (was, one) => JSON.stringify(was) === JSON.stringify(one) || isDeepStrictEqual(was, one);

/** Number of faults in an answer. */
const FAULTS_MAX = 1000;

/**
 * @typedef {{pointer: string, reason: string}} Fault pointer: JSON pointer into the file; '': the whole file
 * @param {string[]} faults as from `checks.js`, `<pointer> <reason>`
 * @returns {Fault[]} the first 1,000
 */
const faultDetails = (faults) => faults.slice(0, FAULTS_MAX).map((fault) => {
  const space = fault.indexOf(' ');
  const pointer = fault.slice(0, space);
  return { pointer: pointer === '/' ? '' : pointer, reason: fault.slice(space + 1) };
});

/**
 * Versions of the building file, one file each in a folder. A new version is written to a pending file
 * first and committed by a rename, so that after a kill at any moment the list still says what was in use.
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

module.exports = { createEditor, Conflict, NotWritable, changesBetween, faultDetails, openVersions, versionFiles, buildingText };
