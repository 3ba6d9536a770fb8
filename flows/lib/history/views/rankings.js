// @ts-check
'use strict';

const { compareIds, within } = require('./stays');

/**
 * Rooms and staff with the most visits, or the most time, within a window. Time is person-seconds within the window; a
 * visit counts when any of it lies in the window.
 * @typedef {import('./stays').Stay} Stay
 * @typedef {import('./stays').Window} Window
 * @typedef {'visits'|'time'} By
 * @typedef {{visits: number, ms: number, others: Set<string>, level: string}} Tally
 */

/**
 * @typedef {{level: string, room: string, visits: number, time_s: number, staff: number}} RoomRank staff: different people
 * @typedef {{staff_id: string, visits: number, time_s: number, rooms: number}} StaffRank rooms: different ones
 */

/** @param {Window} window */
function createRoomRanking(window) {
  const { add, top } = createTally(window, ({ room }) => room, ({ staff_id: id }) => id);
  /**
   * @param {By} by what counts first; equal ones go by the other, then by id
   * @param {number} count at most so many
   * @returns {RoomRank[]}
   */
  const ranked = (by, count) => top(by, count).map(([room, { level, visits, ms, others }]) =>
    ({ level, room, visits, time_s: ms / 1000, staff: others.size }));
  return { add, top: ranked };
}

/** @param {Window} window */
function createStaffRanking(window) {
  const { add, top } = createTally(window, ({ staff_id: id }) => id, ({ room }) => room);
  /** @param {By} by @param {number} count @returns {StaffRank[]} */
  const ranked = (by, count) => top(by, count).map(([id, { visits, ms, others }]) =>
    ({ staff_id: id, visits, time_s: ms / 1000, rooms: others.size }));
  return { add, top: ranked };
}

/**
 * Counts stay after stay, so that the stays of a month need not lie in memory together.
 * @param {Window} window
 * @param {(stay: Stay) => string} key of what is ranked
 * @param {(stay: Stay) => string} other of what is counted beside it
 */
function createTally(window, key, other) {
  /** @type {Map<string, Tally>} */
  const tallies = new Map();
  return {
    /** @param {Stay} stay */
    add(stay) {
      const part = within(stay, window);
      if (!part) return;
      let tally = tallies.get(key(stay));
      if (!tally) tallies.set(key(stay), tally = { visits: 0, ms: 0, others: new Set(), level: stay.level });
      tally.visits += 1;
      tally.ms += part.endMs - part.startMs;
      tally.others.add(other(stay));
    },
    /** @param {By} by @param {number} count @returns {[string, Tally][]} */
    top(by, count) {
      const [first, second] = by === 'visits' ? [byVisits, byTime] : [byTime, byVisits];
      return [...tallies].sort(([idA, a], [idB, b]) => first(a, b) || second(a, b) || compareIds(idA, idB)).slice(0, count);
    },
  };
}

/** @param {Tally} a @param {Tally} b */
const byVisits = (a, b) => b.visits - a.visits;
/** @param {Tally} a @param {Tally} b */
const byTime = (a, b) => b.ms - a.ms;

module.exports = { createRoomRanking, createStaffRanking };
