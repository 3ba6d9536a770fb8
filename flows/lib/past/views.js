// @ts-check
'use strict';

const { howSure } = require('../shared/probable');

/**
 * The stays that the views look at. Three sources: stays as stored (a stay is stored at its time of entering, so a reader
 * must ask for enough time before a window to find who was there already), stays that ended just now and are on their way there, and
 * presences for who is there now.
 * @typedef {import('../locator').Presence} Presence
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
function createStayMerge(presences, recent = []) {
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
    /** Stays that presences alone know, when all stored ones were taken. */
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

/**
 * Facts about rooms: who is there, who was there last, who came.
 * @typedef {import('../building').Building} Building
 * @typedef {Pick<Presence, 'staff_id'|'since'|'ts'|'state'> & ReturnType<typeof howSure>} Here
 */

/**
 * Every room with who is in it now, in the order of the building file; behind them rooms that the file no longer lists
 * and somebody is still in. Who is `stale` still counts, who is `lost` does not.
 * @param {Building} building
 * @param {Presence[]} presences
 * @returns {{level: string, room: string, name: string, limit: number|null, count: number, crowded: boolean,
 *   people: Here[]}[]} people by id
 */
function occupancy(building, presences) {
  const rows = new Map([...building.rooms.values()].map(({ id, level, name, limit = null }) => [id, emptyRow(level, id, name, limit)]));
  for (const presence of presences) {
    const { staff_id, level, room, since, ts, state } = presence;
    if (state === 'lost') continue;
    let row = rows.get(room);
    if (!row) rows.set(room, row = emptyRow(level, room, building.roomName(room), null));
    row.people.push({ staff_id, ...howSure(presence), since, ts, state });
  }
  return [...rows.values()].map((row) => {
    const count = row.people.length;
    row.people.sort((a, b) => compareIds(a.staff_id, b.staff_id));
    return { ...row, count, crowded: row.limit !== null && count > row.limit };
  });
}

/** @param {string} level @param {string} room @param {string} name @param {number|null} limit */
const emptyRow = (level, room, name, limit) => ({ level, room, name, limit, count: 0, crowded: false,
  people: /** @type {Here[]} */ ([]) });

/**
 * When each room was last patrolled and by which person, stay after stay, in any order: the latest moment at which anybody was in it for at
 * least `leastMs`. Of several people at that moment the one who had been there longest, then the lower id.
 * @param {number} leastMs shorter stays are walking through, not patrolling
 * @param {Window} [window] a stay counts with its part within it; without: as it is
 */
function createPatrols(leastMs, window) {
  /** @type {Map<string, Stay>} */
  const latest = new Map();
  return {
    /** @param {Stay} stay */
    add(stay) {
      if (stay.leave_ms - stay.enter_ms < leastMs) return;
      const part = window ? within(stay, window) : null;
      if (window && !part) return;
      const cut = part ? { ...stay, leave_ms: part.endMs, open: stay.open && part.endMs === stay.leave_ms } : stay;
      const known = latest.get(cut.room);
      if (!known || later(cut, known)) latest.set(cut.room, cut);
    },
    /**
     * @param {Building} building @param {number} nowMs
     * @returns {{level: string, room: string, name: string, last_ms: number|null, staff_id: string|null, ongoing: boolean,
     *   age_s: number|null}[]} every room of the building in its order; null: never within the stays given
     */
    rows: (building, nowMs) => [...building.rooms.values()].map(({ id, level, name }) => {
      const stay = latest.get(id);
      return { level, room: id, name, last_ms: stay?.leave_ms ?? null, staff_id: stay?.staff_id ?? null, ongoing: stay?.open ?? false,
        age_s: stay ? Math.max(0, nowMs - stay.leave_ms) / 1000 : null };
    }),
  };
}

/** @param {Stay} a @param {Stay} b */
function later(a, b) {
  const order = a.leave_ms - b.leave_ms || b.enter_ms - a.enter_ms || compareIds(b.staff_id, a.staff_id);
  return order > 0;
}

/**
 * Visits of a room that touch a window, newest first. Who leaves and comes back has visited twice.
 * @param {Stay[]} stays from `allStays`
 * @param {string} room id
 * @param {Window} window
 * @returns {{staff_id: string, enter_ms: number, leave_ms: number, duration_s: number, ongoing: boolean, in_window_s: number}[]}
 *   enter, leave and duration of the whole visit; in_window_s of it within the window
 */
function visits(stays, room, window) {
  return stays.flatMap((stay) => {
    const part = stay.room === room ? within(stay, window) : null;
    if (!part) return [];
    const { staff_id, enter_ms, leave_ms, open } = stay;
    return [{ staff_id, enter_ms, leave_ms, duration_s: (leave_ms - enter_ms) / 1000, ongoing: open,
      in_window_s: (part.endMs - part.startMs) / 1000 }];
  }).sort((a, b) => b.enter_ms - a.enter_ms || compareIds(a.staff_id, b.staff_id));
}

/**
 * Rooms and staff with the most visits, or the most time, within a window. Time is person-seconds within the window; a
 * visit counts when any of it lies in the window.
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
  const ranked = (by, count) => top(by, count).map(([room, tally]) =>
    ({ level: tally.level, room, visits: tally.visits, time_s: tally.ms / 1000, staff: tally.others.size }));
  return { add, top: ranked };
}

/** @param {Window} window */
function createStaffRanking(window) {
  const { add, top } = createTally(window, ({ staff_id: id }) => id, ({ room }) => room);
  /** @param {By} by @param {number} count @returns {StaffRank[]} */
  const ranked = (by, count) => top(by, count).map(([id, tally]) =>
    ({ staff_id: id, visits: tally.visits, time_s: tally.ms / 1000, rooms: tally.others.size }));
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

/**
 * Who was together with a staff member. Together means in the same room at the same time; a **meeting** is an unbroken
 * time together in one room, and a contact's time is the **sum** of all meetings within the window, as contact tracing
 * counts exposure (15 minutes cumulated within a day). Who left in the moment the other came was not together with them.
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

/** The common part of two ascending lists. @param {Interval[]} a @param {Interval[]} b @returns {Interval[]} */
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

module.exports = {
  allStays, createStayMerge, within, compareIds, occupancy, createPatrols, visits, createRoomRanking,
  createStaffRanking, contacts,
};
