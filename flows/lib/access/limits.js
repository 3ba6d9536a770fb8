// @ts-check
'use strict';

const { isIP } = require('node:net');
const { monitorEventLoopDelay } = require('node:perf_hooks');
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

/**
 * Whether requests come faster than they can be answered. All work shares one event loop with the readings that come in; when
 * it is held up, a growing share of the requests is refused, which costs little, until it no longer is.
 * @typedef {{sheds: () => boolean}} Pressure sheds: whether the next request is one to refuse
 */

const RESOLUTION_MS = 20;
const MEASURE_MS = 1000;
/** In the mean of a second: what one busy moment or one pause of the garbage collector costs is far below. */
const LONG_DELAY_MS = 250;
const MORE_SHARE = 0.25;
const LESS_SHARE = 0.1;
const MAX_SHARE = 0.9;
/** So few requests in a second are not what holds the loop up: to refuse them would help nobody. */
const FEW = 100;

function createPressure() {
  let share = 0;
  let due = 0;
  let shed = 0;
  let asked = 0;
  return {
    /** @param {number} meanDelayMs of the last second */
    measured(meanDelayMs) {
      const many = asked > FEW;
      asked = 0;
      share = meanDelayMs > LONG_DELAY_MS && many ? Math.min(MAX_SHARE, share + MORE_SHARE) : Math.max(0, share - LESS_SHARE);
    },
    sheds() {
      asked += 1;
      due += share;
      if (due < 1) return false;
      due -= 1;
      shed += 1;
      return true;
    },
    /** @type {import('../health/figures').Figure[]} */
    figures: [{ name: 'http_shed', kind: 'counter', help: 'Requests that were refused because they came faster than they could be answered',
      read: () => shed }],
  };
}

/**
 * The pressure on this process.
 * @returns {ReturnType<typeof createPressure> & {stop: () => void}}
 */
function watchPressure() {
  const pressure = createPressure();
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const timer = setInterval(() => {
    pressure.measured(delay.count > 0 ? delay.mean / 1e6 - RESOLUTION_MS : 0);
    delay.reset();
  }, MEASURE_MS);
  timer.unref();
  return { ...pressure, stop: () => { clearInterval(timer); delay.disable(); } };
}

module.exports = { createLimits, createAttempts, createPressure, watchPressure };
