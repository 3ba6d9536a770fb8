// @ts-check
'use strict';

const { StoreUnavailable } = require('../store/influx');

/**
 * Whether the database has everything that was located in a time. It has not what is still on its way there after an
 * interruption, nor what a start has to locate again first; who asks for that is told to come again, not half of it.
 * @typedef {(fromMs: number, toMs: number, nowMs: number) => void} RefuseIncomplete both ends inclusive; throws StoreUnavailable
 * @typedef {Pick<import('./arrival').Arrival, 'storedUntilMs'>} Arrival
 * @param {Arrival} arrival
 * @param {Pick<import('../rebuild').Rebuild, 'missing'>} rebuild
 * @returns {RefuseIncomplete}
 */
const createCompleteness = (arrival, rebuild) => (fromMs, toMs, nowMs) => {
  refuseUnstored(arrival, toMs, nowMs);
  refuseMissing(rebuild, fromMs, toMs);
};

/** A stay is stored when it ends; one that lasted longer is not found again after a start either (`rebuild/starts.js`). */
const LONGEST_STAY_MS = 24 * 3_600_000;

/**
 * The same for stays. Memory does not have those that are over, so `arrival` is one that notices every interruption; and
 * what ended in a time that lacks may have begun in the window, long before.
 * @param {Arrival} arrival @param {Pick<import('../rebuild').Rebuild, 'missing'>} rebuild
 * @returns {RefuseIncomplete}
 */
const createStayCompleteness = (arrival, rebuild) => (fromMs, toMs, nowMs) => {
  refuseUnstored(arrival, toMs + LONGEST_STAY_MS, nowMs);
  refuseMissing(rebuild, fromMs, toMs + LONGEST_STAY_MS);
};

/** The same for events, which are not told again after a start. @param {Arrival} arrival @returns {RefuseIncomplete} */
const createEventCompleteness = (arrival) => (_fromMs, toMs, nowMs) => refuseUnstored(arrival, toMs, nowMs);

/** @param {Arrival} arrival @param {number} toMs @param {number} nowMs */
function refuseUnstored(arrival, toMs, nowMs) {
  const storedMs = arrival.storedUntilMs(nowMs);
  if (toMs > storedMs) throw new StoreUnavailable(`what was located since ${iso(storedMs)} is still on its way there`);
}

/** @param {Pick<import('../rebuild').Rebuild, 'missing'>} rebuild @param {number} fromMs @param {number} toMs */
function refuseMissing(rebuild, fromMs, toMs) {
  const missing = rebuild.missing();
  if (missing && fromMs < missing.toMs && toMs >= missing.fromMs) {
    throw new StoreUnavailable(`the time from ${iso(missing.fromMs)} to ${iso(missing.toMs)} is being located again`);
  }
}

/** @param {number} ms */
const iso = (ms) => new Date(ms).toISOString();

/**
 * What the answers need.
 * @param {{arrival: Arrival, stayArrival: Arrival, rebuild: Pick<import('../rebuild').Rebuild, 'missing'>}} means stayArrival: notices
 *   every interruption
 */
const refuseHalves = ({ arrival, stayArrival, rebuild }) => ({
  refuseIncomplete: createCompleteness(arrival, rebuild),
  refuseIncompleteStays: createStayCompleteness(stayArrival, rebuild),
  refuseIncompleteEvents: createEventCompleteness(stayArrival),
});

module.exports = { createCompleteness, refuseHalves };
