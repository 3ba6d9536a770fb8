// @ts-check
'use strict';

/**
 * People live in slots of shared arrays, each as long as the most people that there were at once.
 * @typedef {Uint8Array|Int8Array|Uint16Array|Uint32Array|Int16Array|Float32Array|Float64Array} Numbers
 * @typedef {[array: Numbers, width: number][]} Arrays width: numbers of a slot
 */

/** How many slots there should be when this one is needed: a sixteenth more, since people come in thousands, and each costs.
 * @param {number} slot */
const slotsFor = (slot) => Math.ceil((slot + 1) * 1.0625);

/**
 * @template {Numbers} T
 * @param {T} array
 * @param {T} into
 * @returns {T}
 */
function longer(array, into) {
  into.set(array);
  return into;
}

/**
 * From one place to another, in slots; those that follow one another on both sides are one move.
 * @param {number[]} from @param {number[]} to as many @returns {{from: number, to: number, length: number}[]}
 */
function movesOf(from, to) {
  /** @type {{from: number, to: number, length: number}[]} */
  const moves = [];
  from.forEach((slot, n) => {
    const last = moves.at(-1);
    if (last && last.from + last.length === slot && last.to + last.length === to[n]) last.length += 1;
    else moves.push({ from: slot, to: to[n], length: 1 });
  });
  return moves;
}

/**
 * A copy of some slots, one after the other.
 * @param {Arrays} arrays @param {number[]} slots @returns {Numbers[]} as many as `arrays`
 */
function copyOut(arrays, slots) {
  const moves = movesOf(slots, [...slots.keys()]);
  return arrays.map(([array, width]) => {
    const Kind = /** @type {Uint8ArrayConstructor} */ (array.constructor);
    const copy = new Kind(slots.length * width);
    for (const { from, to, length } of moves) copy.set(array.subarray(from * width, (from + length) * width), to * width);
    return copy;
  });
}

/**
 * Some of such a copy into slots here.
 * @param {Arrays} arrays @param {Numbers[]} copies @param {number[]} from which ones of the copy @param {number[]} to slots
 */
function copyIn(arrays, copies, from, to) {
  const moves = movesOf(from, to);
  arrays.forEach(([array, width], k) => {
    for (const move of moves) array.set(copies[k].subarray(move.from * width, (move.from + move.length) * width), move.to * width);
  });
}

module.exports = { copyIn, copyOut, longer, slotsFor };
