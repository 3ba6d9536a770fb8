// @ts-check
'use strict';

const { TUNING } = require('./locator/tuning');

/**
 * The locator's numbers as a building file may set them: in snake_case under `tuning`. Which there are, and between which
 * bounds, says the schema; their reasons stand in `locator/tuning.js`.
 * @typedef {import('./locator').Tuning} Tuning
 */

/** @param {string} key @returns {string} as in tuning.js */
const camelCase = (key) => key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/**
 * @param {Record<string, number>} [settings] of a checked building file
 * @returns {Partial<Tuning>}
 */
const tuningOf = (settings = {}) => Object.fromEntries(Object.entries(settings).map(([key, value]) => [camelCase(key), value]));

/** None of these may be less than the one before it. */
const ASCENDING = [['window_ms', 'window_at_most_ms'], ['stale_ms', 'lost_ms', 'gone_ms']];

/**
 * What the schema cannot say: times that follow one another.
 * @param {any} file a parsed building file
 * @returns {string[]} faults
 */
function tuningFaults(file) {
  const settings = file?.tuning;
  if (settings === null || typeof settings !== 'object') return [];
  const all = /** @type {Record<string, number>} */ ({ ...TUNING, ...tuningOf(settings) });
  const pairs = ASCENDING.flatMap((keys) => keys.slice(1).map((key, i) => /** @type {[string, string]} */ ([keys[i], key])));
  return pairs.flatMap(([before, key]) => {
    const [least, value] = [all[camelCase(before)], all[camelCase(key)]];
    if (least === undefined || value === undefined || !(value < least)) return [];
    return [`/tuning/${key in settings ? key : before} ${key} (${value}) must not be less than ${before} (${least})`];
  });
}

module.exports = { tuningOf, tuningFaults };
