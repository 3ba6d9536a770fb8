// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { replaceFileSync } = require('../shared/whole-file');

/** A part of Telegraf's configuration, which it watches: a change makes it read everything again. */
const FILE = 'registry.conf';
const PROCESSOR = `# Written from the building file: the registered beacons, which ingest/readings.star checks readings against.
[[processors.starlark]]
  alias = "readings"
  namepass = ["batch"]
  script = "\${SDA_INGEST_DIR}/readings.star"
  [processors.starlark.constants]
`;

/** @param {import('./index').Building} building */
function registryText(building) {
  const ids = [...building.beacons.keys(), ...building.tagOwner.keys()].sort();
  return `${PROCESSOR}    registered = [\n${ids.map((id) => `      ${JSON.stringify(id)},\n`).join('')}    ]\n`;
}

/**
 * Writes the registry of ingest if it changed, atomically.
 * @param {import('./index').Building} building
 * @param {string} folder
 * @returns {string[]} names of the files written
 */
function writeRegistry(building, folder) {
  fs.mkdirSync(folder, { recursive: true });
  const target = path.join(folder, FILE);
  const text = registryText(building);
  if (fs.existsSync(target) && fs.readFileSync(target, 'utf8') === text) return [];
  replaceFileSync(target, text);
  return [FILE];
}

module.exports = { writeRegistry };
