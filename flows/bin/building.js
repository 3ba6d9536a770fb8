#!/usr/bin/env node
'use strict';

// Checks building files and takes lists of beacons into them; `node bin/building.js --help` teaches it.
const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { BuildingError, loadBuilding } = require('../lib/building');
const { importBeacons } = require('../lib/import/beacons');
const { layout } = require('../lib/import/layout');
const { ImportError } = require('../lib/import/rows');

const HELP = `Check a building file, or take an installer's list of beacons into it.

  node bin/building.js check BUILDING.json
  node bin/building.js import BEACONS.csv BUILDING.json [--output NEW.json] [--dry-run]

BEACONS.csv is either a table with a header, its columns in any order, separated by comma, semicolon or tab:

  mac,location,level
  C2:A6:28:38:4B:08,Main Lobby,L1

or lines of MAC:location:level:

  C2A628384B08:Main Lobby:L1

The MAC has 12 hex digits, with or without : or -, in either case (iBeacon, Eddystone and AltBeacon ids are taken
too). Location and level are an id or a name in the building file; the room must exist on that level. Each new beacon
is put into the middle of its room and marked "approximate"; move it to where it really hangs when you know.

A row that cannot be taken is listed with its line number and the reason; the others are imported. Correct the listed
rows and import the same list again: what is registered already is left as it is.

  --output NEW.json  write there, and leave BUILDING.json as it is
  --dry-run          only say what would happen

A running system takes the changed file over by itself within seconds.

Ends with 0 when every row is in the building, 1 when rows were refused or a checked file has faults, 2 when nothing
could be done.`;

/** Nothing could be done, and why. */
class Refusal extends Error {}

function main(args) {
  const { values, positionals: [command, ...files] } = parseArgs({ args, allowPositionals: true, options: {
    help: { type: 'boolean', short: 'h' }, output: { type: 'string', short: 'o' }, 'dry-run': { type: 'boolean' } } });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (command === 'check' && files.length === 1) return check(files[0]);
  if (command === 'import' && files.length === 2) return takeList(files[0], files[1], values);
  throw new Refusal('say `check BUILDING.json` or `import BEACONS.csv BUILDING.json`; more with --help');
}

function check(file) {
  try {
    const { name, levels, rooms, beacons, gateways, staff } = loadBuilding(file);
    console.log(`${file} is good: ${name}, ${levels.length} levels, ${rooms.size} rooms, ${beacons.size} beacons, ` +
      `${gateways.size} gateways, ${staff.size} staff`);
    return 0;
  } catch (error) {
    if (!(error instanceof BuildingError)) throw error;
    console.error(error.message);
    return 1;
  }
}

function takeList(list, buildingFile, { output = buildingFile, 'dry-run': dryRun = false }) {
  loadBuilding(buildingFile); // names the file when it is not good
  const { file, added, unchanged, faults } = importBeacons(fs.readFileSync(list), JSON.parse(fs.readFileSync(buildingFile, 'utf8')));
  for (const { line, text, reason } of faults) console.error(`${list}:${line}: ${reason}\n    ${text}`);
  const other = path.resolve(output) !== path.resolve(buildingFile);
  const write = !dryRun && (added.length > 0 || other);
  if (write) replace(output, `${layout(file)}\n`);
  console.log(`${added.length} added, ${unchanged.length} registered already, ${faults.length} refused; ` +
    (write ? `wrote ${output}` : dryRun ? 'nothing written (--dry-run)' : 'nothing to write'));
  return faults.length > 0 ? 1 : 0;
}

/** Readers see the old or the new content, never half of one; a link stays a link. */
function replace(file, text) {
  const target = fs.existsSync(file) ? fs.realpathSync(file) : file;
  const mode = fs.existsSync(target) ? fs.statSync(target).mode : 0o644;
  fs.writeFileSync(`${target}.new`, text, { mode });
  fs.renameSync(`${target}.new`, target);
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  const expected = [Refusal, BuildingError, ImportError].some((kind) => error instanceof kind) || error.code !== undefined;
  console.error(expected ? error.message : error.stack);
  process.exitCode = 2;
}
