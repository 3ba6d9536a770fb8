// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { loadBuilding, parseBuilding, BuildingError } = require('./index');
const { buildingText, versionFiles } = require('./editing/version-files');

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
    return loadBuilding(file);
  } catch (error) {
    const last = error instanceof BuildingError ? newest(versions) : null;
    if (!last) throw error;
    warn(`${/** @type {Error} */ (error).message}\nThe building that was in use last goes on; correct the file, it is read again by itself`);
    return last;
  }
}

/** @param {string} folder @returns {import('./index').Building|null} null: none can be used */
function newest(folder) {
  const last = versionFiles(fs.existsSync(folder) ? fs.readdirSync(folder) : []).at(-1);
  if (last === undefined) return null;
  try {
    return parseBuilding(buildingText(fs.readFileSync(path.join(folder, last), 'utf8')), last);
  } catch (error) {
    if (error instanceof BuildingError) return null;
    throw error;
  }
}

module.exports = { startBuilding };
