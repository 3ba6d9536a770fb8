// @ts-check
'use strict';

const { parseMoment } = require('../shared/rfc3339');
const { ApiError, badRequest } = require('../shared/api-error');

/**
 * `/api/v1/rebuild`: have a time located again from the stored readings, and see how far that is.
 * @typedef {{rebuild: import('../rebuild').Rebuild, clock: () => number}} Context
 */

/**
 * @param {string|number} value checked: RFC 3339, where time, seconds and offset may be left out, or epoch seconds
 * @returns {number} epoch ms
 */
const msOf = (value) => (typeof value === 'number' ? Math.floor(value * 1000) : /** @type {number} */ (parseMoment(value, { short: true })));

/**
 * @param {Context} context
 * @param {Record<string, any>} params from and, if not to the present, to
 */
function requestRebuild({ rebuild, clock }, params) {
  const fromMs = msOf(params.from);
  const toMs = params.to === undefined || params.to === '' ? clock() : msOf(params.to);
  if (fromMs > toMs) throw badRequest('from is after to');
  if (fromMs > clock()) throw badRequest('from lies ahead');
  const job = rebuild.request(fromMs, Math.min(toMs, clock()));
  if (!job) throw new ApiError(429, 'too many rebuilds are waiting already', 60);
  return job;
}

module.exports = { requestRebuild };
