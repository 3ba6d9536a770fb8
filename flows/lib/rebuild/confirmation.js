// @ts-check
'use strict';

/**
 * Corrections that are to be published once more. A broker that keeps no order may deliver an older message again after a correction,
 * and of two points of a time the database keeps what comes last. Pure.
 * @typedef {import('../locator').Location} Location
 * @typedef {import('../locator').Stay} Stay
 */

const QUIET_MS = 60_000; // a broker may deliver again after 10 s what was not acknowledged, several times
const MAX_NOTED = 50_000;

function createConfirmation() {
  /** By kind, person and time, in the order of publication. @type {Map<string, {atMs: number, location?: Location, stay?: Stay}>} */
  const noted = new Map();
  let brokenMs = -Infinity;

  /** @param {string} key @param {{atMs: number, location?: Location, stay?: Stay}} one */
  function note(key, one) {
    noted.delete(key);
    noted.set(key, one);
    if (noted.size > MAX_NOTED) noted.delete(/** @type {string} */ (noted.keys().next().value));
  }

  return {
    /** It replaces another one. @param {Location} location @param {number} nowMs */
    location: (location, nowMs) => note(`location ${location.ts} ${location.staff_id}`, { atMs: nowMs, location }),
    /** The same. @param {Stay} stay @param {number} nowMs */
    stay: (stay, nowMs) => note(`stay ${stay.enter_ms} ${stay.staff_id}`, { atMs: nowMs, stay }),
    /**
     * Those that were published a minute ago, and not since the connection broke; each once.
     * @param {boolean} isConnected @param {number} nowMs @returns {{locations: Location[], stays: Stay[]}}
     */
    takeDue(isConnected, nowMs) {
      if (!isConnected) brokenMs = nowMs;
      const due = { locations: /** @type {Location[]} */ ([]), stays: /** @type {Stay[]} */ ([]) };
      for (const [key, { atMs, location, stay }] of noted) {
        if (nowMs - Math.max(atMs, brokenMs) < QUIET_MS) break;
        noted.delete(key);
        if (location) due.locations.push(location);
        if (stay) due.stays.push(stay);
      }
      return due;
    },
  };
}

module.exports = { createConfirmation, QUIET_MS };
