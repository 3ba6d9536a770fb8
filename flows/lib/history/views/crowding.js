// @ts-check
'use strict';

/**
 * Reports a room with more people than its `limit`, once for each time it gets crowded.
 * @typedef {import('../../locator').Presence} Presence
 * @typedef {import('../../building').Building} Building
 * @typedef {{ts: number, type: 'crowded', level: string, room: string, count: number, limit: number}} CrowdedEvent
 *   ts: our clock, when it was noticed
 */

/** A room counts as emptied only after this long at or below its limit: people step out of a door and back. */
const REARM_MS = 30_000;

function createCrowding() {
  /** Rooms already reported; the value: since when they are at or below their limit. @type {Map<string, number|null>} */
  const reported = new Map();

  /**
   * Compare headcounts with limits; about once a second. Who is `stale` still counts, who is `lost` does not.
   * @param {Presence[]} presences
   * @param {Building} building
   * @param {number} nowMs
   * @returns {CrowdedEvent[]}
   */
  function tick(presences, building, nowMs) {
    const counts = headcount(presences);
    /** @type {CrowdedEvent[]} */
    const events = [];
    for (const [room, count] of counts) {
      const { limit, level = '' } = building.rooms.get(room) ?? {};
      if (limit === undefined || count <= limit) continue;
      if (!reported.has(room)) events.push({ ts: nowMs, type: 'crowded', level, room, count, limit });
      reported.set(room, null);
    }
    for (const [room, belowMs] of reported) {
      const limit = building.rooms.get(room)?.limit;
      if (limit === undefined) reported.delete(room);
      else if ((counts.get(room) ?? 0) > limit) continue;
      else if (belowMs === null) reported.set(room, nowMs);
      else if (nowMs - belowMs >= REARM_MS) reported.delete(room);
    }
    return events;
  }

  return { tick };
}

/** @param {Presence[]} presences @returns {Map<string, number>} by room id */
function headcount(presences) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { room, state } of presences) if (state !== 'lost') counts.set(room, (counts.get(room) ?? 0) + 1);
  return counts;
}

module.exports = { createCrowding, REARM_MS };
