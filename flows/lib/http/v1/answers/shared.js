// @ts-check
'use strict';

const { StoreBusy, StoreUnavailable } = require('../../../store');
const { ApiError, unavailable } = require('../../../shared/api-error');
const { toNow } = require('../../../coverage');

/** Shared by the answers. */

/** How long locations, stays and events are kept, days. */
const KEPT_DAYS = 30;

/** @param {string} what */
const notFound = (what) => new ApiError(404, `there is no ${what}`);

/** @param {import('../window').Window} window */
const span = ({ fromMs, toMs }) => ({ start_ms: fromMs, end_ms: toMs });

/**
 * The window of an answer about the past, and up to when it is complete for those it concerns.
 * @param {Pick<import('.').Context, 'completeUntil'|'clock'>} context
 */
const createWindowFields = ({ completeUntil = toNow, clock }) =>
  /** @param {import('../window').Window} window @param {import('../../../coverage').Who} who */
  (window, who) => ({ ...span(window), complete_until_ms: completeUntil(window.fromMs, window.toMs, who, clock()) });

/** Too many ask at once: that is soon over. */
const BUSY_S = 1;

/**
 * What the database answers; 503 when it is away or overloaded.
 * @template T @param {Promise<T>|(() => Promise<T>)} answer @returns {Promise<T>}
 */
const fromStore = (answer) => (typeof answer === 'function' ? answer() : answer).catch((error) => {
  throw error instanceof StoreUnavailable
    ? unavailable(`history is not available: ${error.message}`, error instanceof StoreBusy ? BUSY_S : undefined) : error;
});

module.exports = { KEPT_DAYS, createWindowFields, fromStore, notFound, span };
