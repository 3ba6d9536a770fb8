// @ts-check
'use strict';

const { readBuilding, BuildingError } = require('./index');

/**
 * Keeps what runs on what the building file says: looks at the file, takes a good one over, refuses a bad one as a whole.
 *
 * The whole content is compared at each look. That costs less than a millisecond and sees every way of changing a file
 * (in place, by rename, through a mount), where notifications and modification times each miss some.
 * @typedef {import('./index').Building} Building
 * @typedef {object} Edge what the outside gives
 * @property {string} source name of the file for messages
 * @property {() => Promise<string>} read its content
 * @property {() => Building} current the building that runs
 * @property {(next: Building) => Promise<void>} take run another; the next look waits for it; may fail, and is then tried again
 * @property {(faults: string[]) => void} refuse the file's faults from now on; none: it is the one that runs
 * @property {{log: (text: string) => void, warn: (text: string) => void}} logger
 */

/** @param {Edge} edge */
function createReloader({ source, read, current, take, refuse, logger }) {
  /** What was judged; what looked bad once and may have been half written. @type {{judged: string|null, doubtful: string|null}} */
  const seen = { judged: null, doubtful: null };
  let warned = '';
  let bad = false;
  /** @type {Promise<void>|null} */
  let looking = null;

  /** @param {string} content @param {string[]} faults */
  function refuseIt(content, faults) {
    if (content !== seen.doubtful) {
      seen.doubtful = content;
      return;
    }
    seen.judged = content;
    tell(faults);
  }

  /** @param {string[]} faults */
  function tell(faults) {
    bad = true;
    refuse(faults);
    const text = faults.join('\n  ');
    if (text !== warned) logger.warn(`${source} was changed and is refused, the building of before stays in use:\n  ${text}`);
    warned = text;
  }

  /** @param {string} content @param {Building} next */
  async function accept(content, next) {
    if (next.digest !== current().digest) {
      try {
        await take(next);
      } catch (error) {
        tell([`/ cannot be taken over: ${error instanceof Error ? error.message : error}`]);
        return; // not judged: tried again
      }
      logger.log(`${source} was changed and is in use: ${next.rooms.size} rooms, ${next.beacons.size} beacons, ` +
        `${next.gateways.size} gateways, ${next.staff.size} staff`);
    } else if (bad) logger.log(`${source} is good again, and as before`);
    Object.assign(seen, { judged: content, doubtful: null });
    warned = '';
    bad = false;
    refuse([]);
  }

  /** Look at the file; every few seconds. A bad content counts when it is still the same at the next look. */
  function look() {
    looking ??= lookOnce().finally(() => { looking = null; });
    return looking;
  }

  async function lookOnce() {
    const { content, fault } = await read().then((text) => ({ content: text, fault: null }),
      (error) => ({ content: `\0${error.message}`, fault: `/ cannot be read: ${error.message}` }));
    if (content === seen.judged) return;
    if (fault !== null) refuseIt(content, [fault]);
    else await judge(content);
  }

  /** @param {string} content */
  async function judge(content) {
    let next;
    try {
      next = await readBuilding(content, source);
    } catch (error) {
      if (!(error instanceof BuildingError)) throw error;
      refuseIt(content, error.faults);
      return;
    }
    await accept(content, next);
  }

  return {
    look,
    /** Take over what was just written; a look that goes on may have begun before. */
    lookNow: () => look().then(look),
  };
}

module.exports = { createReloader };
