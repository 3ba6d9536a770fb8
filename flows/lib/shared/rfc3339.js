// @ts-check
'use strict';

/** A space before the offset is a + that was not written %2B in a query. */
const WHOLE = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:([Zz])|([+ -])(\d{2}):(\d{2}))$/;
const SHORT = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?([Zz]|[+ -]\d{2}:\d{2})?)?$/;

/**
 * A moment as RFC 3339 writes it; a leap second is the one after it.
 * @param {string} text
 * @param {{short?: boolean}} [options] short: time, seconds and offset may be left out: midnight, :00, UTC
 * @returns {number|null} epoch ms; null when it is none, or a day that does not exist
 */
function parseMoment(text, { short = false } = {}) {
  if (short) return parseMoment(whole(text));
  const match = WHOLE.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = /** @type {[number, number, number, number, number, number]} */ (
    match.slice(1, 7).map(Number));
  const [fraction, sign, offsetHour, offsetMinute] = [Number(match[7] ?? 0), match[9], Number(match[10] ?? 0), Number(match[11] ?? 0)];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null; // Date makes March out of February 30
  if ([hour - 23, minute - 59, second - 60, offsetHour - 23, offsetMinute - 59].some((over) => over > 0)) return null;
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000 * (sign === '-' ? -1 : 1);
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + Math.floor(fraction * 1000) - offsetMs;
}

/** @param {string} text that may lack time, seconds and offset @returns {string} with them; '' where it is no moment */
function whole(text) {
  const [, day, time = '00:00', seconds = ':00', zone = 'Z'] = SHORT.exec(text) ?? [];
  return day === undefined ? '' : `${day}T${time}${seconds}${zone}`;
}

module.exports = { parseMoment };
