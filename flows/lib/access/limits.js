// @ts-check
'use strict';

const { RateLimiterMemory, RateLimiterRes } = require('rate-limiter-flexible');

/** Requests are counted over so long: HACS asks for everybody at once, and then not for ten seconds. */
const WINDOW_S = 10;

/**
 * How many requests each caller may make: a key by its name, who has none by address.
 * @param {{ratePerS: number, trustedRatePerS: number}} rates where a key has none of its own; in the mean over WINDOW_S
 */
function createLimits({ ratePerS, trustedRatePerS }) {
  /** @type {Map<number, RateLimiterMemory>} by rate */
  const limiters = new Map();
  let refused = 0;

  /** @param {number} rate */
  function limiterOf(rate) {
    const known = limiters.get(rate);
    if (known) return known;
    const made = new RateLimiterMemory({ points: rate * WINDOW_S, duration: WINDOW_S });
    limiters.set(rate, made);
    return made;
  }

  return {
    /**
     * One request more.
     * @param {import('./guard').Caller} caller
     * @returns {Promise<number>} seconds to wait; 0: it may
     */
    async waitS({ name, kind, ratePerS: own }) {
      try {
        await limiterOf(own ?? (kind === 'trusted' ? trustedRatePerS : ratePerS)).consume(name);
        return 0;
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error;
        refused += 1;
        return Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      }
    },
    refused: () => refused,
  };
}

module.exports = { createLimits, WINDOW_S };
