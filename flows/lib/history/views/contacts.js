// @ts-check
'use strict';

const { compareIds, within } = require('./stays');

/**
 * Who was together with a staff member. Together means in the same room at the same time; a **meeting** is an unbroken
 * time together in one room, and a contact's time is the **sum** of all meetings within the window, as contact tracing
 * counts exposure (15 minutes cumulated within a day). Who left in the moment the other came was not together with them.
 * @typedef {import('./stays').Stay} Stay
 * @typedef {import('./stays').Window} Window
 * @typedef {[number, number]} Interval epoch ms
 * @typedef {{level: string, room: string, start_ms: number, end_ms: number, duration_s: number}} Meeting
 * @typedef {{staff_id: string, total_s: number, longest_s: number, meetings: Meeting[]}} Contact longest_s: of one meeting
 */

/**
 * @param {Stay[]} stays from `allStays`, of everybody
 * @param {string} staffId
 * @param {Window} window meetings are cut to it
 * @param {number} leastMs contacts of less time together are left out; 0: everybody who was together at all
 * @returns {Contact[]} longest time together first, then by id; meetings by time
 */
function contacts(stays, staffId, window, leastMs) {
  const byRoom = timesByRoom(stays, window);
  /** @type {Map<string, Meeting[]>} */
  const met = new Map();
  for (const { room, level, people } of byRoom) {
    const own = people.get(staffId);
    if (!own) continue;
    for (const [other, theirs] of people) {
      if (other === staffId) continue;
      for (const [start, end] of overlaps(joined(own), joined(theirs))) {
        const meeting = { level, room, start_ms: start, end_ms: end, duration_s: (end - start) / 1000 };
        const meetings = met.get(other);
        if (meetings) meetings.push(meeting);
        else met.set(other, [meeting]);
      }
    }
  }
  return [...met].map(([other, meetings]) => contactOf(other, meetings))
    .filter(({ total_s: total }) => total * 1000 >= leastMs)
    .sort((a, b) => b.total_s - a.total_s || compareIds(a.staff_id, b.staff_id));
}

/** @param {string} other @param {Meeting[]} meetings @returns {Contact} */
function contactOf(other, meetings) {
  const totalMs = meetings.reduce((sum, { start_ms: start, end_ms: end }) => sum + end - start, 0);
  const longest = meetings.reduce((most, { duration_s: duration }) => Math.max(most, duration), 0);
  meetings.sort((a, b) => a.start_ms - b.start_ms || compareIds(a.room, b.room));
  return { staff_id: other, total_s: totalMs / 1000, longest_s: longest, meetings };
}

/**
 * @param {Stay[]} stays
 * @param {Window} window
 * @returns {{room: string, level: string, people: Map<string, Interval[]>}[]}
 */
function timesByRoom(stays, window) {
  /** @type {Map<string, {room: string, level: string, people: Map<string, Interval[]>}>} */
  const rooms = new Map();
  for (const stay of stays) {
    const part = within(stay, window);
    if (!part || part.endMs === part.startMs) continue;
    let room = rooms.get(stay.room);
    if (!room) rooms.set(stay.room, room = { room: stay.room, level: stay.level, people: new Map() });
    const times = room.people.get(stay.staff_id);
    if (times) times.push([part.startMs, part.endMs]);
    else room.people.set(stay.staff_id, [[part.startMs, part.endMs]]);
  }
  return [...rooms.values()];
}

/** Intervals that touch or overlap as one, ascending. @param {Interval[]} intervals @returns {Interval[]} */
function joined(intervals) {
  /** @type {Interval[]} */
  const whole = [];
  for (const [start, end] of [...intervals].sort((a, b) => a[0] - b[0])) {
    const last = whole.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else whole.push([start, end]);
  }
  return whole;
}

/** What two ascending lists have in common. @param {Interval[]} a @param {Interval[]} b @returns {Interval[]} */
function overlaps(a, b) {
  /** @type {Interval[]} */
  const common = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [one, other] = [/** @type {Interval} */ (a[i]), /** @type {Interval} */ (b[j])];
    const [start, end] = [Math.max(one[0], other[0]), Math.min(one[1], other[1])];
    if (end > start) common.push([start, end]);
    if (one[1] < other[1]) i += 1;
    else j += 1;
  }
  return common;
}

module.exports = { contacts };
