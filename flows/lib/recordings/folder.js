// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { replaceFile } = require('../shared/whole-file');

/**
 * Recordings on disk: a folder each, with its metadata, its building, and the readings as they came. Only the owner of the files
 * may read them.
 * @typedef {import('./recording').Recording} Recording
 * @typedef {import('../building').BuildingFile} BuildingFile
 */

const [METADATA, BUILDING, READINGS] = ['recording.json', 'building.json', 'readings.csv'];
const ID = /^[0-9a-f]{12}$/;

/** @param {string} folder parent of all recordings */
function createFolder(folder) {
  /** @param {string} id @param {string} file */
  const at = (id, file) => path.join(folder, id, file);

  return {
    /**
     * Reads all recordings; called at the start. @param {(text: string) => void} warn
     * @returns {{recording: Recording, building: BuildingFile}[]}
     */
    load(warn) {
      const ids = fs.existsSync(folder) ? fs.readdirSync(folder).filter((id) => ID.test(id)) : [];
      return ids.flatMap((id) => {
        try {
          const recording = JSON.parse(fs.readFileSync(at(id, METADATA), 'utf8'));
          const building = JSON.parse(fs.readFileSync(at(id, BUILDING), 'utf8'));
          return [{ recording: recording.stopped_ms === null ? withCounts(recording, at(id, READINGS)) : recording, building }];
        } catch (error) {
          warn(`${path.join(folder, id)}: this recording cannot be read: ${error}`);
          return [];
        }
      });
    },
    /** @param {Recording} recording @param {BuildingFile} building */
    async create(recording, building) {
      await fs.promises.mkdir(path.join(folder, recording.id), { recursive: true, mode: 0o700 });
      await fs.promises.writeFile(at(recording.id, BUILDING), JSON.stringify(building), { mode: 0o600 });
      await fs.promises.writeFile(at(recording.id, READINGS), '', { mode: 0o600 });
      await this.save(recording);
    },
    /** @param {Recording} recording */
    save: (recording) => replaceFile(at(recording.id, METADATA), `${JSON.stringify(recording)}\n`, 0o600),
    /** @param {string} id @param {string} rows */
    append: (id, rows) => fs.promises.appendFile(at(id, READINGS), rows, { mode: 0o600 }),
    /** @param {string} id */
    readings: (id) => fs.promises.readFile(at(id, READINGS), 'utf8'),
    /** @param {string} id */
    remove: (id) => fs.promises.rm(path.join(folder, id), { recursive: true, force: true }),
  };
}

/**
 * Counts the written rows of a recording that was running when the flows ended, and cuts off half a row at the end.
 * @param {Recording} recording @param {string} file
 * @returns {Recording}
 */
function withCounts(recording, file) {
  const text = fs.readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) fs.truncateSync(file, whole.length);
  const all = whole.split('\n').length - 1;
  const ofPhones = whole.split(',phone,').length - 1;
  return { ...recording, bytes: whole.length, gateway_readings: all - ofPhones, phone_readings: ofPhones };
}

module.exports = { createFolder };
