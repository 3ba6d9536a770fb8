// @ts-check
'use strict';

const { bulkhead, circuitBreaker, CircuitState, ConsecutiveBreaker, handleWhen } = require('cockatiel');
const { StoreUnavailable } = require('./influx');

/**
 * Bounds what is asked of the database: so many questions at a time, so many more waiting, and no answer that begins later than a
 * caller waits. While the database is away no question waits: only the heartbeat goes on asking, and when it is answered all
 * questions are let through again.
 * @typedef {import('./influx').Influx} Influx
 * @typedef {import('./influx').Series} Series
 * @typedef {ReturnType<typeof createStoreGuard>} StoreGuard
 */

const BOUNDS = Object.freeze({
  firstMs: 800, // to the first row, waiting included: with the rest of an answer's way, beside others, that is below a second
  idleTimeoutMs: 5000, // between the pieces of a long answer, which is on its way already
  shortIdleTimeoutMs: 300, // between those of a short one, which begins when it is whole: or what is left of firstMs
  unboundedFromMs: 10_000, // what may take longer works in the background and is not bounded
  asking: 8, // more at a time makes each slower, not all faster: two cores
  waiting: 64,
  longAsking: 2, // those who read long answers hold their place for as long as their caller takes
  longWaiting: 16,
  failures: 5, // in a row
  restMs: 1000,
});

/** The database is there, but too much is asked of it. */
class StoreBusy extends StoreUnavailable {
  /** @param {string} reason */
  constructor(reason) {
    super(reason, true);
    this.name = 'StoreBusy';
  }
}

/**
 * @param {Influx} influx
 * @param {Partial<typeof BOUNDS>} [overrides]
 */
function createStoreGuard(influx, overrides = {}) {
  const bounds = { ...BOUNDS, ...overrides };
  const lanes = { short: bulkhead(bounds.asking, bounds.waiting), long: bulkhead(bounds.longAsking, bounds.longWaiting) };
  const breaker = circuitBreaker(handleWhen((error) => error instanceof StoreUnavailable && !error.answered),
    { halfOpenAfter: bounds.restMs, breaker: new ConsecutiveBreaker(bounds.failures) });
  const counters = { asked: 0, failed: 0, busy: 0, broken: 0 };
  let reason = 'InfluxDB is away';
  breaker.onBreak((cause) => { if ('error' in cause && cause.error instanceof Error) reason = cause.error.message; });

  /** Nobody waits for a database that is away. */
  function refuseWhileAway() {
    if (breaker.state === CircuitState.Closed) return;
    counters.broken += 1;
    throw new StoreUnavailable(reason);
  }

  /**
   * A place among those who ask; to be given back.
   * @param {import('cockatiel').BulkheadPolicy} lane
   * @returns {Promise<() => void>}
   */
  function place(lane) {
    return new Promise((granted, refused) => {
      const signal = AbortSignal.timeout(bounds.firstMs);
      const busy = () => refused(new StoreBusy('too much is asked of InfluxDB at the moment'));
      signal.addEventListener('abort', busy);
      lane.execute(() => new Promise((giveBack) => {
        signal.removeEventListener('abort', busy);
        granted(() => giveBack(undefined));
      }), signal).catch(busy);
    });
  }

  /**
   * @template T
   * @param {import('cockatiel').BulkheadPolicy} lane
   * @param {(leftMs: number) => Promise<T>} work up to its first row
   * @returns {Promise<{result: T, giveBack: () => void}>} the place is the caller's to give back
   */
  async function bounded(lane, work) {
    refuseWhileAway();
    counters.asked += 1;
    const arrivedMs = performance.now();
    let giveBack = () => {};
    try {
      giveBack = await place(lane);
      refuseWhileAway(); // meanwhile
      const result = await breaker.execute(() => work(Math.max(2, Math.floor(bounds.firstMs - (performance.now() - arrivedMs)))));
      return { result, giveBack };
    } catch (error) {
      giveBack();
      if (error instanceof StoreBusy) counters.busy += 1;
      else if (error instanceof StoreUnavailable) counters.failed += 1;
      throw error;
    }
  }

  /**
   * Pings the database beside a slow query. So no query waits for a database that is down, and a slow query does not make it count
   * as down.
   * @template T
   * @param {number} leftMs
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async function ifThere(leftMs, work) {
    /** @type {NodeJS.Timeout|undefined} */
    let timer;
    const halfMs = Math.floor(leftMs / 2);
    let isThere = false;
    const away = new Promise((_, reject) => {
      timer = setTimeout(() => influx.ping(halfMs).then(() => { isThere = true; }, reject), halfMs);
    });
    try {
      return await /** @type {Promise<T>} */ (Promise.race([work(), away]));
    } catch (error) {
      if (isThere && error instanceof StoreUnavailable && !error.answered) throw new StoreBusy(`this takes InfluxDB too long: ${error.message}`);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @type {Influx['query']} */
  async function query(bucket, statement, params = {}, limitMs = 0) {
    if (limitMs >= bounds.unboundedFromMs) return influx.query(bucket, statement, params, limitMs);
    const long = limitMs > bounds.firstMs;
    const { result, giveBack } = await bounded(long ? lanes.long : lanes.short, (leftMs) => (long
      ? ifThere(leftMs, () => influx.query(bucket, statement, params, limitMs))
      : influx.query(bucket, statement, params, leftMs)));
    giveBack();
    return result;
  }

  /**
   * A long answer, piece by piece; a place is held until the last one is taken.
   * @param {string} bucket @param {string} statement @param {Record<string, string|number>} params
   * @param {{long?: boolean, firstMs?: number, rows?: number}} [options] long: it may be very long; firstMs: so long for the first row;
   *   rows: of a piece
   * @returns {AsyncGenerator<Series[], void, void>}
   */
  async function* pieces(bucket, statement, params, { long = false, firstMs = 0, rows } = {}) {
    if (firstMs >= bounds.unboundedFromMs) {
      yield* influx.pieces(bucket, statement, params, { firstMs, idleTimeoutMs: firstMs, rows });
      return;
    }
    const mayBeSlow = firstMs > bounds.firstMs;
    const { result: { first, rest }, giveBack } = await bounded(long || mayBeSlow ? lanes.long : lanes.short, async (leftMs) => {
      const idleTimeoutMs = long || mayBeSlow ? bounds.idleTimeoutMs : Math.max(bounds.shortIdleTimeoutMs, leftMs);
      const all = influx.pieces(bucket, statement, params, { firstMs: mayBeSlow ? firstMs : leftMs, idleTimeoutMs, rows });
      return { first: await (long || mayBeSlow ? ifThere(leftMs, () => all.next()) : all.next()), rest: all };
    });
    try {
      if (first.done) return;
      yield first.value;
      yield* rest;
    } finally {
      await rest.return();
      giveBack();
    }
  }

  return {
    query,
    pieces,
    /**
     * Asks for the heartbeat, past those who wait, and so finds out whether the database is back.
     * @template T @param {(influx: Influx) => Promise<T>} work @returns {Promise<T>}
     */
    probe: (work) => breaker.execute(() => work(influx)).catch((error) => {
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable(reason);
    }),
    /** busy: refused because too many asked; broken: refused because it was away. */
    counters: () => ({
      ...counters,
      open: breaker.state === CircuitState.Closed ? 0 : 1,
      asking: bounds.asking - lanes.short.executionSlots + bounds.longAsking - lanes.long.executionSlots,
      waiting: bounds.waiting - lanes.short.queueSlots + bounds.longWaiting - lanes.long.queueSlots,
    }),
  };
}

module.exports = { createStoreGuard, StoreBusy, BOUNDS };
