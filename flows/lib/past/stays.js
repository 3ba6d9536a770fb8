// @ts-check
'use strict';

/**
 * Stays that were stored before, and what a rebuild says instead. A point cannot be deleted, but it can be written again:
 * a stay without duration was taken back. Pure.
 * @typedef {import('../locator').Stay} Stay
 * @typedef {import('../locator').Presence} Presence
 */

/** @param {Stay} stay @param {number} enterMs @param {number} leaveMs @returns {Stay} */
const lasting = (stay, enterMs, leaveMs) => ({
  ...stay, ts: enterMs, enter_ms: enterMs, leave_ms: leaveMs, duration_s: (leaveMs - enterMs) / 1000,
});

/** @param {Stay} stay @returns {Stay} */
const takenBack = (stay) => lasting(stay, stay.enter_ms, stay.enter_ms);

/**
 * Stays to write, so that none of a person's stored stays overlaps with the one that was found now.
 * @param {Stay} found
 * @param {Stay[]} stored of the same person
 * @param {boolean} [open] whether the stay goes on: then what is stored may know its end better
 * @returns {Stay[]}
 */
function reconciled(found, stored, open = false) {
  const written = [];
  let { leave_ms: leaveMs } = found;
  for (const stay of stored) {
    if (stay.staff_id !== found.staff_id || stay.leave_ms <= stay.enter_ms) continue;
    if (stay.enter_ms === found.enter_ms) {
      if (open && stay.room === found.room) leaveMs = Math.max(leaveMs, stay.leave_ms);
    } else if (stay.enter_ms > found.enter_ms && stay.enter_ms < leaveMs) {
      if (open && stay.room === found.room) leaveMs = Math.max(leaveMs, stay.leave_ms);
      written.push(takenBack(stay));
    } else if (stay.enter_ms < found.enter_ms && stay.leave_ms > found.enter_ms) {
      written.push(lasting(stay, stay.enter_ms, found.enter_ms));
    }
  }
  return [...written, lasting(found, found.enter_ms, leaveMs)];
}

/**
 * When a stay really began that was already going on where the reading of the past set in.
 * @param {Presence} presence as the replay knows it
 * @param {Stay|null} last the newest stay that was stored to begin before
 * @param {{ts: number, room: string}|null} first the first location after that stay ended (or of all)
 * @returns {number} epoch ms
 */
function trueStart({ room, since }, last, first) {
  if (last && last.leave_ms > since) return last.room === room ? last.enter_ms : since;
  if (!first || first.room !== room || first.ts >= since) return since;
  // who walks over is in the next room from the moment the last stay ended
  return last && first.ts - last.leave_ms < 1000 ? last.leave_ms : first.ts;
}

/** A stay that goes on, as far as it is known. @param {Presence} presence @returns {Stay} */
const stayOf = ({ staff_id: staffId, level, room, since, ts }) => ({
  ts: since, staff_id: staffId, level, room, enter_ms: since, leave_ms: ts, duration_s: (ts - since) / 1000,
});

module.exports = { reconciled, stayOf, trueStart };
