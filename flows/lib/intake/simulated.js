// @ts-check
'use strict';

/**
 * People that a simulator plays: its batches say so (`simulated`), so that nobody takes the demo's people for real ones. Pure.
 * @typedef {ReturnType<typeof createSimulated>} Simulated
 */

/** A person no longer counts as simulated after a real receiver hears them, or after 60 s without readings. As `lost` in the contract. */
const PLAYED_MS = 60_000;

function createSimulated() {
  /** When somebody was heard last in a batch of a simulator. @type {Map<string, number>} by staff id */
  const played = new Map();

  return {
    /** @param {import('./readings').Batch} batch @param {import('../building').Building} building @param {number} nowMs */
    hear({ kind, receiver, readings, simulated }, building, nowMs) {
      if (!simulated && played.size === 0) return;
      const people = kind === 'phone' ? [receiver] : readings.map(({ beacon }) => building.tagOwner.get(beacon));
      for (const id of people) {
        if (id === undefined) continue;
        if (simulated) played.set(id, nowMs);
        else played.delete(id);
      }
    },
    /** How many are played at present, wherever they are. @param {number} nowMs */
    playing(nowMs) {
      for (const [id, ms] of played) if (nowMs - ms > PLAYED_MS) played.delete(id);
      return played.size;
    },
    /** How many of those who are present are played. @param {{staff_id: string, state: string}[]} presences @param {number} nowMs */
    count(presences, nowMs) {
      return this.playing(nowMs) === 0 ? 0 : presences.filter(({ staff_id: id, state }) => state !== 'lost' && played.has(id)).length;
    },
  };
}

module.exports = { createSimulated };
