// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { replaceFileSync } = require('../shared/whole-file');

/**
 * The two registry files of ingest: `beacons.json`, the lookup table of registered beacons, and `registry.conf`, a comment with
 * its digest. Telegraf watches the second one, so it is written last.
 * @param {import('./index').Building} building
 * @returns {{name: string, text: string}[]} in the order of writing
 */
function registryFiles(building) {
  const ids = [...building.beacons.keys(), ...building.tagOwner.keys()].sort();
  const beacons = `${JSON.stringify(Object.fromEntries(ids.map((id) => [id, { registered: '1' }])), null, 1)}\n`;
  const digest = createHash('sha256').update(beacons).digest('hex');
  return [
    { name: 'beacons.json', text: beacons },
    { name: 'registry.conf', text: `# SHA-256 of beacons.json; a change makes Telegraf read it again\n# ${digest}\n` },
  ];
}

/**
 * Writes the files that changed, each atomically.
 * @param {import('./index').Building} building
 * @param {string} folder
 * @returns {string[]} names of the files written
 */
function writeRegistry(building, folder) {
  fs.mkdirSync(folder, { recursive: true });
  return registryFiles(building).filter(({ name, text }) => {
    const target = path.join(folder, name);
    if (fs.existsSync(target) && fs.readFileSync(target, 'utf8') === text) return false;
    replaceFileSync(target, text);
    return true;
  }).map(({ name }) => name);
}

module.exports = { writeRegistry };
