#!/usr/bin/env node
'use strict';

// Checks building files and imports lists of beacons; `node bin/building.js --help` explains it.
const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const readline = require('node:readline/promises');
const { BuildingError, createBuilding, loadBuilding } = require('../lib/building');
const { nameFault, newAwkward } = require('../lib/building/awkward');
const { importBeacons } = require('../lib/building/import/beacons');
const { baseOf, fromListWork, previewText } = require('../lib/building/import/from-list');
const { layout } = require('../lib/building/import/layout');
const { ImportError } = require('../lib/building/import/rows');
const { inOneGo } = require('../lib/shared/pieces');
const { replaceFileSync } = require('../lib/shared/whole-file');

const HELP = `Make a building out of an installer's list of beacons, import such a list into a building file, or check one.

  make building ARGS='from-list BEACONS.csv [--name "Harbour House"] [--new | --add] [--yes]'
      makes the levels and rooms that the list names, with its beacons in them: shows what it would be, asks, and writes
      the building file in use (SDA_BUILDING of .env). A running system has it within seconds
  make building ARGS='import BEACONS.csv [--dry-run]'
      imports beacons into rooms that exist already
  make building ARGS='check'
      lists the faults of the building file
  (without make, in flows/: node bin/building.js from-list BEACONS.csv BUILDING.json …)

BEACONS.csv is a table, separated by comma, semicolon or tab, with a header (its columns in any order) or without one:

  mac,location,level
  C2:A6:28:38:4B:08,Main Lobby,L1

or lines of MAC:location:level:

  C2A628384B08:Main Lobby:L1

The MAC has 12 hex digits, with or without : or -, in either case (iBeacon, Eddystone and AltBeacon ids are taken
too). With import, location and level are an id or a name in the building file, and the room must exist on that level.
Each new beacon is marked "approximate", as nobody has measured where it hangs; place it on the plan when you know.

A row that cannot be imported is listed with its line number and the reason; the others are imported. Correct the listed
rows and give the same list again: beacons that are registered already stay unchanged.

  --name NAME        from-list: what the building is called
  --new, --add       from-list: a new building (staff stay, earlier ones can be had back under Set-up, Versions), or what
                     is there with what the list adds. Unless you say, the demo is replaced, and your own is added to
  --yes              from-list: write without asking
  --output NEW.json  write there, and leave the building file as it is
  --in-use           check: of a file that is in use already: what an earlier version took is a warning
  --dry-run          only say what would happen

A running system takes the changed file over by itself within seconds.

Ends with 0 when it was done (import: with every row; from-list: refused rows are listed), 1 when import refused rows,
when nobody agreed to from-list, or a checked file has faults, 2 when nothing could be done.`;

/** Nothing was done; the message says why. */
class Refusal extends Error {}

const OPTIONS = /** @type {const} */ ({
  help: { type: 'boolean', short: 'h' }, output: { type: 'string', short: 'o' }, 'dry-run': { type: 'boolean' },
  name: { type: 'string' }, 'in-use': { type: 'boolean' }, new: { type: 'boolean' }, add: { type: 'boolean' }, yes: { type: 'boolean', short: 'y' },
});

async function main(args) {
  const { values, positionals: [command, ...files] } = parseArgs({ args, allowPositionals: true, options: OPTIONS });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const inUse = process.env.SDA_BUILDING ? [process.env.SDA_BUILDING] : [];
  const [first, second, ...rest] = command === 'check' && files.length === 0 ? inUse : files.length === 1 ? [...files, ...inUse] : files;
  if (command === 'check' && first !== undefined && files.length < 2) return check(first, values);
  if (command === 'import' && second !== undefined && rest.length === 0) return importList(first, second, values);
  if (command === 'from-list' && second !== undefined && rest.length === 0) return fromList(first, second, values);
  throw new Refusal('say `from-list BEACONS.csv`, `import BEACONS.csv BUILDING.json` or `check BUILDING.json`; more with --help');
}

function check(file, { 'in-use': inUse = false }) {
  try {
    const { name, levels, rooms, beacons, gateways, staff, warnings } = loadBuilding(file);
    if (warnings.length > 0) {
      console.error(`${file} ${inUse ? 'goes on with' : 'is refused where it is new, and goes on where it is in use, with'}:\n${warnings.map((one) => `  ${one}`).join('\n')}`);
      if (!inUse) return 1;
    }
    console.log(`${file} is good: ${name}, ${levels.length} levels, ${rooms.size} rooms, ${beacons.size} beacons, ` +
      `${gateways.size} gateways, ${staff.size} staff`);
    return 0;
  } catch (error) {
    if (!(error instanceof BuildingError)) throw error;
    console.error(error.message);
    return 1;
  }
}

function importList(list, buildingFile, { output = buildingFile, 'dry-run': dryRun = false }) {
  const { file: before } = loadBuilding(buildingFile);
  const { file, added, unchanged, faults } = importBeacons(fs.readFileSync(list), before);
  for (const { line, text, reason } of faults) console.error(`${list}:${line}: ${reason}\n    ${text}`);
  const other = path.resolve(output) !== path.resolve(buildingFile);
  const write = !dryRun && (added.length > 0 || other);
  if (write) replaceFileSync(output, `${layout(file)}\n`);
  console.log(`${added.length} added, ${unchanged.length} registered already, ${faults.length} refused; ` +
    (write ? `wrote ${output}` : dryRun ? 'nothing written (--dry-run)' : 'nothing to write'));
  return faults.length > 0 ? 1 : 0;
}

async function fromList(list, buildingFile, { name, output = buildingFile, ...values }) {
  if (values.new && values.add) throw new Refusal('--new and --add exclude each other');
  if (name && nameFault(name)) throw new Refusal(`--name: ${nameFault(name)}`);
  const { file: before } = loadBuilding(buildingFile);
  const how = values.new ? 'new' : values.add ? 'add' : '';
  const { anew, base } = baseOf(before, { how, name: name ?? '' });
  const made = inOneGo(fromListWork(fs.readFileSync(list), base));
  console.log(previewText(made, { list, anew, before: before.building }));
  if (made.levels.length === 0) throw new Refusal(`${list} has no row with a level and a location: nothing to make a building of`);
  createBuilding(made.file, 'the building of this list');
  const faults = newAwkward(made.file, [before]);
  if (faults.length > 0) throw new BuildingError('the building of this list', faults);
  if (values['dry-run']) console.log('\nNothing written (--dry-run).');
  else if (!values.yes && !await confirmed(output)) return 1;
  else {
    replaceFileSync(output, `${layout(made.file)}\n`);
    console.log(`\nWrote ${output}. A running system takes it over within seconds; its dashboard shows the next step.`
      + (made.faults.length > 0 ? '\nCorrect the refused rows and give the list again: the rest stays as it is.' : ''));
  }
  return 0;
}

/** Asks for a confirmation where there is a terminal. @param {string} output */
async function confirmed(output) {
  if (!process.stdin.isTTY) {
    console.error('\nNothing written: nobody is there to be asked. Say --yes to write it.');
    return false;
  }
  const asking = readline.createInterface({ input: process.stdin, output: process.stdout });
  const answer = await asking.question(`\nWrite it to ${output}? [y/N] `).finally(() => asking.close());
  if (/^y(es)?$/i.test(answer.trim())) return true;
  console.log('Nothing written.');
  return false;
}

main(process.argv.slice(2)).then((code) => { process.exitCode = code; }, (error) => {
  const expected = [Refusal, BuildingError, ImportError].some((kind) => error instanceof kind) || error.code !== undefined;
  console.error(expected ? error.message : error.stack);
  process.exitCode = 2;
});
