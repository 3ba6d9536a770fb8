// @ts-check
'use strict';

/**
 * People live in slots of shared arrays, each as long as the most people that there were at once.
 */

/** How many slots there should be when this one is needed: a sixteenth more, since people come in thousands, and each costs.
 * @param {number} slot */
const slotsFor = (slot) => Math.ceil((slot + 1) * 1.0625);

/**
 * @template {Uint8Array|Int8Array|Uint16Array|Uint32Array|Int16Array|Float32Array|Float64Array} T
 * @param {T} array
 * @param {T} into
 * @returns {T}
 */
function longer(array, into) {
  into.set(array);
  return into;
}

module.exports = { longer, slotsFor };
