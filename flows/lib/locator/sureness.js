// @ts-check
'use strict';

const { rounded } = require('../shared/probable');

/**
 * How sure a room is, and which other one is the likeliest. Pure.
 * @typedef {{probability: number|null, runnerUp: number}} Sure probability: two decimals, null: not known; runnerUp: -1: none
 */

/** @param {Sure} sure @param {import('./plan').Room[]} rooms @returns {import('../locator').Sureness} */
const surenessOf = ({ probability = null, runnerUp }, rooms) => (
  { probability, runner_up: probability !== 1 && runnerUp >= 0 ? rooms[runnerUp].id : null });

/**
 * As it is live.
 * @param {number} room @param {{rooms: Int32Array, count: number}} possible rooms @param {Float64Array} chances of each room
 * @returns {Sure}
 */
function sureLive(room, { rooms, count }, chances) {
  let runnerUp = -1;
  for (let n = 0; n < count; n += 1) {
    if (rooms[n] !== room && (runnerUp < 0 || chances[rooms[n]] > chances[runnerUp])) runnerUp = rooms[n];
  }
  return { probability: rounded(chances[room]), runnerUp };
}

/**
 * As history has it.
 * @param {number} room @param {Map<number, number>} sums of log probabilities above the least, by room @param {number} many seconds
 * @returns {Sure}
 */
function sureLater(room, sums, many) {
  let whole = sums.has(room) ? 0 : 1;
  let runnerUp = -1;
  for (const [one, sum] of sums) {
    whole += Math.exp(sum / many);
    if (one !== room && (runnerUp < 0 || sum > (sums.get(runnerUp) ?? 0))) runnerUp = one;
  }
  return { probability: rounded(Math.exp((sums.get(room) ?? 0) / many) / whole), runnerUp };
}

module.exports = { surenessOf, sureLater, sureLive };
