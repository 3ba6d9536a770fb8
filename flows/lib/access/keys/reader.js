// @ts-check
'use strict';

const { KeyFileError } = require('./ring');
const { readKeys } = require('./file');

/** The file is read so often at most. */
const POLL_MS = 2000;

/**
 * For whoever only wants to know which keys there are.
 * @param {string} file @param {() => number} clock
 * @returns {{records: () => import('./ring').KeyRecord[]}} of a damaged file: none
 */
function createKeyReader(file, clock) {
  let lookedMs = -Infinity;
  /** @type {import('./ring').KeyRecord[]} */
  let known = [];
  return {
    records() {
      if (clock() - lookedMs < POLL_MS) return known;
      lookedMs = clock();
      try {
        known = readKeys(file).records;
      } catch (error) {
        if (!(error instanceof KeyFileError)) throw error;
        known = [];
      }
      return known;
    },
  };
}

module.exports = { createKeyReader };
