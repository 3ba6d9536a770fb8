// @ts-check
'use strict';

const { StoreUnavailable } = require('../store');

/**
 * Seeds who has a past here from the database: after a start as soon as all before it is located and stored, and then once a day, so
 * that who is stored no more is forgotten. While a time is to be located in which somebody new may be found, nobody can say who it is.
 * @typedef {ReturnType<typeof createKnownSeed>} KnownSeed
 * @typedef {import('./known-people').Since & {known_until_ms: number}} KnownAnswer known_until_ms: who is not among them has nothing
 *   until then
 */

const REFRESH_MS = 86_400_000;
const RETRY_MS = 5000;

/**
 * @param {object} deps
 * @param {import('./known-people').KnownPeople} deps.people
 * @param {Pick<import('../store').Store, 'staffIds'>} deps.store
 * @param {Pick<import('../coverage').Coverage, 'undecided'|'isSettled'|'pending'|'completeUntil'>} deps.coverage
 * @param {() => number} deps.clock
 */
function createKnownSeed({ people, store, coverage, clock }) {
  let dueMs = -Infinity;
  let isReading = false;
  let fault = 'it was not read from InfluxDB yet';

  /** @throws {StoreUnavailable} */
  function refuseUndecided() {
    const reason = coverage.undecided(clock()) || (people.isSeeded() ? '' : fault);
    if (reason !== '') throw new StoreUnavailable(`who has a past here is not known yet: ${reason}`);
  }

  return {
    /** To be called about once a second. @returns {Promise<void>} */
    async tick() {
      const nowMs = clock();
      if (isReading || nowMs < dueMs || !coverage.isSettled(nowMs)) return;
      isReading = true;
      try {
        people.seed([...await store.staffIds(), ...coverage.pending()], nowMs);
        dueMs = nowMs + REFRESH_MS;
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
        dueMs = nowMs + RETRY_MS;
      } finally {
        isReading = false;
      }
    },
    /**
     * @param {string} [version] what the caller knows @param {number} [waitMs] for something newer
     * @returns {Promise<KnownAnswer>}
     * @throws {StoreUnavailable} where it cannot be said
     */
    async since(version, waitMs = 0) {
      refuseUndecided();
      if (version !== undefined) await people.newer(version, waitMs);
      refuseUndecided();
      const nowMs = clock();
      return { ...people.since(version), known_until_ms: coverage.completeUntil(0, nowMs, [], nowMs) };
    },
  };
}

module.exports = { createKnownSeed };
