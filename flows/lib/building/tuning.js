// @ts-check
'use strict';

/**
 * The locator's numbers as a building file may set them: in snake_case under `tuning`. Which there are, and between which
 * bounds, says the schema; their reasons stand in `locator/tuning.js`.
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
