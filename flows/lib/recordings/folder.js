// @ts-check
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { replaceFile } = require('../shared/whole-file');

/**
 * Recordings on disk: a folder each, with what is known of it, its building, and the readings as they came. For their owner's
 * eyes only.
 * @typedef {import('./recording').Recording} Recording
 * @typedef {import('../building').BuildingFile} BuildingFile
 */

const [ABOUT, BUILDING, READINGS] = ['recording.json', 'building.json', 'readings.csv'];
const ID = /^[0-9a-f]{12}$/;

/** @param {string} folder of all of them */
function createFolder(folder) {
  /** @param {string} id @param {string} file */
  const at = (id, file) => path.join(folder, id, file);

  return {
    /**
     * What is there at the start. @param {(text: string) => void} warn
     * @returns {{recording: Recording, building: BuildingFile}[]}
     */
    load(warn) {
      const ids = fs.existsSync(folder) ? fs.readdirSync(folder).filter((id) => ID.test(id)) : [];
      return ids.flatMap((id) => {
        try {
          const recording = JSON.parse(fs.readFileSync(at(id, ABOUT), 'utf8'));
          const building = JSON.parse(fs.readFileSync(at(id, BUILDING), 'utf8'));
          return [{ recording: recording.stopped_ms === null ? counted(recording, at(id, READINGS)) : recording, building }];
        } catch (error) {
          warn(`${path.join(folder, id)}: this recording is not read: ${error}`);
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
    save: (recording) => replaceFile(at(recording.id, ABOUT), `${JSON.stringify(recording)}\n`, 0o600),
    /** @param {string} id @param {string} rows */
    append: (id, rows) => fs.promises.appendFile(at(id, READINGS), rows, { mode: 0o600 }),
    /** @param {string} id */
    readings: (id) => fs.promises.readFile(at(id, READINGS), 'utf8'),
    /** @param {string} id */
    remove: (id) => fs.promises.rm(path.join(folder, id), { recursive: true, force: true }),
  };
}

/**
 * A recording that was running when the flows ended: its figures are those of what is written; half of a row is cut off.
 * @param {Recording} recording @param {string} file
 * @returns {Recording}
 */
function counted(recording, file) {
  const text = fs.readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) fs.truncateSync(file, whole.length);
  const all = whole.split('\n').length - 1;
  const ofPhones = whole.split(',phone,').length - 1;
  return { ...recording, bytes: whole.length, gateway_readings: all - ofPhones, phone_readings: ofPhones };
}

module.exports = { createFolder };
