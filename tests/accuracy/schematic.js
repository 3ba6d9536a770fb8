'use strict';

// A building file on standard input, the same one with its rooms as tiles and no device measured on standard output: what a
// list of beacons would have made of it (flows/lib/building/import).
const fs = require('node:fs');
const { spreadDevices, withTiles } = require('../../flows/lib/building/import/tiles');

const file = JSON.parse(fs.readFileSync(0, 'utf8'));
const { beacons = [], gateways = [] } = file;
const named = new Set([...beacons, ...gateways].map(({ room }) => room)); // a list names no others
const levels = file.levels.map(({ id, name, rooms }) => withTiles({ id, name, rooms: [] },
  rooms.filter((room) => named.has(room.id)).map((room) => ({ id: room.id, name: room.name }))));
const whole = { ...file, levels, beacons, gateways };
process.stdout.write(JSON.stringify(spreadDevices(whole, new Set(levels.map(({ id }) => id)))));
