// @ts-check
'use strict';

const { parseMoment } = require('../../shared/rfc3339');

const UNIT_MS = Object.freeze({ h: 3_600_000, d: 86_400_000 });
/** A key that lives longer than any of us is a mistake in the unit. */
const LONGEST_MS = 100 * 366 * UNIT_MS.d;

/**
 * When a key shall expire: `90d`, `12h`, `never`, or a date or time as `2027-01-31` or `2027-01-31T12:00:00Z`, UTC where
 * it names no offset.
 * @param {string} text
 * @param {number} nowMs
 * @returns {number|null} epoch ms; null: never
 * @throws {Error} saying how to write it
 */
function parseExpiry(text, nowMs) {
  if (text === 'never') return null;
  const span = /^(\d{1,6})([hd])$/.exec(text);
  const ms = span ? nowMs + Number(span[1]) * UNIT_MS[/** @type {'h'|'d'} */ (span[2])] : parseMoment(text, { short: true });
  if (ms === null) throw new Error(`"${text}" is no time: write 90d, 12h, never, 2027-01-31 or 2027-01-31T12:00:00Z`);
  if (ms <= nowMs) throw new Error(`"${text}" is over already`);
  if (ms > nowMs + LONGEST_MS) throw new Error(`"${text}" is more than a hundred years ahead`);
  return ms;
}

module.exports = { parseExpiry };
