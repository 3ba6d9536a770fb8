// @ts-check
'use strict';

/** Number of faults in an answer. */
const FAULTS_MAX = 1000;

/**
 * @typedef {{pointer: string, reason: string}} Fault pointer: JSON pointer into the file; '': the whole file
 * @param {string[]} faults as from `lib/building/checks.js`, `<pointer> <reason>`
 * @returns {Fault[]} the first 1,000
 */
const faultDetails = (faults) => faults.slice(0, FAULTS_MAX).map((fault) => {
  const space = fault.indexOf(' ');
  const pointer = fault.slice(0, space);
  return { pointer: pointer === '/' ? '' : pointer, reason: fault.slice(space + 1) };
});

module.exports = { faultDetails };
