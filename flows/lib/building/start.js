// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { loadBuilding, parseBuilding, BuildingError } = require('./index');

/** As `editing/versions.js` names them. */
const VERSION = /^\d{6,}\.ndjson$/;

/**
 * The building to start with: that of the file or, where the file is refused, the one that was in use last. So after a
 * restart a fault in the file costs no more than it does while everything runs: /health says it, and nobody is in the dark.
 * @param {string} file
 * @param {string} versions folder of the versions that were in use
 * @param {(text: string) => void} warn
 * @returns {import('./index').Building}
 * @throws {BuildingError} of the file, where there is no version
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

/** @param {string} folder @returns {import('./index').Building|null} null: there is none that can be used */
function newest(folder) {
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => VERSION.test(name)) : [];
  const last = names.sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).at(-1);
  if (last === undefined) return null;
  const text = fs.readFileSync(path.join(folder, last), 'utf8');
  try {
    return parseBuilding(text.slice(text.indexOf('\n') + 1), last);
  } catch (error) {
    if (error instanceof BuildingError) return null;
    throw error;
  }
}

module.exports = { startBuilding };
