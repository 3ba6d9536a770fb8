// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { newAwkward } = require('./awkward');
const { loadBuilding, parseBuilding, BuildingError } = require('./index');
const { buildingText, versionFiles } = require('./editing/version-files');

/** Warnings in the log; /health has more. */
const WARNED = 20;

/**
 * Loads the building to start with: that of the file or, where the file is refused, the one that was in use last. So a fault in
 * the file costs no more at a restart than while everything runs: /health reports it, and locating goes on.
 * @param {string} file
 * @param {string} versions folder of the versions
 * @param {(text: string) => void} warn
 * @returns {import('./index').Building}
 * @throws {BuildingError} where the file is refused and no version can be used
 */
function startBuilding(file, versions, warn) {
  try {
    const building = loadBuilding(file);
    if (building.warnings.length === 0) return building;
    const before = newest(versions, warn);
    const faults = before ? newAwkward(building.file, [before.file]) : []; // of an earlier version it is taken as it was
    if (faults.length > 0) throw new BuildingError(file, faults);
    warn(`${file} goes on, but a new edit may not bring:\n${building.warnings.slice(0, WARNED).map((text) => `  ${text}`).join('\n')}`);
    return building;
  } catch (error) {
    const last = newest(versions, warn);
    if (!last) throw error;
    warn(`${error instanceof Error ? error.message : error}\nThe building that was in use last goes on; correct the file, it is read again by itself`);
    return last;
  }
}

/**
 * @param {string} folder @param {(text: string) => void} warn
 * @returns {import('./index').Building|null} null: none can be used
 */
function newest(folder, warn) {
  try {
    const last = versionFiles(fs.existsSync(folder) ? fs.readdirSync(folder) : []).at(-1);
    return last === undefined ? null : parseBuilding(buildingText(fs.readFileSync(path.join(folder, last), 'utf8')), last);
  } catch (error) {
    warn(`the building that was in use last cannot be used: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

module.exports = { startBuilding };
