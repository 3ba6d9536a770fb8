// @ts-check
'use strict';

const { isIP } = require('node:net');

/**
 * Bounds how often somebody may guess. After `limit` failures within `windowMs` an address is slow: what is checked from
 * there waits in line, one in `paceMs`, so that a right password only waits, whoever else guesses behind the same address.
 * @param {{limit?: number, windowMs?: number, addresses?: number, paceMs?: number, waiting?: number}} [bounds] addresses: how many
 *   are remembered; waiting: how many checks of one address may wait
 */
function createAttempts({ limit = 10, windowMs = 5 * 60_000, addresses = 10_000, paceMs = 1000, waiting = 60 } = {}) {
  /** @type {Map<string, {count: number, untilMs: number, nextMs: number}>} by network */
  const failures = new Map();

  /** Who is slow now. @param {string} address @param {number} nowMs */
  function slow(address, nowMs) {
    const known = failures.get(networkOf(address));
    return known && known.untilMs > nowMs && known.count >= limit ? known : null;
  }

  return {
    /** Seconds until an address is no longer slow; 0: it is not. @param {string} address @param {number} nowMs */
    waitS(address, nowMs) {
      const known = slow(address, nowMs);
      return known ? Math.ceil((known.untilMs - nowMs) / 1000) : 0;
    },

    /**
     * When one check may begin.
     * @param {string} address @param {number} nowMs
     * @returns {number|null} ms until then; null: too many are waiting
     */
    delayMs(address, nowMs) {
      const known = slow(address, nowMs);
      if (!known) return 0;
      const nextMs = Math.max(nowMs, known.nextMs + paceMs);
      if (nextMs - nowMs > waiting * paceMs) return null;
      known.nextMs = nextMs;
      return nextMs - nowMs;
    },

    /** @param {string} address @param {number} nowMs */
    failed(address, nowMs) {
      const network = networkOf(address);
      const known = failures.get(network);
      const count = known && known.untilMs > nowMs ? known.count + 1 : 1;
      failures.delete(network);
      failures.set(network, { count, untilMs: nowMs + windowMs, nextMs: known?.nextMs ?? nowMs });
      if (failures.size > addresses) failures.delete(/** @type {string} */ (failures.keys().next().value));
    },
  };
}

/** An IPv6 caller has a whole /64 of addresses. @param {string} address @returns {string} */
function networkOf(address) {
  if (isIP(address) !== 6 || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const [before, after] = [head.split(':').filter(Boolean), tail?.split(':').filter(Boolean) ?? []];
  const groups = tail === undefined ? before : [...before, ...Array(8 - before.length - after.length).fill('0'), ...after];
  return groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16)).join(':');
}

module.exports = { createAttempts };
