// @ts-check
'use strict';

const { ApiError, badRequest } = require('./errors');
const { epochSeconds } = require('./params');
const { parseMoment } = require('./v1/moment');

/**
 * `/api/v1/rebuild`: have a time located again from the stored readings, and see how far that is.
 * @typedef {{rebuild: import('../rebuild').Rebuild, clock: () => number}} Context
 */

const RFC_3339 = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * A moment: epoch seconds, or RFC 3339, where time and seconds may be left out and no offset means UTC.
 * @param {Record<string, unknown>} params @param {string} name
 * @returns {number} epoch ms
 */
function moment(params, name) {
  const value = params[name];
  const match = typeof value === 'string' ? RFC_3339.exec(value.trim()) : null;
  if (!match) {
    if (typeof value === 'string' && /\d[-:T]\d/.test(value)) {
      throw badRequest(`${name} is no time: give it like 2026-01-01T10:00:00Z, or in epoch seconds`);
    }
    return Math.floor(epochSeconds(params, name) * 1000);
  }
  const [, day, time = '00:00', seconds = ':00', zone = 'Z'] = match;
  const ms = parseMoment(`${day}T${time}${seconds}${zone}`); // Date.parse makes March out of February 30
  if (ms === null) throw badRequest(`${name} is no time that exists`);
  return ms;
}

/**
 * @param {Context} context
 * @param {Record<string, unknown>} params from and, if not to the present, to
 */
function requestRebuild({ rebuild, clock }, params) {
  const fromMs = moment(params, 'from');
  const toMs = params.to === undefined || params.to === '' ? clock() : moment(params, 'to');
  if (fromMs > toMs) throw badRequest('from is after to');
  if (fromMs > clock()) throw badRequest('from lies ahead');
  const job = rebuild.request(fromMs, Math.min(toMs, clock()));
  if (!job) throw new ApiError(429, 'too many rebuilds are waiting already', 60);
  return job;
}

module.exports = { moment, requestRebuild };
