// @ts-check
'use strict';

const { parseMoment } = require('../../shared/rfc3339');
const { badRequest } = require('../../shared/api-error');

/**
 * The time a request asks about: half-open, start included, end not.
 * @typedef {{fromMs: number, toMs: number}} Window
 */

const DAY_MS = 86_400_000;
const LONGEST_MS = 31 * DAY_MS;
/** Readings may be 5 minutes ahead of us: nothing can lie further ahead than this. */
const AHEAD_MS = 10 * 60_000;

/**
 * @param {string|number|undefined} value RFC 3339, or epoch seconds
 * @returns {number|undefined} epoch ms
 */
function momentMs(value) {
  if (value === undefined) return undefined;
  return typeof value === 'number' ? Math.round(value * 1000) : /** @type {number} */ (parseMoment(value));
}

/**
 * @param {{start?: string|number, end?: string|number}} params checked; no end: now; no start: a day before the end
 * @param {number} nowMs
 * @returns {Window}
 */
function readWindow({ start, end }, nowMs) {
  const toMs = momentMs(end) ?? nowMs;
  const fromMs = momentMs(start) ?? toMs - DAY_MS;
  if (fromMs > toMs) throw badRequest(end === undefined ? 'start lies ahead' : 'start is after end');
  if (toMs - fromMs > LONGEST_MS) throw badRequest('from start to end are more than 31 days: ask for them in parts');
  return { fromMs, toMs };
}

/**
 * The part of a window in which something can be: what lies outside is not asked for.
 * @param {Window} window
 * @param {number} nowMs
 * @param {number} keptDays how long the data are kept
 * @returns {Window} empty (fromMs = toMs) where nothing can be
 */
function possible({ fromMs, toMs }, nowMs, keptDays) {
  const end = Math.min(toMs, nowMs + AHEAD_MS);
  return { fromMs: Math.min(Math.max(fromMs, nowMs - keptDays * DAY_MS), end), toMs: end };
}

module.exports = { readWindow, momentMs, possible, DAY_MS, LONGEST_MS };
