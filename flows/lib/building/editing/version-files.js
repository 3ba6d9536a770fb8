// @ts-check
'use strict';

/**
 * Files of building versions: one a version, `<number>.ndjson`; the first line describes the version, the second is the building.
 * Pure.
 */

const NAME = /^\d{6,}\.ndjson$/;

/** @param {number} version @returns {string} file name */
const versionFile = (version) => `${String(version).padStart(6, '0')}.ndjson`;

/** @param {string[]} names of a folder @returns {string[]} file names of versions, the oldest first */
const versionFiles = (names) => names.filter((name) => NAME.test(name)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));

/** @param {object} version @param {object} building @returns {string} content of a file */
const versionText = (version, building) => `${JSON.stringify(version)}\n${JSON.stringify(building)}\n`;

/** @param {string} text content of a file, or its start @returns {string} the description of the version, JSON */
const headText = (text) => text.split('\n', 1)[0] ?? '';

/** @param {string} text content of a file @returns {string} the building, JSON */
const buildingText = (text) => text.slice(text.indexOf('\n') + 1);

module.exports = { versionFile, versionFiles, versionText, headText, buildingText };
