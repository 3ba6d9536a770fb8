// @ts-check
'use strict';

const { DEFAULTS: { lostMs } } = require('../locator');
const { presenceMessage } = require('../outbox/messages');
const { createStateFile } = require('../shared/state-file');

/**
 * What was published of each person, compared with what is known: nobody stays `present` whose room is gone, and of who left the building
 * file nothing stays retained at the broker. It holds over restarts, also for who left the file while the flows were stopped.
 * @typedef {import('../locator').Presence} Presence
 * @typedef {ReturnType<typeof createPublishedPresences>} PublishedPresences
 * @typedef {Pick<ReturnType<typeof import('../outbox').createOutbox>, 'put'>} Outbox
 * @typedef {object} Now
 * @property {Pick<ReturnType<typeof import('./live-tracking').createLiveTracking>, 'presences'|'isRecovering'>} live what is known
 * @property {import('../building').Building} building
 * @property {number} startedMs
 * @property {Pick<import('../outbox/results').Results, 'add'>} results
 * @property {Outbox} outbox
 */

/** After a start it takes some seconds until somebody who is here is known to be. */
const SETTLED_MS = 60_000;
/** Comparing takes some milliseconds with 10,000 people. */
const CHECK_MS = 5000;
/** Of who is not in the file, `lost` is kept this long in memory: a shift. */
const LOST_KEPT_MS = 12 * 3_600_000;

/** @param {{file?: string|null, warn?: (text: string) => void}} [options] file: over restarts; null: in memory alone */
function createPublishedPresences({ file = null, warn = () => {} } = {}) {
  const stateFile = createStateFile(file, warn);
  /** By staff id, as it was published last. @type {Map<string, Presence>} */
  const published = new Map();
  /** People of a building file whose location is retained. @type {Set<string>} */
  const listed = new Set(idsOf(stateFile.read()));
  /** Since when nothing is known of somebody who was published to be here, epoch ms. @type {Map<string, number>} */
  const missing = new Map();
  /** People whose location was taken off. @type {Set<string>} */
  const gone = new Set();
  let checkedMs = -Infinity;
  let changed = false;

  /** Who is published to be here, and is nowhere in the building. @param {Set<string>} known @param {number} nowMs */
  function lostNow(known, nowMs) {
    /** @type {Presence[]} */
    const lost = [];
    for (const [id, presence] of published) {
      if (presence.state === 'lost' || known.has(id)) missing.delete(id);
      else if (!missing.has(id)) missing.set(id, nowMs);
      else if (nowMs - Number(missing.get(id)) >= lostMs) lost.push({ ...presence, state: 'lost' });
    }
    return lost;
  }

  /** Who left the file, and of whom nothing is known any more. @param {Set<string>} known @param {ReadonlyMap<string, unknown>} staff */
  function leave(known, staff) {
    const left = [...listed].filter((id) => !staff.has(id) && !known.has(id) && (published.get(id)?.state ?? 'lost') === 'lost');
    for (const id of left) {
      listed.delete(id);
      published.delete(id);
      gone.add(id);
      changed = true;
    }
    return left;
  }

  /** @param {import('../building').Building} building @param {number} nowMs */
  function keep({ staff }, nowMs) {
    for (const [id, { state, ts }] of published) {
      if (staff.has(id) && !listed.has(id)) {
        listed.add(id);
        changed = true;
      } else if (!staff.has(id) && !listed.has(id) && state === 'lost' && nowMs - ts > LOST_KEPT_MS) published.delete(id);
    }
  }

  /**
   * Compare, every few seconds.
   * @param {Now} now @param {number} nowMs
   * @returns {{lost: Presence[], left: string[]}} ids of people whose retained location is to be taken off
   */
  function compare({ live, building, startedMs }, nowMs) {
    if (nowMs - checkedMs < CHECK_MS) return { lost: [], left: [] };
    checkedMs = nowMs;
    const known = new Set(live.presences().map(({ staff_id: id }) => id));
    const isSettled = !live.isRecovering() && nowMs - startedMs > SETTLED_MS;
    keep(building, nowMs);
    const found = { lost: lostNow(known, nowMs), left: isSettled ? leave(known, building.staff) : [] };
    if (changed) void stateFile.write({ v: 1, listed: [...listed] });
    changed = false;
    return found;
  }

  return {
    /** @param {Presence[]} presences that are published */
    note(presences) {
      for (const presence of presences) {
        published.set(presence.staff_id, presence);
        gone.delete(presence.staff_id);
      }
    },
    /**
     * Publish who is lost, and take off what is retained of who left; about once a second.
     * @param {Now} now @param {number} nowMs
     * @returns {{ts: number, type: 'lost', staff_id: string, level: string, room: string}[]} events
     */
    takeBack(now, nowMs) {
      const { lost, left } = compare(now, nowMs);
      now.results.add('presence', lost);
      for (const id of left) now.outbox.put({ topic: `sda/v1/staff/${id}/location`, payload: '', retain: true }, nowMs);
      return lost.map(({ staff_id: id, level, room }) => ({ ts: nowMs, type: 'lost', staff_id: id, level, room }));
    },
    /** The broker may have forgotten what it was published. @param {Outbox} outbox @param {number} nowMs */
    publishAgain(outbox, nowMs) {
      for (const presence of published.values()) outbox.put(presenceMessage(presence), nowMs);
    },
    /** Everybody, as it was published last, but who has been lost for longer than a shift. @param {number} nowMs */
    recent: (nowMs) => [...published.values()].filter(({ state, ts }) => state !== 'lost' || nowMs - ts <= LOST_KEPT_MS),
    /** Whether somebody's location was taken off. @param {string} id */
    isGone: (id) => gone.has(id),
    /** @returns {Promise<unknown>} when it is written */
    settled: () => stateFile.settled(),
  };
}

/** @param {any} state of the file @returns {string[]} */
const idsOf = (state) => (Array.isArray(state?.listed) ? state.listed.filter((/** @type {unknown} */ id) => typeof id === 'string') : []);

module.exports = { createPublishedPresences, CHECK_MS };
