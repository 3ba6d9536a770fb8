// @ts-check
'use strict';

/** Gateway, staff, room and level ids: safe in a topic, in a tag and in a URL. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Beacon ids: upper-case, no separators but those of the iBeacon and Eddystone forms. */
const BEACON = /^[0-9A-F-]{12,64}$/;

/**
 * Normalises a beacon id as people and phones write it (`c2:a6:28:38:4b:08`, lower case). Only a MAC loses its separators; in the
 * other forms they belong to the id.
 * @param {string} text
 * @returns {string|null} null: not a beacon id
 */
function normaliseBeacon(text) {
  const upper = text.trim().toUpperCase();
  const beacon = /^[0-9A-F]{2}([:-][0-9A-F]{2}){5}$/.test(upper) ? upper.replace(/[:-]/g, '') : upper;
  return BEACON.test(beacon) ? beacon : null;
}

module.exports = { ID, BEACON, normaliseBeacon };
