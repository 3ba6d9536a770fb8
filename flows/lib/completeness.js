// @ts-check
'use strict';

const { StoreUnavailable } = require('./influx');

/**
 * Whether the database has everything that was located in a time. It has not what is still on its way there after an
 * interruption, nor what a start has to locate again first; who asks for that is told to come again, not half of it.
 * @typedef {(fromMs: number, toMs: number, nowMs: number) => void} RefuseIncomplete both ends inclusive; throws StoreUnavailable
 * @param {Pick<import('./arrival').Arrival, 'storedUntilMs'>} arrival
 * @param {Pick<import('./rebuild').Rebuild, 'missing'>} rebuild
 * @returns {RefuseIncomplete}
 */
const createCompleteness = (arrival, rebuild) => (fromMs, toMs, nowMs) => {
  const storedMs = arrival.storedUntilMs(nowMs);
  if (toMs > storedMs) throw new StoreUnavailable(`what was located since ${iso(storedMs)} is still on its way there`);
  const missing = rebuild.missing();
  if (missing && fromMs < missing.toMs && toMs >= missing.fromMs) {
    throw new StoreUnavailable(`the time from ${iso(missing.fromMs)} to ${iso(missing.toMs)} is being located again`);
  }
};

/** @param {number} ms */
const iso = (ms) => new Date(ms).toISOString();

module.exports = { createCompleteness };
