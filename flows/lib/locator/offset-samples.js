// @ts-check
'use strict';

const { KNOWN_SHARE, placementKey } = require('./receivers');
const { expectedIn } = require('./source');

/**
 * What one person's readings say about the devices, for those who learn offsets from it. Pure.
 * @typedef {import('../locator').OffsetSample} OffsetSample
 */

/**
 * @param {import('./model').Model} model
 * @param {string} staffId
 * @param {[cell: number, probability: number][]} cells where they may be
 * @param {import('./hearing').Remembered} remembered
 * @param {import('./learned-strengths').Strength} strength of their tag or phone
 * @param {number} ms event time
 * @param {Float32Array|null} corrections dB, already subtracted from the readings
 * @returns {OffsetSample|null} null: their strength or place is not known yet
 */
function offsetSampleOf({ cells: { all }, plan: { rooms }, radio, settings }, staffId, cells, remembered, strength, ms, corrections) {
  const { weakestDbm, hearableDbm, levelDb, txDbm, exponent, aboveM, nearestM } = settings;
  if (cells.length === 0 || strength.variance > (KNOWN_SHARE * levelDb) ** 2) return null;
  const [likeliest] = cells.reduce((best, one) => (one[1] > best[1] ? one : best));
  let [x, y] = [0, 0];
  for (const [cell, probability] of cells) {
    x += probability * all[cell].x;
    y += probability * all[cell].y;
  }
  /** @type {OffsetSample['devices']} */
  const devices = [];
  for (let k = 0; k < remembered.count; k += 1) {
    if (remembered.ages[k] > 0) continue; // counted when it came
    const source = radio.sources[remembered.sources[k]];
    const { id, device } = source;
    let expectedDbm = 0;
    let distanceDb = 0;
    for (const [cell, probability] of cells) {
      const metres = Math.hypot(all[cell].x - device.x_m, all[cell].y - device.y_m, aboveM);
      expectedDbm += probability * expectedIn(source, cell, weakestDbm);
      distanceDb += probability * 10 * Math.log10(Math.max(nearestM, metres));
    }
    if (expectedDbm + strength.meanDb < hearableDbm) continue; // only the strongest of such readings arrive: they would say too much
    const offDb = remembered.levels[k] - strength.meanDb - expectedDbm + (corrections?.[remembered.sources[k]] ?? 0);
    const throughDb = (device.tx ?? txDbm) - expectedDbm - exponent * distanceDb;
    const kind = radio.gateways.get(id) === remembered.sources[k] ? 'gateway' : 'beacon';
    devices.push({ kind, id, place: placementKey(device), off_db: offDb, distance_db: distanceDb, through_db: throughDb });
  }
  return { staff_id: staffId, ms, room: rooms[all[likeliest].room].id, x_m: x, y_m: y, devices };
}

module.exports = { offsetSampleOf };
