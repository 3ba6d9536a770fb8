// @ts-check
'use strict';

const { randomBytes } = require('node:crypto');
const { StoreUnavailable } = require('../store');

/**
 * Who has a past here, or is about to: an id is in before the first location or stay of that person can be in an answer. Within one
 * epoch nobody is taken out, so who knows a version of it needs what came since alone.
 * @typedef {ReturnType<typeof createKnownPeople>} KnownPeople
 * @typedef {{version: string, whole: boolean, staff: string[]}} Since version: to be sent back the next time, `<epoch>.<count>`; whole:
 *   staff is everybody, not only who came since
 */

const EPOCH_BYTES = 8;
/** Who was noted within this time may not be stored yet. */
const NOTED_MS = 86_400_000;

/** @param {() => string} [newEpoch] a name that was never used before */
function createKnownPeople(newEpoch = () => randomBytes(EPOCH_BYTES).toString('hex')) {
  /** In the order of coming. @type {Set<string>} */
  let all = new Set();
  let epoch = newEpoch();
  let isSeeded = false;
  /** Who was noted since some time, and in the time before it. @type {Set<string>} */
  let noted = new Set();
  /** @type {Set<string>} */
  let notedBefore = new Set();
  let notedSinceMs = -Infinity;
  /** Those who wait for somebody new. @type {Set<() => void>} */
  const waiting = new Set();

  const wake = () => { for (const end of [...waiting]) end(); };
  const versionOf = () => `${epoch}.${all.size}`;

  /** @param {string} version @returns {number|null} how many were in then; null: it is of another epoch */
  function countOf(version) {
    const [its, count] = version.split('.');
    return its === epoch && Number(count) <= all.size ? Number(count) : null;
  }

  return {
    /** Something is found of somebody, or will be. @param {string} id */
    note(id) {
      if (noted.has(id)) return;
      noted.add(id);
      if (all.has(id)) return;
      all.add(id);
      wake();
    },
    /**
     * Those of whom something is stored. Who is stored no more, and was not noted within a day, is known no more.
     * @param {Iterable<string>} stored @param {number} nowMs
     */
    seed(stored, nowMs) {
      const next = new Set([...stored, ...notedBefore, ...noted]);
      if (nowMs - notedSinceMs >= NOTED_MS) [noted, notedBefore, notedSinceMs] = [new Set(), noted, nowMs];
      if ([...all].some((id) => !next.has(id))) [all, epoch] = [next, newEpoch()];
      else next.forEach((id) => all.add(id));
      isSeeded = true;
      wake();
    },
    /** Whether who was here before the start is in, too. */
    isSeeded: () => isSeeded,
    /** @param {string} [version] what the caller knows @returns {Since} */
    since(version = '') {
      const count = countOf(version);
      return { version: versionOf(), whole: count === null, staff: count === all.size ? [] : [...all].slice(count ?? 0) };
    },
    /** @param {string} version @param {number} waitMs @returns {Promise<void>} when there is something newer, else after that time */
    newer(version, waitMs) {
      if (version !== versionOf() || waitMs <= 0) return Promise.resolve();
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          resolve();
        };
        const timer = setTimeout(end, waitMs);
        waiting.add(end);
      });
    },
    count: () => all.size,
  };
}

/**
 * Seeds who has a past here from the database: after a start as soon as all before it is located and stored, and then once a day, so
 * that who is stored no more is forgotten. While a time is to be located in which somebody new may be found, nobody can say who it is.
 * @typedef {ReturnType<typeof createKnownSeed>} KnownSeed
 * @typedef {Since & {known_until_ms: number}} KnownAnswer known_until_ms: who is not among them has nothing
 *   until then
 */

const REFRESH_MS = 86_400_000;
const RETRY_MS = 5000;

/**
 * @param {object} deps
 * @param {KnownPeople} deps.people
 * @param {Pick<import('../store').Store, 'staffIds'>} deps.store
 * @param {Pick<import('./coverage').Coverage, 'undecided'|'isSettled'|'pending'|'completeUntil'>} deps.coverage
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

module.exports = { createKnownPeople, createKnownSeed };
