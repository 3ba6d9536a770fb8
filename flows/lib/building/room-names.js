// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { replaceFileSync } = require('../shared/whole-file');

/**
 * Names of rooms that the building file no longer lists, persisted over restarts. History holds room ids; a record of a former
 * room is shown under its last name.
 * @typedef {Record<string, {name: string, until_ms?: number}>} Names by room id; until_ms: when the room was found missing
 * @typedef {import('./index').Building} Building
 */

/** Far more than any building loses within the retention of locations; the oldest are dropped first. */
const FORMER_MAX = 5000;

/**
 * @param {Names} known
 * @param {Building} building
 * @param {number} nowMs
 * @returns {Names}
 */
function mergeNames(known, building, nowMs) {
  const gone = Object.entries(known).filter(([id]) => !building.rooms.has(id))
    .map(([id, { name, until_ms: until = nowMs }]) => /** @type {const} */ ([id, { name, until_ms: until }]))
    .sort(([, a], [, b]) => b.until_ms - a.until_ms).slice(0, FORMER_MAX);
  return Object.fromEntries([...[...building.rooms].map(([id, { name }]) => [id, { name }]), ...gone]);
}

/**
 * @param {string} file of the names
 * @param {(text: string) => void} warn
 */
function createRoomNames(file, warn) {
  let known = read();

  /** @returns {Names} */
  function read() {
    try {
      const names = Object.entries(JSON.parse(fs.readFileSync(file, 'utf8')) ?? {});
      return Object.fromEntries(names.filter(([, value]) => typeof value?.name === 'string'));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') warn(`${file}: names of former rooms are lost: ${error}`);
      return {};
    }
  }

  /** Gives the building the names of former rooms, and saves the names of its own. @param {Building} building @param {number} nowMs */
  function update(building, nowMs) {
    const next = mergeNames(known, building, nowMs);
    for (const [id, { name }] of Object.entries(next)) if (!building.rooms.has(id)) building.formerRooms.set(id, name);
    if (JSON.stringify(next) === JSON.stringify(known)) return;
    known = next;
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      replaceFileSync(file, `${JSON.stringify(next, null, 1)}\n`);
    } catch (error) {
      warn(`${file}: names of rooms will not survive a restart: ${error}`);
    }
  }

  return { update };
}

module.exports = { createRoomNames, mergeNames };
