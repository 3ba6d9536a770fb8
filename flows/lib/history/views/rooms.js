// @ts-check
'use strict';

const { howSure } = require('../../shared/probable');
const { compareIds, within } = require('./stays');

/**
 * What is to say of rooms: who is there, who was there last, who came.
 * @typedef {import('../../building').Building} Building
 * @typedef {import('../../locator').Presence} Presence
 * @typedef {import('./stays').Stay} Stay
 * @typedef {import('./stays').Window} Window
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

module.exports = { occupancy, createPatrols, visits };
