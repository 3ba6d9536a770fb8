// @ts-check
'use strict';

const { createBuilding } = require('../../lib/building');

/**
 * A small house for tests: two levels, each with a corridor along three rooms and a lift lobby at its end.
 *
 *   y 16 ┌────────┬────────┬────────┬─────┐
 *        │   a    │   b    │   c    │lift │
 *   y  6 ├────────┴────────┴────────┤     │
 *        │         hall             │     │
 *   y  3 └──────────────────────────┴─────┘
 *        x 0      10       20       30    36
 */
const LEVELS = ['G', 'U'];

/** @param {Record<string, object>} [changes] by device or staff id @returns {any} a building file */
function houseFile(changes = {}) {
  /** @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
  const box = (x0, y0, x1, y1) => [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
  const levels = LEVELS.map((id) => ({
    id, name: `Level ${id}`, width_m: 36, height_m: 16, rooms: [
      { id: `${id}-a`, name: 'A', polygon: box(0, 6, 10, 16) },
      { id: `${id}-b`, name: 'B', polygon: box(10, 6, 20, 16) },
      { id: `${id}-c`, name: 'C', polygon: box(20, 6, 30, 16) },
      { id: `${id}-hall`, name: 'Hall', kind: 'corridor', polygon: box(0, 3, 30, 6) },
      { id: `${id}-lift`, name: 'Lift', kind: 'core', polygon: box(30, 3, 36, 16) },
    ],
  }));
  const spots = /** @type {[string, number, number][]} */ ([['a', 5, 11], ['b', 15, 11], ['c', 25, 11], ['hall', 8, 4.5], ['lift', 33, 9]]);
  const beacons = LEVELS.flatMap((level, l) => spots.map(([room, x, y], i) => (
    { id: `B${l}00000000${i}0`, level, room: `${level}-${room}`, x_m: x, y_m: y })));
  const gateways = LEVELS.flatMap((level) => spots.map(([room, x, y]) => (
    { id: `gw-${level}-${room}`, level, room: `${level}-${room}`, x_m: x + 1, y_m: y })));
  const staff = [{ id: '0', name: 'Phone' }, { id: '1', name: 'Tag', tags: ['C0FFEE000001'] }, { id: '2', name: 'Tags', tags: ['C0FFEE000002', 'C0FFEE000003'] }];
  const file = { building: 'House', levels, beacons, gateways, staff };
  for (const list of [beacons, gateways, staff]) {
    list.forEach((item, i) => { if (changes[item.id]) list[i] = { ...item, ...changes[item.id] }; });
  }
  return file;
}

/** @param {Record<string, object>} [changes] */
const house = (changes) => createBuilding(houseFile(changes));

/** Beacon of a room. @param {string} room */
const beaconOf = (room) => /** @type {{id: string}} */ (houseFile().beacons.find((/** @type {any} */ beacon) => beacon.room === room)).id;

module.exports = { house, houseFile, beaconOf };
