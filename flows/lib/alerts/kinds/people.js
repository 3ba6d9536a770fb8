// @ts-check
'use strict';

const { placeName, staffName } = require('./names');

/** @typedef {import('./index').Kind} Kind @typedef {import('./index').Facts} Facts @typedef {import('./index').Condition} Condition */

/** @type {WeakMap<Facts['presences'], Map<string, number>>} */
const counted = new WeakMap();

/**
 * People per room, without lost ones, found once for all alerts of an evaluation.
 * @param {Facts} facts @returns {Map<string, number>} by room id
 */
function headcount({ presences }) {
  const known = counted.get(presences);
  if (known) return known;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { room, state } of presences) if (state !== 'lost') counts.set(room, (counts.get(room) ?? 0) + 1);
  counted.set(presences, counts);
  return counts;
}

/** @type {Kind} */
const roomCrowded = {
  kind: 'room_crowded',
  severity: 'warning',
  raiseMs: 0, // locations are smoothed already
  endMs: 30_000, // same as for the event: people step out and back in
  conditions(facts) {
    const { building } = facts;
    return [...headcount(facts)].flatMap(([room, count]) => {
      const { limit, level } = building.rooms.get(room) ?? {};
      if (limit === undefined || count <= limit) return [];
      return [{ subject: room, level, room, text: `${count} people are in ${placeName(building, room, level)}, whose limit is ${limit}.`,
        todo: 'Send somebody there. If the limit is wrong, change it in the set-up.' }];
    });
  },
  isResolved(facts, { subject: room }) {
    const { limit } = facts.building.rooms.get(room) ?? {};
    return limit === undefined || (headcount(facts).get(room) ?? 0) <= limit;
  },
};

/** A shift is over by then. */
const SHIFT_MS = 12 * 3_600_000;

/** @type {Kind} */
const staffLost = {
  kind: 'sda_lost',
  severity: 'warning',
  raiseMs: 0, // "lost" already means a minute without a reading
  endMs: 0,
  todoMany: 'So many at once are hardly their own phones: look at the network, the gateways and the page System. If the shift is over, '
    + 'acknowledge.',
  // who was told to be here, and not who is in a batch of days ago
  conditions: ({ building, presences, published = presences }) => lostOnes(building, published),
  // the locator drops people after a quarter of an hour, which does not resolve the alert
  isResolved: ({ presences, isGone }, { subject, since }, nowMs) => nowMs - since > SHIFT_MS || receivedOf(presences).has(subject)
    || isGone?.(subject) === true,
};

/** @type {WeakMap<Facts['presences'], Set<string>>} */
const received = new WeakMap();

/** People who are heard, found once for all alerts of an evaluation. @param {Facts['presences']} presences */
function receivedOf(presences) {
  const ids = received.get(presences) ?? new Set(presences.filter(({ state }) => state !== 'lost').map(({ staff_id: id }) => id));
  received.set(presences, ids);
  return ids;
}

/** Of everybody who is lost in a building: nothing changes for most of them. @type {WeakMap<object, Map<string, Condition>>} */
const lastLost = new WeakMap();

/** @param {import('../../building').Building} building @param {Facts['presences']} presences @returns {Condition[]} */
function lostOnes(building, presences) {
  const before = lastLost.get(building);
  const found = presences.filter(({ state }) => state === 'lost').map((presence) => {
    const known = before?.get(presence.staff_id);
    return known && known.since === presence.ts && known.room === presence.room ? known : oneLost(building, presence);
  });
  lastLost.set(building, new Map(found.map((condition) => [condition.subject, condition])));
  return found;
}

/** @param {import('../../building').Building} building @param {Facts['presences'][number]} presence */
const oneLost = (building, { staff_id: id, level, room, ts }) => /** @type {Condition} */ ({
  subject: id, since: ts, level, room,
  text: `${staffName(building, id)} is not heard any more; last in ${placeName(building, room, level)}.`,
  todo: 'Call. See whether the phone or tag is on and charged. If the shift is over, acknowledge.',
});

module.exports = { roomCrowded, staffLost };
