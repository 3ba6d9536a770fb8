// @ts-check
'use strict';

const { TookTooLong, oneAtATime, within } = require('../shared/deadline');
const { readBuilding, readFault, BuildingError } = require('./index');
const { READ_WITHIN_MS } = require('./source');

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

module.exports = { createReloader };
