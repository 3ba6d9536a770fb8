// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { TookTooLong, oneAtATime, within } = require('../shared/deadline');
const { newAwkward } = require('./awkward');
const { BuildingError, loadBuilding, parseBuilding, readBuilding, readFault } = require('./index');
const { READ_WITHIN_MS } = require('./source');
const { buildingText, versionFiles } = require('./editor');

/**
 * Applies changes of the building file: reads the file, applies it if it is good, refuses it as a whole if it has a fault.
 *
 * Each check compares the whole content. That costs less than a millisecond and sees every kind of change (in place, by rename,
 * through a mount), where notifications and modification times each miss some.
 * @typedef {import('./index').Building} Building
 * @typedef {object} Options
 * @property {string} source name of the file in messages
 * @property {() => Promise<string>} read its content
 * @property {() => Building} current the building in use
 * @property {() => import('./index').BuildingFile[]} [before] buildings that were in use: a change by hand may have what they have;
 *   without it the building in use
 * @property {(next: Building) => Promise<void>} apply puts a building in use; the next check waits for it; after an error it is tried again
 * @property {(faults: string[]) => void} refuse takes the faults of the file; []: the file is in use
 * @property {{log: (text: string) => void, warn: (text: string) => void}} logger
 * @property {{readMs: number, applyMs: number}} [limits] for tests
 */

/** A large building takes seconds to be put in use. */
const LIMITS = Object.freeze({ readMs: READ_WITHIN_MS, applyMs: 120_000 });

/** @param {Options} options */
function createReloader({ source, read, current, before = () => [current().file], apply, refuse, logger, limits = LIMITS }) {
  const readOnce = oneAtATime(read, limits.readMs, 'reading it');
  /**
   * done: content that was applied or refused; suspect: content that was bad once and may be half written.
   * @type {{done: string|null, suspect: string|null}}
   */
  const seen = { done: null, suspect: null };
  let warned = '';
  let isBad = false;
  /** @type {Promise<void>|null} */
  let checking = null;
  /** A building that is being put in use, for longer than the limit. @type {Promise<void>|null} */
  let applying = null;

  /** Refuses a content that was bad at the check before too. @param {string} content @param {string[]} faults */
  function refuseTwice(content, faults) {
    if (content !== seen.suspect) {
      seen.suspect = content;
      return;
    }
    seen.done = content;
    report(faults);
  }

  /** @param {string[]} faults */
  function report(faults) {
    isBad = true;
    refuse(faults);
    const text = faults.join('\n  ');
    if (text !== warned) logger.warn(`${source} was changed and is refused, the building of before stays in use:\n  ${text}`);
    warned = text;
  }

  /** @param {string} content @param {Building} next */
  async function accept(content, next) {
    if (next.digest !== current().digest) {
      try {
        await applyWithin(next);
      } catch (error) {
        report([`/ cannot be taken over: ${error instanceof Error ? error.message : error}`]);
        return; // tried again at the next check
      }
      logger.log(`${source} was changed and is in use: ${next.rooms.size} rooms, ${next.beacons.size} beacons, ` +
        `${next.gateways.size} gateways, ${next.staff.size} staff`);
    } else if (isBad) logger.log(`${source} is good again, and as before`);
    Object.assign(seen, { done: content, suspect: null });
    warned = '';
    isBad = false;
    refuse([]);
  }

  /** Two buildings are never put in use at once. @param {Building} next */
  async function applyWithin(next) {
    if (applying) throw new TookTooLong('putting the building before it in use', limits.applyMs);
    const run = Promise.resolve(apply(next)).finally(() => { applying = null; });
    run.catch(() => {}); // who waits for it gets the error
    applying = run;
    await within(run, limits.applyMs, 'putting it in use');
  }

  /** Checks the file; called every few seconds. A bad content is refused when the next check finds the same. @returns {Promise<void>} */
  function check() {
    checking ??= checkOnce().finally(() => { checking = null; });
    return checking;
  }

  async function checkOnce() {
    const { content, fault } = await readOnce().then((text) => ({ content: text, fault: null }),
      (error) => ({ content: `\0${error.message}`, fault: readFault(error) }));
    if (content === seen.done) return;
    if (fault !== null) refuseTwice(content, [fault]);
    else await parseAndApply(content);
  }

  /** @param {string} content */
  async function parseAndApply(content) {
    let next;
    try {
      next = await readBuilding(content, source, before());
    } catch (error) {
      refuseTwice(content, error instanceof BuildingError ? error.faults : [readFault(error)]);
      return;
    }
    await accept(content, next);
  }

  return {
    check,
    /** Applies a file that was just written; a check in progress may have read the file before. */
    checkNow: () => check().then(check),
  };
}

/** Warnings in the log; /health has more. */
const WARNED = 20;

/**
 * Loads the building to start with: that of the file or, where the file is refused, the one that was in use last. So a fault in
 * the file costs no more at a restart than while everything runs: /health reports it, and locating goes on.
 * @param {string} file
 * @param {string} versions folder of the versions
 * @param {(text: string) => void} warn
 * @returns {import('./index').Building}
 * @throws {BuildingError} where the file is refused and no version can be used
 */
function startBuilding(file, versions, warn) {
  try {
    const building = loadBuilding(file);
    if (building.warnings.length === 0) return building;
    const before = newest(versions, warn);
    const faults = before ? newAwkward(building.file, [before.file]) : []; // of an earlier version it is taken as it was
    if (faults.length > 0) throw new BuildingError(file, faults);
    warn(`${file} goes on, but a new edit may not bring:\n${building.warnings.slice(0, WARNED).map((text) => `  ${text}`).join('\n')}`);
    return building;
  } catch (error) {
    const last = newest(versions, warn);
    if (!last) throw error;
    warn(`${error instanceof Error ? error.message : error}\nThe building that was in use last goes on; correct the file, it is read again by itself`);
    return last;
  }
}

/**
 * @param {string} folder @param {(text: string) => void} warn
 * @returns {import('./index').Building|null} null: none can be used
 */
function newest(folder, warn) {
  try {
    const last = versionFiles(fs.existsSync(folder) ? fs.readdirSync(folder) : []).at(-1);
    return last === undefined ? null : parseBuilding(buildingText(fs.readFileSync(path.join(folder, last), 'utf8')), last);
  } catch (error) {
    warn(`the building that was in use last cannot be used: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

module.exports = { createReloader, startBuilding };
