// @ts-check
'use strict';

const { randomBytes } = require('node:crypto');

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

module.exports = { createKnownPeople };
