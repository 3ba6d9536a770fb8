// @ts-check
'use strict';

/**
 * Which of the copies are kept: close together for the last minutes, farther apart the older they are. Pure.
 */

const MIN = 60_000;
/** Copies so old at least are kept so far apart. */
const APART = [{ ageMs: 5 * MIN, apartMs: 2 * MIN }, { ageMs: 20 * MIN, apartMs: 10 * MIN }];
const OLDEST_MS = 60 * MIN;

/** @param {number} ageMs */
const apartMs = (ageMs) => APART.findLast(({ ageMs: fromMs }) => ageMs >= fromMs)?.apartMs ?? 0;

/**
 * @param {number[]} times epoch ms @param {number} nowMs
 * @param {number} neededMs the newest one before this is kept, however old it is
 * @returns {number[]} those that are not kept
 */
function superfluous(times, nowMs, neededMs) {
  const ascending = times.toSorted((a, b) => a - b);
  const needed = ascending.findLast((ms) => ms <= neededMs);
  let lastMs = -Infinity;
  return ascending.filter((ms) => {
    const ageMs = nowMs - ms;
    const keeps = ms === needed || (ageMs >= -MIN && ageMs <= OLDEST_MS && ms - lastMs >= apartMs(ageMs));
    if (keeps) lastMs = ms;
    return !keeps;
  });
}

module.exports = { superfluous };
