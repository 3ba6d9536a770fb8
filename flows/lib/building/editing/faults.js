// @ts-check
'use strict';

/** So many are told one by one. */
const TOLD = 1000;

/**
 * @typedef {{pointer: string, reason: string}} Fault pointer: JSON pointer into the file, '' is all of it
 * @param {string[]} faults as `lib/building/checks.js` gives them, `<pointer> <reason>`
 * @returns {Fault[]}
 */
const toldFaults = (faults) => faults.slice(0, TOLD).map((fault) => {
  const space = fault.indexOf(' ');
  const pointer = fault.slice(0, space);
  return { pointer: pointer === '/' ? '' : pointer, reason: fault.slice(space + 1) };
});

module.exports = { toldFaults };
