'use strict';

// A building file on standard input, the same one with its rooms as tiles and no device measured on standard output: what a
// list of beacons would have made of it (flows/lib/import).
const fs = require('node:fs');
const { spread, tiled } = require('../../flows/lib/import/tiles');

const file = JSON.parse(fs.readFileSync(0, 'utf8'));
const levels = file.levels.map(({ id, name, rooms }) => tiled({ id, name, rooms: [] }, rooms.map((room) => ({ id: room.id, name: room.name }))));
const whole = { ...file, levels, beacons: file.beacons ?? [], gateways: file.gateways ?? [] };
process.stdout.write(JSON.stringify(spread(whole, new Set(levels.map(({ id }) => id)))));
