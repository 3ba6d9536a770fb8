#!/usr/bin/env node
'use strict';

// Writes the registry files for Telegraf from the building file: `node bin/registry.js`,
// with SDA_BUILDING and SDA_REGISTRY_DIR set, or as its two arguments.
const { loadBuilding } = require('../lib/building');
const { writeRegistry } = require('../lib/building/registry');

const [file = process.env.SDA_BUILDING, folder = process.env.SDA_REGISTRY_DIR] = process.argv.slice(2);
if (!file || !folder) {
  console.error('usage: registry.js BUILDING_FILE REGISTRY_DIR (or set SDA_BUILDING and SDA_REGISTRY_DIR)');
  process.exit(2);
}
try {
  const building = loadBuilding(file);
  const written = writeRegistry(building, folder);
  const count = building.beacons.size + building.tagOwner.size;
  console.log(`${folder}: ${count} registered beacons, ${written.length > 0 ? `wrote ${written.join(', ')}` : 'unchanged'}`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
