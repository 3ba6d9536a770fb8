// @ts-check
'use strict';

const { KeyFileError } = require('./key-ring');
const { readKeys } = require('./key-file');

/** The file is read so often at most. */
const LOOK_MS = 2000;

/**
 * For whoever only wants to know which keys there are.
 * @param {string} file @param {() => number} clock
 * @returns {{records: () => import('./key-ring').KeyRecord[]}} of a damaged file: none
 */
function createKeyLook(file, clock) {
  let lookedMs = -Infinity;
  /** @type {import('./key-ring').KeyRecord[]} */
  let known = [];
  return {
    records() {
      if (clock() - lookedMs < LOOK_MS) return known;
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

module.exports = { createKeyLook };
