// @ts-check
'use strict';

const { placeName, staffName } = require('./names');

/** @typedef {import('./index').Kind} Kind @typedef {import('./index').Facts} Facts */

/** Who is lost does not count: nobody knows where they are. @param {Facts} facts @returns {Map<string, number>} by room id */
function headcount({ presences }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { room, state } of presences) if (state !== 'lost') counts.set(room, (counts.get(room) ?? 0) + 1);
  return counts;
}

/** @type {Kind} */
const roomCrowded = {
  kind: 'room_crowded',
  severity: 'warning',
  raiseMs: 0, // who is where is steady already
  endMs: 30_000, // as with the event: people step out of a door and back
  amiss(facts) {
    const { building } = facts;
    return [...headcount(facts)].flatMap(([room, count]) => {
      const { limit, level } = building.rooms.get(room) ?? {};
      if (limit === undefined || count <= limit) return [];
      return [{ subject: room, level, room, text: `${count} people are in ${placeName(building, room, level)}, whose limit is ${limit}.`,
        todo: 'Send somebody there. If the limit is wrong, change it in the set-up.' }];
    });
  },
  well(facts, { subject: room }) {
    const { limit } = facts.building.rooms.get(room) ?? {};
    return limit === undefined || (headcount(facts).get(room) ?? 0) <= limit;
  },
};

/** A shift is over by then. */
const FORGOTTEN_MS = 12 * 3_600_000;

/** @type {Kind} */
const staffLost = {
  kind: 'sda_lost',
  severity: 'warning',
  raiseMs: 0, // lost is after a minute without a sign
  endMs: 0,
  amiss: ({ building, presences }) => presences.filter(({ state }) => state === 'lost').map(({ staff_id: id, level, room, ts }) => ({
    subject: id, since: ts, level, room,
    text: `${staffName(building, id)} is not heard any more; last in ${placeName(building, room, level)}.`,
    todo: 'Call. See whether the phone or tag is on and charged. If the shift is over, acknowledge.',
  })),
  // the locator forgets after a quarter of an hour; that is not coming back
  well: ({ presences }, { subject, since }, nowMs) => nowMs - since > FORGOTTEN_MS
    || presences.some(({ staff_id: id, state }) => id === subject && state !== 'lost'),
};

module.exports = { roomCrowded, staffLost };
