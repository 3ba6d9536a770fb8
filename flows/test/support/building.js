'use strict';

const square = (x) => [[x, 0], [x + 10, 0], [x + 10, 10], [x, 10]];

/** Two levels with two rooms each; beacons A to D and gateways gw-a to gw-d, one a room; staff 0 has a tag. */
const smallBuilding = () => ({
  building: 'Small House',
  levels: [
    { id: 'L1', name: 'Level 1', width_m: 20, height_m: 10, rooms: [
      { id: 'a', name: 'Room A', polygon: square(0) }, { id: 'b', name: 'Room B', polygon: square(10) }] },
    { id: 'L2', name: 'Level 2', width_m: 20, height_m: 10, rooms: [
      { id: 'c', name: 'Room C', polygon: square(0) }, { id: 'd', name: 'Room D', polygon: square(10) }] },
  ],
  beacons: [
    { id: BEACONS.a, level: 'L1', room: 'a', x_m: 5, y_m: 5 },
    { id: BEACONS.b, level: 'L1', room: 'b', x_m: 15, y_m: 5 },
    { id: BEACONS.c, level: 'L2', room: 'c', x_m: 5, y_m: 5 },
    { id: BEACONS.d, level: 'L2', room: 'd', x_m: 15, y_m: 5 },
  ],
  gateways: [
    { id: 'gw-a', level: 'L1', room: 'a', x_m: 5, y_m: 5 },
    { id: 'gw-b', level: 'L1', room: 'b', x_m: 15, y_m: 5, rssi_offset: 10, min_rssi: -80 },
  ],
  staff: [{ id: '0', name: 'Ann', tags: [TAG] }, { id: '1', name: 'Ben' }],
});

const BEACONS = { a: 'C2A628384B08', b: 'C2A628384B09', c: 'C2A628384B0A', d: 'C2A628384B0B' };
const TAG = 'AA00000000FF';

module.exports = { smallBuilding, BEACONS, TAG };
