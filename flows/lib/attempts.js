// @ts-check
'use strict';

/**
 * Bounds how often somebody may guess: after `limit` failures within `windowMs` an address has to wait.
 * @param {{limit?: number, windowMs?: number, addresses?: number}} [bounds] addresses: how many are remembered
 */
function createAttempts({ limit = 10, windowMs = 5 * 60_000, addresses = 10_000 } = {}) {
  /** @type {Map<string, {count: number, untilMs: number}>} */
  const failures = new Map();

  /** Seconds to wait, 0 when one may try. @param {string} address @param {number} nowMs */
  function waitS(address, nowMs) {
    const known = failures.get(address);
    if (!known || known.untilMs <= nowMs || known.count < limit) return 0;
    return Math.ceil((known.untilMs - nowMs) / 1000);
  }

  /** @param {string} address @param {number} nowMs */
  function failed(address, nowMs) {
    const known = failures.get(address);
    const count = known && known.untilMs > nowMs ? known.count + 1 : 1;
    failures.delete(address);
    failures.set(address, { count, untilMs: nowMs + windowMs });
    if (failures.size > addresses) failures.delete(/** @type {string} */ (failures.keys().next().value));
  }

  return { waitS, failed, succeeded: (/** @type {string} */ address) => failures.delete(address) };
}

module.exports = { createAttempts };
