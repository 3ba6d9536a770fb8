// @ts-check
'use strict';

/**
 * How much stronger (negative: weaker) than others each gateway hears people, and each beacon is heard. Pure.
 *
 * A place is one witness of a device, however many readings it has: the shadow of a shelf is the same tomorrow. By how much a device is
 * off at a place is explained by an offset of the device, by a path loss and walls that are other than the locator expects (the same
 * for all devices), and by the shadows of the place: least squares, with what is known beforehand as variances (ridge regression; Hoerl
 * and Kennard, Technometrics 12, 1970). Of the offsets the mean is taken out, since nobody knows it, and they are shrunk by what even
 * good ones are wrong by (James and Stein, "Estimation with Quadratic Loss", 1961): where devices differ by no more than that,
 * nothing is corrected.
 * @typedef {{readings: number, off_db: number, distance_db: number, through_db: number}} Spot means over the readings of a place
 * @typedef {{key: string, spots: Iterable<Spot>}} Device
 */

const SHADOW_DB = 6; // standard deviation of a device's signal from place to place (the locator's `spreadDb`)
const DEVICE_DB = 5; // … of what devices differ by: antennas, walls that they hang on, chargers and cases
const SLOPE = 0.8; // … of the path loss exponent, and of the share by which walls take more or less than expected
const COMMON_DB = 10; // … of what is off everywhere
const ERROR_DB = 2; // learned offsets are wrong by so much (drawn buildings, two hours of patrols: docs/decisions/007)
const BOUND_DB = 12; // as for `rssi_offset` found by a walk; more is a fault of the device

/**
 * @param {Device[]} devices
 * @returns {Map<string, number>} dB by key; empty for fewer than two devices
 */
function estimate(devices) {
  const found = leastSquares(devices);
  if (found.size < 2) return new Map();
  const mean = [...found.values()].reduce((sum, db) => sum + db, 0) / found.size;
  const variance = [...found.values()].reduce((sum, db) => sum + (db - mean) ** 2, 0) / (found.size - 1);
  const kept = Math.max(0, 1 - ERROR_DB ** 2 / variance);
  return new Map([...found].map(([key, db]) => [key, Math.max(-BOUND_DB, Math.min(BOUND_DB, kept * (db - mean)))]));
}

/**
 * The offsets are eliminated one by one, which leaves three equations: of distances, of walls, and of what is common.
 * @param {Device[]} devices @returns {Map<string, number>} dB
 */
function leastSquares(devices) {
  const weight = 1 / SHADOW_DB ** 2;
  const all = devices.flatMap(({ spots }) => [...spots]);
  const meanOf = (/** @type {'distance_db'|'through_db'} */ name) => all.reduce((sum, spot) => sum + spot[name], 0) / all.length;
  const [distance, through] = [meanOf('distance_db'), meanOf('through_db')];
  const matrix = [[1 / SLOPE ** 2, 0, 0], [0, 1 / SLOPE ** 2, 0], [0, 0, 1 / COMMON_DB ** 2]];
  const right = [0, 0, 0];
  const sums = devices.map(({ key, spots }) => {
    const cross = [0, 0, 0];
    let own = 1 / DEVICE_DB ** 2;
    let off = 0;
    for (const spot of spots) {
      const row = [spot.distance_db - distance, spot.through_db - through, 1];
      own += weight;
      off += weight * spot.off_db;
      row.forEach((value, i) => {
        cross[i] = at(cross, i) + weight * value;
        right[i] = at(right, i) + weight * value * spot.off_db;
        row.forEach((other, j) => { row_(matrix, i)[j] = at(row_(matrix, i), j) + weight * value * other; });
      });
    }
    return { key, cross, own, off };
  });
  for (const { cross, own, off } of sums) {
    cross.forEach((value, i) => {
      right[i] = at(right, i) - (value * off) / own;
      cross.forEach((other, j) => { row_(matrix, i)[j] = at(row_(matrix, i), j) - (value * other) / own; });
    });
  }
  const common = solve(matrix, right);
  return new Map(sums.map(({ key, cross, own, off }) => (
    [key, (off - cross.reduce((sum, value, i) => sum + value * at(common, i), 0)) / own])));
}

/** @param {number[]} list @param {number} i */
const at = (list, i) => /** @type {number} */ (list[i]);
/** @param {number[][]} matrix @param {number} i */
const row_ = (matrix, i) => /** @type {number[]} */ (matrix[i]);

/** Gauss's elimination of a positive definite system. @param {number[][]} matrix @param {number[]} right @returns {number[]} */
function solve(matrix, right) {
  const rows = matrix.map((row, i) => [...row, at(right, i)]);
  rows.forEach((pivot, i) => rows.forEach((row, k) => {
    if (k === i) return;
    const factor = at(row, i) / at(pivot, i);
    for (let j = i; j < row.length; j += 1) row[j] = at(row, j) - factor * at(pivot, j);
  }));
  return rows.map((row, i) => at(row, row.length - 1) / at(row, i));
}

module.exports = { estimate };
