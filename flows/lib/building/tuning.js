// @ts-check
'use strict';

/**
 * Tuning of the locator from the building file: snake_case under `tuning`. The schema has the names and bounds;
 * `locator/tuning.js` has the reasons.
 * @typedef {import('../locator/tuning').Tuning} Tuning
 */

/** @param {string} key @returns {string} as in tuning.js */
const camelCase = (key) => key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/**
 * @param {Record<string, number>} [settings] of a checked building file
 * @returns {Partial<Tuning>}
 */
const tuningOf = (settings = {}) => Object.fromEntries(Object.entries(settings).map(([key, value]) => [camelCase(key), value]));

module.exports = { tuningOf };
