// @ts-check
'use strict';

const { placeName, staffName } = require('./names');

/** @typedef {import('./index').Kind} Kind @typedef {import('./index').Facts} Facts */

/** People per room, without lost ones. @param {Facts} facts @returns {Map<string, number>} by room id */
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

/** Up to this many lost people get an alert each; more at once are hardly a matter of single phones or tags. */
const SINGLE_MAX = 20;
/** The subject of the alert that stands for many. */
const MANY = 'many-sdas';

/** @type {Kind} */
const staffLost = {
  kind: 'sda_lost',
  severity: 'warning',
  raiseMs: 0, // "lost" already means a minute without a reading
  endMs: 0,
  conditions({ building, presences }, active) {
    const lost = presences.filter(({ state }) => state === 'lost');
    const many = active(MANY);
    if (!many && lost.length <= SINGLE_MAX) return lost.map((presence) => oneLost(building, presence));
    const back = receivedOf(presences);
    const before = new Set((many?.subjects ?? []).filter((id) => !back.has(id)));
    const alone = lost.filter(({ staff_id: id }) => active(id));
    const fresh = lost.filter(({ staff_id: id }) => !active(id) && !before.has(id));
    // a few new ones are not hidden in an alert that somebody has acknowledged already
    const together = !many?.acknowledged || fresh.length > SINGLE_MAX ? fresh : [];
    const ids = [...before, ...together.map(({ staff_id: id }) => id)].sort();
    return [...alone, ...(together === fresh ? [] : fresh)].map((presence) => oneLost(building, presence))
      .concat(ids.length > 0 ? manyLost(building, ids) : []);
  },
  // the locator drops people after a quarter of an hour, which does not resolve the alert
  isResolved({ presences }, { subject, since, subjects = [] }, nowMs) {
    if (nowMs - since > SHIFT_MS) return true;
    const back = receivedOf(presences);
    return subject === MANY ? subjects.every((id) => back.has(id)) : back.has(subject);
  },
};

/** @param {Facts['presences']} presences */
const receivedOf = (presences) => new Set(presences.filter(({ state }) => state !== 'lost').map(({ staff_id: id }) => id));

/** @param {import('../../building').Building} building @param {Facts['presences'][number]} presence */
const oneLost = (building, { staff_id: id, level, room, ts }) => /** @type {import('./index').Condition} */ ({
  subject: id, since: ts, level, room,
  text: `${staffName(building, id)} is not heard any more; last in ${placeName(building, room, level)}.`,
  todo: 'Call. See whether the phone or tag is on and charged. If the shift is over, acknowledge.',
});

/** @param {import('../../building').Building} building @param {string[]} ids */
function manyLost(building, ids) {
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '';
  return { subject: MANY, subjects: ids,
    text: `${ids.length} SDAs are not heard any more: ${ids.slice(0, NAMED).map((id) => staffName(building, id)).join(', ')}${more}.`,
    todo: 'So many at once are hardly their own phones: look at the network, the gateways and the page System. If the shift is over, acknowledge.' };
}
/** Number of names in the text; `subjects` has all of them. */
const NAMED = 10;

module.exports = { roomCrowded, staffLost };
