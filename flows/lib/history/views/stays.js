// @ts-check
'use strict';

/**
 * The stays that the views look at. Three sources: stays as stored (a stay is stored at its time of entering, so a reader
 * must ask for enough time before a window to find who was there already), stays that ended just now and are on their way there, and
 * presences for who is there now.
 * @typedef {import('../../locator').Presence} Presence
 * @typedef {{staff_id: string, level: string, room: string, enter_ms: number, leave_ms: number}} StoredStay
 * @typedef {StoredStay & {open: boolean}} Stay open: goes on; leave_ms is then when the person was last heard
 * @typedef {{fromMs: number, toMs: number}} Window half-open: from included, to not
 */

/**
 * One list without doubles, by time of entering, then staff member. A stay published twice (it had gone on) counts as the
 * longer one.
 * @param {StoredStay[]} stored
 * @param {Presence[]} presences of now; who is `lost` has left
 * @param {StoredStay[]} [recent] that may not be stored yet; they know more than what is stored of the same beginning
 * @returns {Stay[]}
 */
function allStays(stored, presences, recent = []) {
  /** @type {Map<string, Stay>} */
  const byKey = new Map();
  /** @param {Stay} stay */
  const put = (stay) => {
    const key = `${stay.staff_id}\n${stay.enter_ms}`;
    const known = byKey.get(key);
    if (!known || stay.open || (!known.open && stay.leave_ms > known.leave_ms)) byKey.set(key, stay);
  };
  for (const { staff_id, level, room, enter_ms, leave_ms } of stored) put({ staff_id, level, room, enter_ms, leave_ms, open: false });
  for (const { staff_id, level, room, enter_ms, leave_ms } of recent) {
    byKey.set(`${staff_id}\n${enter_ms}`, { staff_id, level, room, enter_ms, leave_ms, open: false });
  }
  for (const { staff_id, level, room, since, ts, state } of presences) {
    put({ staff_id, level, room, enter_ms: since, leave_ms: Math.max(since, ts), open: state !== 'lost' });
  }
  return [...byKey.values()].sort((a, b) => a.enter_ms - b.enter_ms || compareIds(a.staff_id, b.staff_id));
}

/**
 * The same, stay after stay, where there are too many for a list. Nothing stored may come twice.
 * @param {Presence[]} presences @param {StoredStay[]} [recent] that may not be stored yet
 */
function createMerge(presences, recent = []) {
  const open = new Map(allStays([], presences, recent).map((stay) => [`${stay.staff_id}\n${stay.enter_ms}`, stay]));
  return {
    /** @param {StoredStay} stored @returns {Stay|null} null: who is there now knows more of it */
    take(stored) {
      const key = `${stored.staff_id}\n${stored.enter_ms}`;
      const known = open.get(key);
      if (known && (known.open || known.leave_ms >= stored.leave_ms)) return null;
      open.delete(key);
      return { ...stored, open: false };
    },
    /** What presences alone know, when all stored ones were taken. */
    rest: () => [...open.values()],
  };
}

/**
 * The part of a stay within a window.
 * @param {Stay} stay
 * @param {Window} window
 * @returns {{startMs: number, endMs: number}|null} null: none; start and end are equal for who was heard only once
 */
function within({ enter_ms: enter, leave_ms: leave }, { fromMs, toMs }) {
  const startMs = Math.max(enter, fromMs);
  const endMs = Math.min(leave, toMs);
  const touches = leave > enter ? endMs > startMs : enter >= fromMs && enter < toMs;
  return touches ? { startMs, endMs } : null;
}

/** Ids in one fixed order, everywhere and for ever. @param {string} a @param {string} b */
const compareIds = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

module.exports = { allStays, createMerge, within, compareIds };
